"""One daemon for each user: it starts on demand, makes room, is replaced, and ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stanchion.hosts.coding import carrier, client
from stanchion.locks.files import is_held
from stanchion.ops.daemon import launch
from stanchion.ops.daemon.server import DaemonStatus
from tests.hosts.coding.stand_ins import PYTHON, StandIn, body, need_no_host_above
from tests.ports import Port


class Home:
    """A state folder with a daemon of its own, as hooks start it."""

    def __init__(self) -> None:
        need_no_host_above()
        self.root = Path(tempfile.mkdtemp(prefix="sd"))
        self.state, self.project = self.root / "state", self.root / "project"
        self.state.mkdir(mode=0o700)
        self.project.mkdir()
        self.port = Port()
        self._hosts: list[StandIn] = []
        self.write_port(self.port.number)

    def write_port(self, port: int) -> None:
        """Set what hooks and daemon are to use."""
        said = {"port": port, "python": sys.executable}
        (self.state / carrier.CONFIG).write_text(json.dumps(said), "utf-8")

    def host(self, name: str = "claude") -> StandIn:
        """A host that ends with the home."""
        made = StandIn(self.root, name)
        self._hosts.append(made)
        return made

    def hook(self, host: StandIn, command: str = "ls", **more: Any) -> dict[str, Any]:
        """A hook of a host, for a command that it is about to run."""
        said: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "t",
        }
        said |= {"cwd": str(self.project), "session_id": f"s-{host.pid}", **more}
        words = [PYTHON, "-I", "-S", client.__file__, host.name, f"state={self.state}"]
        return host.does("hook", [*words, "deadline=40"], body(**said))

    def status(self) -> DaemonStatus | None:
        """What the daemon says of itself."""
        return launch.ask(self.state, "status")

    def close(self) -> None:
        """End everything."""
        for host in self._hosts:
            host.end()
        found = None
        try:
            found = self.status()
            launch.stop_daemon(self.state)
        except launch.NoDaemon:
            if found is not None:
                os.kill(found.pid, signal.SIGKILL)
        self.port.release()
        shutil.rmtree(self.root)


@pytest.fixture
def home() -> Iterator[Home]:
    """A home, and its end."""
    made = Home()
    yield made
    made.close()


def is_allowed(done: dict[str, Any]) -> bool:
    """Whether a hook lets the host go on."""
    return done["status"] == 0 and "deny" not in done["stdout"]


def wait_for(what: Callable[[], Any]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + 30
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_the_first_hook_starts_it_and_the_next_find_it(home: Home) -> None:
    host = home.host()
    assert home.status() is None
    first = home.hook(host)
    assert is_allowed(first), (first, (home.state / "agents" / carrier.LOG).read_text("utf-8"))
    refused = home.hook(host, "git push --force origin main; rm -rf / --no-preserve-root")
    assert not is_allowed(refused)
    found = home.status()
    assert found is not None
    assert (found.hosts, found.answered, found.trouble) == (1, 2, "")
    assert os.getsid(found.pid) == found.pid
    assert (home.state / "agents").stat().st_mode & 0o777 == 0o700
    assert home.hook(home.host("codex"))["status"] == 0


def test_at_rest_it_holds_nothing_of_hosts_that_have_ended(home: Home) -> None:
    host = home.host()
    assert is_allowed(home.hook(host))
    found = home.status()
    assert found is not None
    maps = Path(f"/proc/{found.pid}/maps")

    def held() -> bool:
        return "state.db-shm" in maps.read_text("utf-8")

    assert held()
    assert launch.ask(home.state, "rest") is not None
    assert held()
    assert is_allowed(home.hook(host))
    host.end()
    wait_for(lambda: launch.ask(home.state, "rest") is not None and not held())
    assert is_allowed(home.hook(home.host()))


def test_it_does_not_stay_in_the_folder_that_it_was_started_in(home: Home) -> None:
    gone = home.root / "gone"
    gone.mkdir()
    words = f"{PYTHON} -I -S {client.__file__} claude state={home.state} deadline=40"
    said = body("SessionStart", cwd=str(home.project), source="startup")
    home.host().does("hook", f"cd {gone} && rmdir {gone} && exec {words}", said)
    found = home.status()
    assert found is not None
    assert os.readlink(f"/proc/{found.pid}/cwd") == "/"


def test_twenty_that_start_at_once_become_one(home: Home) -> None:
    hosts = [home.host(("claude", "codex")[n % 2]) for n in range(20)]
    found: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda each=host: found.append(home.hook(each))) for host in hosts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [is_allowed(each) for each in found] == [True] * 20, found
    log = (home.state / "agents" / carrier.LOG).read_text("utf-8")
    assert log.count(" listens at ") == 1


def test_twenty_connections_at_once_are_each_judged_for_themselves(home: Home) -> None:
    """Twelve of one session, two of them of a sub-agent, and eight of sessions of their own."""
    hosts = [home.host() for _ in range(9)]
    home.hook(hosts[0])
    dangers = {3, 7, 11, 14}

    def said(number: int, host: StandIn) -> str:
        command = "rm -rf / --no-preserve-root" if number in dangers else f"echo {number}"
        more = {"agent_id": "a1"} if number in (2, 3) else {}
        return body(
            cwd=str(home.project), session_id=f"s-{host.pid}", tool_name="Bash",
            tool_input={"command": command}, tool_use_id=f"t{number}", **more,
        )  # fmt: skip

    numbers = [list(range(12)), *[[number] for number in range(12, 20)]]
    with ThreadPoolExecutor(len(hosts)) as pool:
        given = pool.map(
            lambda host, own: host.does(
                "together", home.port.number, [said(number, host) for number in own]
            )["answers"],
            hosts,
            numbers,
        )
        answers = [answer for each in given for answer in each]
    assert [answer["status"] for answer in answers] == [200] * 20
    refused = {number for number, answer in enumerate(answers) if '"deny"' in answer["text"]}
    assert refused == dangers
    found = home.status()
    assert found is not None
    assert (found.hosts, found.answered) == (9, 21)
    launch.stop_daemon(home.state)
    trail = "".join(path.read_text("utf-8", "replace") for path in home.state.rglob("*.jsonl"))
    assert trail.count('"what":"host.session"') == 9
    assert "host.forged" not in trail


def test_one_that_was_killed_is_replaced_and_its_sessions_go_on(home: Home) -> None:
    host = home.host()
    home.hook(host)
    first = home.status()
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: not is_held(home.state / "agents" / launch.LOCK))
    assert is_allowed(home.hook(host))
    second = home.status()
    assert second is not None
    assert second.pid != first.pid


def another_version(home: Home, host: StandIn, version: int, deadline: int) -> dict[str, Any]:
    """A hook of another version."""
    own = f"PROTOCOL = {carrier.PROTOCOL}"
    theirs = Path(carrier.__file__).read_text("utf-8").replace(own, f"PROTOCOL = {version}")
    shutil.copy(client.__file__, home.root)
    (home.root / "carrier.py").write_text(theirs, "utf-8")
    shutil.rmtree(home.root / "__pycache__", ignore_errors=True)  # it may be of the same second
    words = [PYTHON, "-I", "-S", str(home.root / "client.py"), host.name, f"state={home.state}"]
    return host.does("hook", [*words, f"deadline={deadline}"], body())


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_one_of_another_version_makes_room_for_a_newer_hook(home: Home, name: str) -> None:
    host = home.host(name)
    home.hook(host, event="SessionStart", source="startup")
    first = home.status()
    assert first is not None
    done = another_version(home, host, 2, deadline=5)
    # The daemon that comes next is of the same version here, and makes room again.
    assert done["status"] == 2
    assert "Stanchion refuses" in done["stderr"]
    status = home.status()
    assert status is None or status.pid != first.pid
    done = another_version(home, host, 0, deadline=20)
    assert done["status"] == 2
    assert "speaks version 1, and the hook `0`" in done["stderr"]
    assert is_allowed(home.hook(host))


def test_it_makes_no_room_for_what_may_be_a_command(home: Home) -> None:
    """A command of Codex stands where its hooks stand, and would have the port to itself."""
    home.hook(home.host())
    first, host = home.status(), home.host("codex")
    assert first is not None
    assert is_allowed(home.hook(host, "sleep 9"))
    done = another_version(home, host, 2, deadline=5)
    assert "speaks version 1, and the hook `2`" in done["stderr"]
    found = home.status()
    assert found is not None
    assert found.pid == first.pid


def test_a_port_that_is_taken_is_said_and_nothing_goes_ahead(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        home.write_port(other.getsockname()[1])
        done = home.hook(home.host())
        assert not is_allowed(done)
        assert "is taken" in done["stdout"]
        found = home.status()
        assert found is not None
        assert "is taken" in found.trouble
        launch.stop_daemon(home.state)
    assert is_allowed(home.hook(home.host()))


def test_it_ends_when_nothing_is_to_be_expected(home: Home) -> None:
    code = "import sys; from pathlib import Path; from stanchion.ops.daemon import launch, server\n"
    code += "server.HookServer.serve.__kwdefaults__['idle_s'] = 2.0\n"
    code += "launch.run_daemon(Path(sys.argv[1]))"
    made = subprocess.Popen([sys.executable, "-c", code, str(home.state)])
    wait_for(home.status)
    host = home.host()
    home.hook(host)
    time.sleep(3)
    assert made.poll() is None  # its host lives
    host.end()
    assert made.wait(20) == 0
    assert not (home.state / "agents" / carrier.SOCKET).exists()


def test_another_one_ends_at_once_where_one_runs(home: Home) -> None:
    home.hook(home.host())
    assert launch.run_daemon(home.state) is False


def test_its_folder_is_nobody_elses(home: Home) -> None:
    folder = launch.own_place(home.state)
    folder.chmod(0o755)
    with pytest.raises(launch.NoDaemon, match="within the reach of others"):
        launch.own_place(home.state)
    folder.chmod(0o700)


def test_a_command_of_an_agent_gains_nothing_and_is_in_the_trail(home: Home) -> None:
    host = home.host()
    home.hook(host)
    session = f"s-{host.pid}"
    said = body("UserPromptSubmit", prompt="push it", cwd=str(home.project), session_id=session)
    words = f"{PYTHON} -I -S {client.__file__} claude state={home.state}"
    done = host.does("command", f"cd {home.project}; echo '{said}' | {words}")
    assert done["status"] == 2
    launch.stop_daemon(home.state)
    trail = "".join(path.read_text("utf-8", "replace") for path in home.state.rglob("*.jsonl"))
    assert "host.forged" in trail
    assert "push it" not in trail
