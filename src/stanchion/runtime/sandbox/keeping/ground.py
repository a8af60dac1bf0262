"""What the keeper is told: once about the sandbox, and then about each command."""

from __future__ import annotations

import json
import os
import socket
from typing import NamedTuple

NO_WALL, NO_PROGRAM = "wall", "program"


class Ground(NamedTuple):
    """What all commands of a sandbox have in common; `tmp_bytes`, `cores`, `children` and `limits`
    bound them."""

    kind: str
    base: str
    root: str
    shown: list[str]
    env: dict[str, str]
    required: list[str]
    tmp_bytes: int
    cores: int
    children: int
    limits: dict[str, int]
    bwrap: str
    user: int = 0
    group: int = 0

    def closed(self, write: bool) -> str:
        """Why the user who commands run as cannot use the folder; empty if they can."""
        if not self.user:
            return "commands do not run as root"
        for wanted, what in ((os.R_OK | os.X_OK, "read"), (os.W_OK if write else 0, "write")):
            if not os.access(self.root, wanted):
                return (
                    f"user {self.user}, who commands run as, cannot {what} `{self.root}`: "
                    f"change who may"
                )
        return ""

    def need(self, walls: list[str]) -> None:
        """Refuse to go on where a wall is needed that does not stand."""
        missing = sorted(set(self.required) - set(walls))
        if missing:
            raise OSError(f"it has no wall `{missing[0]}` here")


class CommandEnded(BaseException):
    """The command is not wanted any more, or the keeper is gone."""


class WalledCommand(NamedTuple):
    """One command: its words, where it prints, and where its end is told."""

    argv: list[bytes]
    out: int
    err: int
    status: int


def ground_of(file: int) -> Ground:
    """The ground that a file tells of, for whoever this process is."""
    return Ground(**json.loads(_whole(file)))._replace(user=os.getuid(), group=os.getgid())


def awaited(line: socket.socket) -> WalledCommand:
    """The command that comes over a line; raises `CommandEnded` where nobody is at its other end
    any more."""
    said, fds, _, _ = socket.recv_fds(line, 16, 4, socket.MSG_CMSG_CLOEXEC)
    if not said:
        raise CommandEnded
    line.close()
    asked, out, err, status = fds
    argv = _whole(asked).split(b"\0")
    os.close(asked)
    return WalledCommand(argv, out, err, status)


def _whole(file: int) -> bytes:
    size = os.fstat(file).st_size
    return os.pread(file, size, 0)


def tell(pipe: int, **what: object) -> None:
    """Say something on a pipe, as one line."""
    os.write(pipe, json.dumps(what).encode() + b"\n")


def tell_end(command: WalledCommand, **what: object) -> None:
    """Tell how a command ended. That the pipe is closed tells the owner that this was all."""
    tell(command.status, **what)
    os.close(command.status)


def heard(pipe: int) -> dict[str, object]:
    """What a process says before it becomes the command: the last of it, where it fails to."""
    said = b""
    while came := os.read(pipe, 4096):
        said += came
    os.close(pipe)
    if not said:
        return {"error": NO_WALL, "why": "it was killed at once"}
    told: dict[str, object] = json.loads(said.splitlines()[-1])
    return told
