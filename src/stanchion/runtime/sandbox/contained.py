"""A contained run: a command with our terminal, behind walls that stand as long as it lives."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import termios
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.runtime.sandbox.inside import Inside
from stanchion.runtime.sandbox.keepers import GRACE_S, keeper_script, memory_file
from stanchion.runtime.sandbox.keeping.namespaces import WRITE
from stanchion.runtime.sandbox.sandbox import SandboxError, Wall, WallKind

NEEDED: Final = (
    Wall.FILES, Wall.UNSEEN, Wall.NETWORK, Wall.IPC, Wall.PROCESSES, Wall.LEFTOVERS,
    Wall.PRIVILEGES, Wall.TMP, Wall.CALLS,
)  # fmt: skip
"""The walls of a contained run, and what `--require` asks for."""
FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
TYPED: Final = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal sends to the command itself."""
MESSAGE: Final = 65_536


class StandingWalls(msgspec.Struct, frozen=True):
    """What stands round a contained run, and why stronger kinds do not."""

    kind: WallKind
    walls: tuple[Wall, ...]
    reasons: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Wall, ...]:
        """What it can do that the walls would keep it from."""
        return tuple(wall for wall in NEEDED if wall not in self.walls)


class Contained:
    """A command behind walls: `build` them, take the sockets of its network from the `line`, `go`,
    and `wait`. It begins to get ready at once. Close it, or use it as a context manager: then
    everything inside has ended."""

    def __init__(self, user: int | None = None) -> None:
        self._user = user
        self._folder: str | None = None
        self._meanwhile = contextlib.ExitStack()
        self._start()

    def _start(self) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._stander = keeper_script(theirs, self._user, "contain")

    def build(
        self,
        inside: Inside,
        folder: Path,
        ports: Iterable[tuple[int, bool]],
        hello: str,
        kinds: Iterable[WallKind] = tuple(WallKind),
    ) -> StandingWalls:
        """Have the strongest walls built that stand here; raises `SandboxError` where none does.
        The sockets come over the line next, with `hello`: one for each of the `ports`, streams or
        datagrams."""
        reasons: list[str] = []
        self._meanwhile.callback(inside.names.let_go)
        for kind in kinds:
            if kind is WallKind.LANDLOCK:
                inside.names.let_go()  # it could not keep anything out of them
            else:
                inside.names.hold()
            if reasons:
                self._end()
                self._start()
            ground = {
                "kind": kind,
                "base": "/tmp",
                "folder": str(folder),
                "places": inside.places(),
                "hello": hello,
                "ports": list(ports),
                "bwrap": shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin") or "",
            }
            if kind is WallKind.LANDLOCK:
                if inside.ours:
                    reasons.append(f"{kind}: it cannot keep a command from `{inside.ours[0]}`")
                    continue
                ground["places"] = [*inside.places(), (WRITE, self._home(inside), "")]
            self._send(ground)
            told = self._heard()
            if "walls" in told:
                return StandingWalls(kind, tuple(map(Wall, told["walls"])), tuple(reasons))
            reasons.append(f"{kind}: {told['why']}")
        raise SandboxError(f"nothing ran: {'; '.join(reasons)}")

    def _home(self, inside: Inside) -> str:
        """A folder for a home and for what is temporary, where a command has no root of its own."""
        if inside.home is not None:
            return inside.home
        self._folder = tempfile.mkdtemp(prefix="stanchion-home-")
        if self._user is not None:
            os.chown(self._folder, self._user, self._user)
        return self._folder

    def go(self, argv: Iterable[str], env: Mapping[str, str]) -> None:
        """Start the command; raises `SandboxError` where there is no such program inside. From now
        on it has the terminal, and what is sent to this process is passed on."""
        given = dict(env)
        if self._folder is not None:
            given |= {"HOME": self._folder, "TMPDIR": self._folder}
        self._send({"argv": list(argv), "env": given})
        typed = self._meanwhile.enter_context(_terminal())
        self._meanwhile.enter_context(_passed_on(self.line, typed))
        told = self._heard()
        if "error" in told:
            raise SandboxError(f"it cannot be started: {told['why']}")

    def wait(self) -> int:
        """The exit status of the command, 128 and the signal's number if one ended it. The terminal
        is ours again then."""
        with self._meanwhile:
            return self._stander.wait()

    def _send(self, what: dict[str, Any]) -> None:
        file = memory_file(json.dumps(what).encode())
        with contextlib.suppress(OSError):
            socket.send_fds(self.line, [b"told"], [file])
        os.close(file)

    def _heard(self) -> dict[str, Any]:
        said = b""
        with contextlib.suppress(ConnectionError):
            said = self.line.recv(MESSAGE)
        told: dict[str, Any] = json.loads(said) if said else {"why": "it was killed at once"}
        return told if said else {"error": "wall", **told}

    def _end(self) -> None:
        self.line.close()
        with contextlib.suppress(ProcessLookupError):
            self._stander.kill()
        self._stander.wait(GRACE_S)

    def close(self) -> None:
        """End whatever runs."""
        self._end()
        self._meanwhile.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Contained:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _terminal() -> Iterator[bool]:
    """The terminal of this process, if it has one, is afterwards as it was before: with us in the
    foreground, and its settings if the command has not given it back."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        yield False
        return
    before, settings = os.tcgetpgrp(terminal), termios.tcgetattr(terminal)
    try:
        yield True
    finally:
        if before == os.getpgrp() and os.tcgetpgrp(terminal) != before:
            was = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(terminal, before)
            termios.tcsetattr(terminal, termios.TCSANOW, settings)
            signal.signal(signal.SIGTTOU, was)
        os.close(terminal)


@contextlib.contextmanager
def _passed_on(line: socket.socket, typed: bool) -> Iterator[None]:
    """Signals to this process go to the command; those that the terminal has sent to it already are
    left to it."""

    def passed(number: int, _: object) -> None:
        with contextlib.suppress(OSError):
            line.send(b"%d" % number)

    handlers = dict.fromkeys(FORWARDED, passed) | dict.fromkeys(
        TYPED, signal.SIG_IGN if typed else passed
    )
    before = {one: signal.signal(one, handler) for one, handler in handlers.items()}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
