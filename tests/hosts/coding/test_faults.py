"""Nothing is allowed by a daemon that is killed, stopped or of another version in the middle.

The daemon of these tests says no to everything, so whatever lets a host go on is a fault of ours:
half an answer, a silence, an answer of nobody's.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion.hosts.coding import carrier
from tests.hosts.coding.stand_ins import CLIENT, PYTHON, StandIn, body
from tests.hosts.coding.test_client import stopped
from tests.ports import Port

CASES, EACH = 50, 20
"""A thousand faults, each at a hook's process and at the endpoint at once."""
FAULTS = ("kill", "stop", "stop and go", "end", "version", "none")
WAITS_S = 1.0


class Faulty:
    """A place with hosts, and daemons that are made to fail."""

    def __init__(self) -> None:
        self.state = Path(tempfile.mkdtemp(prefix="sf"))
        folder = self.state / "agents"
        folder.mkdir(mode=0o700)
        # Who finds no daemon cannot start one: what is asked is answered by the one that fails.
        (self.state / carrier.CONFIG).write_text('{"python": "/bin/false"}', "utf-8")
        self.port = Port()
        self.hosts = {name: StandIn(self.state, name) for name in ("claude", "codex")}
        self.over_http = StandIn(self.state, "claude", WAITS_S)
        words = [sys.executable, "-m", "tests.hosts.coding.faulty_daemon"]
        self._forks = subprocess.Popen(
            [*words, str(folder / carrier.SOCKET), f"{self.port.number}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def daemon(self, version: int, judges_s: float) -> int:
        """The process of another daemon."""
        sent, got = self._forks.stdin, self._forks.stdout
        assert sent is not None
        assert got is not None
        sent.write(f"{version} {judges_s}\n")
        sent.flush()
        return int(got.readline())

    def close(self) -> None:
        """End everything."""
        for host in (*self.hosts.values(), self.over_http):
            host.end()
        self._forks.kill()
        self._forks.communicate()
        self.port.release()
        shutil.rmtree(self.state)


def does(fault: str, pid: int, draw: random.Random) -> None:
    """Make a daemon fail, at a drawn moment."""
    numbers = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "end": signal.SIGTERM}
    time.sleep(draw.uniform(0, 0.08))
    with suppress(ProcessLookupError):
        if fault in numbers:
            os.kill(pid, numbers[fault])
        elif fault == "stop and go":
            os.kill(pid, signal.SIGSTOP)
            time.sleep(draw.uniform(0, 0.1))
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("case", range(CASES))
def test_a_daemon_that_fails_in_the_middle_allows_nothing(case: int) -> None:
    draw, seen = random.Random(case), Counter[str]()
    place = Faulty()
    try:
        for number in range(EACH):
            fault = FAULTS[number % len(FAULTS)]
            name = draw.choice(("claude", "codex"))
            event = draw.choice(("PreToolUse", "UserPromptSubmit", "PermissionRequest"))
            version = draw.choice((0, 2, 9)) if fault == "version" else carrier.PROTOCOL
            pid = place.daemon(version, draw.uniform(0, 0.04))
            found: dict[str, Any] = {}
            words = [PYTHON, "-I", "-S", str(CLIENT), name, f"state={place.state}"]
            host, said = place.hosts[name], body(event)

            def hook(
                host: StandIn = host, words: list[str] = words, said: str = said,
                found: dict[str, Any] = found,
            ) -> None:  # fmt: skip
                found["hook"] = host.does("hook", [*words, f"deadline={WAITS_S}"], said)

            def over_http(said: str = said, found: dict[str, Any] = found) -> None:
                found["http"] = place.over_http.does("http", place.port.number, said)

            threads = [threading.Thread(target=each) for each in (hook, over_http)]
            for thread in threads:
                thread.start()
            does(fault, pid, draw)
            for thread in threads:
                thread.join()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            done, http = found["hook"], found["http"]
            is_told = "the daemon says no" in done["stdout"] + done["stderr"]
            assert is_told or stopped(name, event, done), (fault, done)
            if http["status"] == 200:
                answer = json.loads(http["text"])
                assert "the daemon says no" in http["text"], (fault, http)
                assert "hookSpecificOutput" in answer or answer["decision"] == "block"
            seen[f"hook told {is_told}"] += 1
            seen[f"http {http['status'] == 200}"] += 1
    finally:
        place.close()
    assert len(seen) == 4, seen
