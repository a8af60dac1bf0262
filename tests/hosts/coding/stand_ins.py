"""Stand-ins for hosts, and a server in this process that says who it was that spoke."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion.hosts.coding import AGENTS, CodingAgent, HostAnswer, carrier, client
from stanchion.hosts.coding.speaker import Process, Speaker, Speakers
from stanchion.ops.daemon.server import HookServer
from stanchion.runtime.standing.presence import process_at

HERE = Path(__file__).parent
CLIENT = Path(client.__file__)
PYTHON = os.path.realpath(sys.executable)
YES = HostAnswer('{"continue": true}')


def process(pid: int) -> Process:
    """A process as a speaker names it."""
    found = process_at(pid)
    assert found is not None
    return Process(pid, int(found.started))


def body(event: str = "PreToolUse", **more: Any) -> str:
    """What a hook says."""
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": "/", **more})


def need_no_host_above() -> None:
    """Skip a test that a coding agent runs: every stand-in would be a child of that one."""
    if Speakers(AGENTS.values()).is_below_host(os.getpid()):
        pytest.skip("a coding agent runs this: run it outside of one")


class StandIn:
    """A process that acts as a host."""

    def __init__(
        self, folder: Path, name: str, waits_s: float = 30, above: tuple[str, ...] = ()
    ) -> None:
        program = folder / name
        if not program.exists():
            program.symlink_to(PYTHON)
        self.name = name
        self.words = [str(program), "-I", "-S", str(HERE / "stand_in_host.py"), name]
        self.words.append(f"{waits_s}")
        self._process = subprocess.Popen(
            [*above, *self.words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def does(self, what: str, *how: Any) -> dict[str, Any]:
        """Have it do something."""
        sent, got = self._process.stdin, self._process.stdout
        assert sent is not None
        assert got is not None
        sent.write(json.dumps([what, *how]) + "\n")
        sent.flush()
        answer: dict[str, Any] = json.loads(got.readline())
        return answer

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class Place:
    """A state folder with a server in it, which is told to answer so."""

    def __init__(self, answer: Callable[[CodingAgent, bytes, Speaker], HostAnswer]) -> None:
        need_no_host_above()
        self.state = Path(tempfile.mkdtemp(prefix="st"))
        (self.state / "agents").mkdir(mode=0o700)
        self.heard: list[tuple[str, Speaker]] = []
        self.speakers = Speakers(AGENTS.values())
        self._answer = answer
        self._hosts: list[StandIn] = []
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = tcp.getsockname()[1]
        local = socket.socket(socket.AF_UNIX)
        self.socket = self.state / "agents" / carrier.SOCKET
        local.bind(str(self.socket))
        local.listen(128)
        self.server = HookServer(AGENTS, self.speakers, self._hear, self.port)
        self._thread = threading.Thread(target=self._serve, args=(local, tcp))
        self._thread.start()

    def _serve(self, *listeners: socket.socket) -> None:
        self.server.serve(*listeners)
        self.socket.unlink(missing_ok=True)
        self.server.finish(*listeners)

    def _hear(self, agent: CodingAgent, said: bytes, speaker: Speaker) -> HostAnswer:
        self.heard.append((said.decode(), speaker))
        return self._answer(agent, said, speaker)

    @property
    def speaker(self) -> Speaker:
        """Who spoke last."""
        return self.heard[-1][1]

    def host(self, name: str, *above: str) -> StandIn:
        """A host that ends with the place; `above` is a program that starts it."""
        made = StandIn(self.state, name, above=above)
        self._hosts.append(made)
        return made

    def client(self, agent: str, seconds: float = 20) -> list[str]:
        """The words that run a hook's client."""
        python = [PYTHON, "-I", "-S", str(CLIENT), agent]
        return [*python, f"state={self.state}", f"deadline={seconds}"]

    def close(self) -> None:
        """End everything."""
        for host in self._hosts:
            host.end()
        self.server.stop()
        self._thread.join()
        shutil.rmtree(self.state)


@contextmanager
def place(
    answer: Callable[[CodingAgent, bytes, Speaker], HostAnswer] = lambda *_: YES,
) -> Iterator[Place]:
    """A place, and its end."""
    made = Place(answer)
    try:
        yield made
    finally:
        made.close()


def answer_of(done: dict[str, Any]) -> Any:
    """What a hook has said on standard output."""
    return msgspec.json.decode(done["stdout"])
