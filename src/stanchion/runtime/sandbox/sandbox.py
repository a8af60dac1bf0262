"""A sandbox: runs commands behind walls that stand, and refuses where one that is needed does not."""

from __future__ import annotations

import array
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.locks import Lock
from stanchion.runtime.sandbox.limits import Limits

KEEPER: Final = Path(__file__).with_name("keeper.py")
SHOWN: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/alternatives",
)  # fmt: skip
"""What a command can read beside its own folder: programs and their libraries."""
ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/tmp", "TMPDIR": "/tmp"}
ALWAYS: Final = frozenset({"files", "processes", "network", "ipc", "user", "privileges", "limits"})
"""Walls that namespaces and the kernel's limits are: one that cannot be built means that nothing runs."""
WALLS: Final = ALWAYS | {"landlock", "children"}
REQUIRED: Final = ALWAYS
CHUNK: Final = 65_536
GRACE_S: Final = 5.0
"""How long it is waited for that what was killed is gone."""


class SandboxError(RuntimeError):
    """Walls that are needed cannot be built here, and what to do about it."""


class Confined(msgspec.Struct, frozen=True):
    """What came of a command. `ended` is false where it was stopped, and then `why` says by what; `walls` are those
    that stood."""

    ended: bool
    rc: int = -1
    stdout: bytes = b""
    stderr: bytes = b""
    why: str = ""
    walls: tuple[str, ...] = ()


class Sandbox:
    """Runs commands in a folder: with nothing else to read but programs, nothing to write but what is granted, no
    network, no other processes, and within limits. Close it, or use it as a context manager.

    Whoever is root names a `user` (a number) that commands run as; without one, how many processes a command starts is
    not bounded. `required` are the walls without which nothing runs.
    """

    def __init__(
        self,
        root: str | Path,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        shown: Iterable[str] = (),
        user: int | None = None,
        required: Iterable[str] = REQUIRED,
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir() or self.root == Path("/"):
            raise SandboxError(f"`{root}` is no folder that commands can be confined to")
        self.limits = Limits() if limits is None else limits
        self._env = {**ENVIRONMENT, **({} if env is None else env)}
        self._shown = [*SHOWN, *shown]
        self._user = "" if user is None else str(user)
        self._required = frozenset(required)
        unknown = self._required - WALLS
        if unknown:
            raise ValueError(f"`{min(unknown)}` is no wall: there are {', '.join(sorted(WALLS))}")
        if self._user and os.getuid() != 0:
            raise SandboxError("only root can have commands run as somebody else: leave `user` away")
        self._lock, self._ids = Lock(), count(1)
        self._keeper: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._base = ""

    def run(self, argv: Iterable[str], write: bool = False) -> Confined:
        """Run the words of a command; raises `SandboxError` where a wall cannot be built, and then nothing ran."""
        words = list(argv)
        if not words or not words[0] or any("\0" in word for word in words):
            raise ValueError("give the words of a command, none of them with a zero byte")
        return self._collected(words, write)

    def _asked(self, words: list[str], write: bool) -> dict[str, Any]:
        most = self.limits
        return {
            "argv": words,
            "env": self._env,
            "root": str(self.root),
            "base": self._base,
            "shown": self._shown,
            "writes": write,
            "required": sorted(self._required),
            "tmp_bytes": most.tmp_mb << 20,
            "cores": most.cores,
            "limits": {
                "RLIMIT_CPU": most.timeout_s * most.cores,
                "RLIMIT_AS": most.memory_mb << 20,
                "RLIMIT_NPROC": most.children + 2,
                "RLIMIT_FSIZE": most.file_mb << 20,
                "RLIMIT_NOFILE": 256,
                "RLIMIT_CORE": 0,
            },
        }

    def _begun(self) -> socket.socket:
        """The line to the keeper, which is started where there is none. The caller holds the lock."""
        if self._line is not None and self._keeper is not None and self._keeper.poll() is None:
            return self._line
        self._drop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._base = tempfile.mkdtemp(prefix="stanchion-sandbox-")
        os.chmod(self._base, 0o755)
        command = [sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), self._user]
        self._keeper = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env={}, stdin=subprocess.DEVNULL, cwd="/", close_fds=True
        )
        theirs.close()
        self._line = ours
        return ours

    def _collected(self, words: list[str], write: bool) -> Confined:
        pipes = [os.pipe() for _ in range(3)]
        name = str(next(self._ids))
        asked = os.memfd_create("stanchion-sandbox")
        try:
            with self._lock:
                line = self._begun()
                os.write(asked, json.dumps(self._asked(words, write)).encode())
                os.lseek(asked, 0, os.SEEK_SET)
                fds = array.array("i", [asked, *(pipe[1] for pipe in pipes)])
                line.sendmsg([f"run {name}".encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        finally:
            for one in (asked, *(pipe[1] for pipe in pipes)):
                os.close(one)
        most = (self.limits.stdout_bytes, self.limits.stderr_bytes, CHUNK)
        reading = _Reading([pipe[0] for pipe in pipes], most, time.monotonic() + self.limits.timeout_s)
        try:
            why = reading.read()
            if why:
                with self._lock, suppress(OSError):
                    line.send(f"end {name}".encode())
                reading.drain(time.monotonic() + GRACE_S)
        finally:
            reading.close()
        return _told(reading, why, self.limits)

    def _drop(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._keeper is not None:
            with suppress(subprocess.TimeoutExpired):
                self._keeper.wait(GRACE_S)
            if self._keeper.poll() is None:
                self._keeper.kill()
                self._keeper.wait()
        if self._base:
            with suppress(OSError):
                os.rmdir(self._base)
        self._line, self._keeper, self._base = None, None, ""

    def close(self) -> None:
        """End whatever runs, and the keeper."""
        with self._lock:
            self._drop()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Reading:
    """Reads what a command prints, each pipe up to a bound, until a deadline."""

    def __init__(self, pipes: list[int], most: tuple[int, ...], deadline: float) -> None:
        self._pipes, self._most, self._deadline = pipes, most, deadline
        self.got = [bytearray() for _ in pipes]
        self._selector = selectors.DefaultSelector()
        for place, pipe in enumerate(pipes):
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ, place)

    def read(self) -> str:
        """Read to the end; says why it was not waited for."""
        while self._selector.get_map():
            left = self._deadline - time.monotonic()
            if left <= 0:
                return "time"
            for key, _ in self._selector.select(left):
                place: int = key.data
                came = os.read(key.fd, CHUNK)
                if not came:
                    self._selector.unregister(key.fd)
                    continue
                room = self._most[place] - len(self.got[place])
                self.got[place] += came[:room]
                if len(came) > room:
                    return "output"
        return ""

    def drain(self, until: float) -> None:
        """Wait until nobody holds the pipes any more, whatever comes out of them."""
        while self._selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if not os.read(key.fd, CHUNK):
                    self._selector.unregister(key.fd)

    def close(self) -> None:
        """Let go of the pipes."""
        self._selector.close()
        for pipe in self._pipes:
            os.close(pipe)


def _told(reading: _Reading, why: str, limits: Limits) -> Confined:
    stdout, stderr, status = (bytes(one) for one in reading.got)
    if why == "time":
        return Confined(False, stdout=stdout, stderr=stderr, why=f"it took longer than {limits.timeout_s} s")
    if why == "output":
        return Confined(False, stdout=stdout, stderr=stderr, why="it printed more than it may")
    try:
        told = json.loads(status)
    except ValueError:
        return Confined(False, stdout=stdout, stderr=stderr, why="it was killed, or the keeper was")
    if told.get("error") == "wall":
        raise SandboxError(f"a wall cannot be built here: {told['why']}; nothing ran")
    if told.get("error") == "program":
        return Confined(False, why=f"it cannot be started: {told['why']}")
    standing = ALWAYS | {wall for wall in ("landlock", "children") if told[wall]}
    return Confined(True, told["rc"], stdout, stderr, walls=tuple(sorted(standing)))
