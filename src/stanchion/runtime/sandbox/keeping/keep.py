"""What the keeper does: takes requests, and has a process standing by for the next.

keeper        waits for requests; when its owner is gone, everything ends
  └ standby builds its walls, waits for a command, starts it and waits for it; when it ends, all of
  them end
      └ the command
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from stanchion.runtime.sandbox.keeping import alone, bubblewrap, namespaces
from stanchion.runtime.sandbox.keeping.calls import (
    PR_SET_DUMPABLE,
    leave_keys,
    prctl,
)
from stanchion.runtime.sandbox.keeping.ground import (
    NO_WALL,
    CommandEnded,
    Ground,
    awaited,
    ground_of,
    tell,
)
from stanchion.runtime.sandbox.keeping.namespaces import forked_apart, mold
from stanchion.runtime.sandbox.keeping.seccomp import among_walls, filter_alone


class StandbyKind(NamedTuple):
    """A kind of walls: what a process does that stands by, and the signal that ends it with all of
    its command."""

    stand: Callable[[Ground, bool, socket.socket], None]
    ends_by: signal.Signals


KINDS = {
    "namespaces": StandbyKind(namespaces.stand, signal.SIGKILL),
    "bubblewrap": StandbyKind(bubblewrap.stand, signal.SIGKILL),
    "landlock": StandbyKind(alone.stand, signal.SIGTERM),
}


def stand_by(ground: Ground, write: bool, line: socket.socket) -> None:
    """Build walls, run one command, tell its end; never comes back. Walls that cannot be built are
    told to whoever asks."""
    try:
        KINDS[ground.kind].stand(ground, write, line)
    except CommandEnded:
        pass
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as the keeper
        # A kind closes the line as soon as it knows its command: then it is too late to say that
        # nothing ran.
        with contextlib.suppress(OSError, CommandEnded):
            tell(awaited(line).status, error=NO_WALL, why=str(error))
    os._exit(0)


IDLE_S = 0.005
"""After so much silence a process is made that stands by: what is asked for comes first."""


class StandbyProcess(NamedTuple):
    """A process that stands by: the line to it, and whether its command may write."""

    pid: int
    line: socket.socket
    write: bool


def start(line: int, user: str) -> None:
    """Be the keeper of whoever holds the other end of a line; what the sandbox is stands in
    standard input."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    owner = os.pidfd_open(os.getppid())
    why = _another(int(user)) if user else ""
    leave_keys()
    ground = ground_of(0)
    above, name = os.path.split(ground.base)
    outside = os.open(above, os.O_PATH | os.O_CLOEXEC)
    gc.disable()
    gc.freeze()  # what a fork does not touch need not be copied
    with contextlib.suppress(OSError):
        RequestKeeper(ground, socket.socket(fileno=line), [owner, outside], why).keep()
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=outside)


def become(user: int) -> None:
    """Be somebody who may do less; for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    prctl(PR_SET_DUMPABLE, 1)  # what the kernel says of this process is its own again


def _another(user: int) -> str:
    """Be another user; says why that cannot be, and then nothing may run."""
    try:
        become(user)
    except OSError as error:
        return f"commands cannot run as user {user} here: {error.strerror}"
    return ""


class RequestKeeper:
    """Takes requests until the owner is gone: `read ID` or `write ID` with what is asked and three
    pipes, and `end ID`."""

    def __init__(self, ground: Ground, line: socket.socket, held: list[int], why: str) -> None:
        self._ground, self._line, self._held, self._owner = ground, line, held, held[0]
        self._why = why or ground.closed(False) or _molded(ground)
        self._running: dict[str, int] = {}
        self._next: StandbyProcess | None = None
        self._write = False
        self._reaped, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def keep(self) -> None:
        """Work until the owner is gone, and end everything then."""
        # A fork of the owner may hold the line open when the owner itself is gone: it is watched,
        # too.
        waiting: list[Any] = [self._line, self._reaped, self._owner]
        while True:
            ready, _, _ = select.select(
                waiting, [], [], IDLE_S if self._next is None and not self._why else None
            )
            if self._reaped in ready:
                os.read(self._reaped, 4096)
                self._reap()
            if self._owner in ready or (self._line in ready and not self._asked()):
                break
            if not ready or (self._reaped in ready and self._line not in ready):
                self._prepare()
        standing = [] if self._next is None else [self._next.pid]
        for pid in [*self._running.values(), *standing]:
            self._kill(pid)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)

    def _asked(self) -> bool:
        said, fds, _, _ = socket.recv_fds(self._line, 256, 4, socket.MSG_CMSG_CLOEXEC)
        if not said:
            return False
        verb, name = said.decode().split()
        if verb == "end":
            self._kill(self._running.get(name, 0))
            return True
        self._write = verb == "write"
        try:
            self._running[name] = self._handed(fds)
        except OSError as error:
            tell(fds[-1], error=NO_WALL, why=str(error))
        for one in fds:
            os.close(one)
        return True

    def _handed(self, fds: list[int]) -> int:
        """Hand a command to the process that stands by, or to a new one if that has ended or is not
        for this one."""
        if why := self._why or self._ground.closed(self._write):
            raise OSError(why)
        for _ in range(2):
            if self._next is not None and self._next.write != self._write:
                self._kill(self._next.pid)
                self._forget()
            one = self._stand()
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                socket.send_fds(one.line, [b"run"], fds)
                self._forget()
                return one.pid
            self._forget()
        raise OSError("what builds the walls was killed")

    def _prepare(self) -> None:
        """Have a process stand by for another command like the last one."""
        with contextlib.suppress(OSError):  # whoever asks is told
            if not self._why:
                self._stand()

    def _stand(self) -> StandbyProcess:
        """The process that stands by: it is made, where there is none."""
        if self._next is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            pid = forked_apart() if self._ground.kind == "namespaces" else os.fork()
            if not pid:
                for one in (ours, self._line):
                    one.close()
                for held in self._held:
                    os.close(held)
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                stand_by(self._ground, self._write, theirs)
            theirs.close()
            self._next = StandbyProcess(pid, ours, self._write)
        return self._next

    def _forget(self) -> None:
        if self._next is not None:
            self._next.line.close()
            self._next = None

    def _kill(self, pid: int) -> None:
        """End a command with everything that it has started."""
        if pid > 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, KINDS[self._ground.kind].ends_by)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                ended, _ = os.waitpid(-1, os.WNOHANG)
                if not ended:
                    return
                for name in [name for name, pid in self._running.items() if pid == ended]:
                    del self._running[name]
                if self._next is not None and self._next.pid == ended:
                    self._forget()


def _molded(ground: Ground) -> str:
    """Build what the walls of all commands have in common; says why that cannot be."""
    try:
        # Whoever is forked from this process has the filters then, and need not build them.
        if ground.kind == "landlock":
            filter_alone(False), filter_alone(True)
        else:
            among_walls()
        if ground.kind == "namespaces":
            mold(ground)
    except OSError as error:
        return str(error)
    return ""
