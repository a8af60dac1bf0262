"""Starting a keeper, talking to it, and ending it."""

from __future__ import annotations

import array
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

KEEPER: Final = Path(__file__).with_name("keeper.py")
GRACE_S: Final = 5.0
"""How long it is waited for that what was killed is gone."""

Seen = tuple[object, ...]
"""What a keeper was started for: another one is needed if it has changed."""


class KeeperProcess:
    """A keeper that was started, with the commands that it still has to end. Whoever calls holds
    the sandbox's lock."""

    def __init__(
        self, seen: Seen, user: int | None, ground: Callable[[str], dict[str, Any]]
    ) -> None:
        self.seen, self.running, self._owner = seen, 0, os.getpid()
        self._base = tempfile.mkdtemp(prefix="stanchion-sandbox-")
        if user is not None:
            os.chown(self._base, user, user)
        told = memory_file(json.dumps(ground(self._base)).encode())
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = keeper_script(theirs, user, stdin=told)
        os.close(told)

    @property
    def alive(self) -> bool:
        """Whether it can still be asked; it serves the process that has started it, and no fork of
        that."""
        return os.getpid() == self._owner and self.process.poll() is None

    def ask(self, verb: str, name: str, files: list[int]) -> bool:
        """Have it run a command; false if it has died."""
        fds = array.array("i", files)
        try:
            self._line.sendmsg(
                [f"{verb} {name}".encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)]
            )
        except OSError:
            return False
        self.running += 1
        return True

    def end(self, name: str) -> None:
        """Have it end a command."""
        with suppress(OSError):
            self._line.send(f"end {name}".encode())

    def drop(self) -> None:
        """End it, with everything that it has started."""
        self._line.close()
        if os.getpid() != self._owner:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_S)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self._base, ignore_errors=True)


def keeper_script(
    line: socket.socket, user: int | None, *roles: str, stdin: int | None = None
) -> subprocess.Popen[bytes]:
    """Start the keeper's script with one end of a line, which is its own then. It has nothing of
    our environment, and is found outside of any folder that is ours."""
    words = [sys.executable, "-I", "-S", str(KEEPER), str(line.fileno())]
    words += ["" if user is None else str(user), *roles]
    process = subprocess.Popen(words, pass_fds=[line.fileno()], env={}, stdin=stdin, cwd="/")
    line.close()
    return process


def memory_file(what: bytes) -> int:
    """A file in memory, for what is too long for a line or is nobody's business."""
    file = os.memfd_create("stanchion-sandbox")
    os.write(file, what)
    return file


def which(paths: list[str]) -> Seen:
    """Which files and folders stand at some paths."""
    found: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            stat = os.stat(path)
            found.append((stat.st_dev, stat.st_ino))
        except OSError:
            found.append(None)
    return tuple(found)
