"""Hooks of one host, installed in one way, in places of their own."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from stanchion.hosts.coding.rehearsal import Rehearsed, rehearse, surroundings_in
from stanchion.hosts.coding.settings import (
    LEVELS,
    AgentsConfig,
    HostPlaces,
    is_ours,
    write_config,
)
from tools.agents.cells import COLUMNS, SECRET, Break, BrokenEnds


class Column(NamedTuple):
    """One way in which hooks are installed, in places of its own."""

    agent: str
    way: str
    program: str
    at: HostPlaces
    path: Path
    """The settings in which the hooks stand."""
    ends: BrokenEnds
    daemon: Callable[[], int | None]
    """Gives the process of the daemon."""
    is_hook: Callable[[Any], bool] = is_ours

    def ran(self, command: str, *more: str, trusting: bool = True) -> tuple[Rehearsed, bool, float]:
        """What came of a command, whether it ran, and how long it took."""
        for name in ("danger.txt", "honest.txt"):
            (self.at.project / name).unlink(missing_ok=True)
        (self.at.project / "notes.txt").write_text(f"the key is {SECRET}\n")
        begun = time.monotonic()
        came = rehearse(self.agent, self.program, self.at, command, more=more, trusting=trusting)
        took = time.monotonic() - begun
        return came, any(self.at.project.glob("*er.txt")) or _honest(self.at), took

    @contextmanager
    def broken(self, way: Break, events: tuple[str, ...] = ("PreToolUse",)) -> Iterator[None]:
        """The settings, with the hooks of some events broken."""
        raw, is_toml = self.path.read_text(), self.path.suffix == ".toml"
        whole = tomllib.loads(raw) if is_toml else json.loads(raw)
        for event in events:
            for group in whole["hooks"].get(event, []):
                group["hooks"] = [
                    way(hook, self.ends) if self.is_hook(hook) else hook for hook in group["hooks"]
                ]
        self.path.write_text(_as_toml(whole) if is_toml else json.dumps(whole))
        try:
            yield
        finally:
            self.path.write_text(raw)


def daemon_in(text: str) -> int | None:
    """The process that a status names."""
    with suppress(ValueError, KeyError, TypeError):
        return int(json.loads(text)["pid"])
    return None


def _honest(at: HostPlaces) -> bool:
    return (at.project / "honest.txt").exists()


def _as_toml(whole: Mapping[str, Any]) -> str:
    """Requirements of Codex, written out."""
    lines = _pairs(whole)
    for name, table in whole.items():
        lines += [f"[{name}]", *_pairs(table)] if isinstance(table, dict) else []
    for event, groups in whole["hooks"].items():
        for group in groups if isinstance(groups, list) else ():
            lines += [f"[[hooks.{event}]]", *_pairs(group)]
            for hook in group["hooks"]:
                lines += [f"[[hooks.{event}.hooks]]", *_pairs(hook)]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} = {json.dumps(value)}"
        for key, value in table.items()
        if not isinstance(value, list | dict)
    ]


def run(at: HostPlaces, *words: str) -> subprocess.CompletedProcess[str]:
    """A command, as a person would type it in the project."""
    return subprocess.run(
        words,
        env={**at.environ, "PYTHONPATH": ""},
        cwd=at.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def broken_ends(folder: Path) -> Iterator[BrokenEnds]:
    """Ends that are not ours."""

    class Babbling(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if self.path != "/empty":
                self.wfile.write(b'{"hookSpecificOutput":')

    babbling = ThreadingHTTPServer(("127.0.0.1", 0), Babbling)
    threading.Thread(target=babbling.serve_forever, daemon=True).start()
    with socket.socket() as silent, socket.socket() as nobody:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        nobody.bind(("127.0.0.1", 0))
        folder.mkdir()
        yield BrokenEnds(
            babbling.server_address[1], silent.getsockname()[1], nobody.getsockname()[1], folder
        )
    babbling.shutdown()


@contextmanager
def installed(agent: str, way: str, programs: str, top: Path) -> Iterator[Column]:
    """Hooks, installed as a person would."""
    environ = {"PATH": f"{programs}:/usr/bin:/bin"}
    at = surroundings_in(top / "places", agent, environ)
    state = top / "state"
    words = COLUMNS[agent, way]
    managed = "--managed" in words
    level = LEVELS[agent]["managed" if managed else "user"]
    if managed:
        state = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / "stanchion"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        write_config(state, AgentsConfig(port=port, python=sys.executable))
    own = {**at.environ, "STANCHION_STATE_DIR": str(state)}
    at = HostPlaces(at.project, at.home, own)
    stanchion = (sys.executable, "-m", "stanchion")
    with broken_ends(top / "ends") as ends:
        column = Column(
            *(agent, way, program_in(programs, agent), at, level.path(at), ends),
            lambda: daemon_in(run(at, *stanchion, "hook", "status", "--json").stdout),
        )
        made = run(at, *stanchion, "install", agent, *words, "--yes", "--anyway")
        assert made.returncode == 0, made.stderr
        try:
            yield column
        finally:
            run(at, *stanchion, "hook", "stop")
            gone = run(at, *stanchion, "uninstall", agent, words[0], "--yes")
            assert gone.returncode == 0, gone.stderr


def program_in(programs: str, agent: str) -> str:
    """A host's program."""
    program = shutil.which(agent, path=programs)
    assert program is not None, f"`{agent}` is not in `{programs}`"
    return program
