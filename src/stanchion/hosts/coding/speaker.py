"""Who speaks when a hook is heard: the host's own process, as the kernel knows it, or nobody.

What a request says of itself counts for nothing here. A command that an agent starts has the same
user, the same environment and every file that its host has; what it does not have is the host's
process. So a connection over loopback is whose process has it open. A hook that is a command hands
over its standard input, which the host has made: a socket tells who made it, and only the host can
have written what is read there. A pipe tells nothing, so a child of the host is known by the moment
at which it began, and whoever judges holds that against the commands that the agent had then.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from stanchion.hosts.coding.agent import CodingAgent

PROC: Final = Path("/proc")
CREDENTIALS: Final = struct.Struct("iII")
SO_PEERPIDFD: Final = 77
"""Asks for the process itself that made a socket, where the number of one may be another's now."""
BETWEEN: Final = 3
"""How far above a client its host stands at most: shells may stand between."""
INITS: Final = frozenset(
    {"catatonit", "docker-init", "dumb-init", "init", "s6-svscan", "systemd", "tini"}
)
"""Programs that take in orphans."""
LONGEST_STAT: Final = 4_096
MOST_HOSTS: Final = 256
"""How many hosts are remembered."""
TICKS_S: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
UNNAMED: Final = "an agent started this host, or it cannot be told that none did"


class Process(Struct, frozen=True):
    """One process: a pid counts only together with the time it was started."""

    pid: int
    started: int


NO_PROCESS: Final = Process(0, 0)
"""The process of a host that is not known."""
SOME_HOST: Final = NO_PROCESS
"""A host that stands above another and cannot be named any more."""


class Speaker(Struct, frozen=True):
    """Who has sent an event, worked out for each request and never said by it."""

    host: Process | None
    """The host's own process, proven; `None`: not known."""
    above: tuple[Process, ...] = ()
    """Host processes that stand above it, nearest first; `SOME_HOST` for one without a name."""
    why: str = ""
    """In words, for the trail: how it is known, or why it is not."""
    forged: bool = False
    """Known not to be a host's process: nothing it says is judged."""
    begun_s: float | None = None
    """`None` where the words are the host's own. Otherwise the moment since boot at which the child
    of the host began that speaks for it: a hook, or a command of the agent's that plays one."""

    @property
    def process(self) -> Process:
        """The host's own process, or `NO_PROCESS`."""
        return NO_PROCESS if self.host is None else self.host


class Speakers:
    """Works out who speaks. Safe between threads."""

    def __init__(self, agents: Collection[CodingAgent]) -> None:
        self._programs = frozenset(name for agent in agents for name in agent.programs)
        self._marks = tuple(f"{name}=" for agent in agents for name in agent.marks)
        self._hosts: dict[Process, tuple[Process, ...]] = {}

    def at(
        self, agent: CodingAgent, sock: socket.socket, pid: int, stdin: socket.socket | None
    ) -> Speaker:
        """Who is at the other end of a connection: over loopback whoever has it open; otherwise the
        host whose hook the client with this pid is, which handed over its standard input where that
        is a socket."""
        if not PROC.joinpath("self").exists():
            return Speaker(None, why="this system does not say whose words these are")
        if sock.family == socket.AF_INET:
            return self._at_port(agent, sock)
        row = ancestors(pid)
        if agent.stdin == "socket":
            maker = None if stdin is None else _maker(stdin, row)
            if maker is None:
                return _forged("its standard input is not a socket that a host has made")
            return self._proven(agent, maker, "the socket it made")
        for below, host in pairwise(row[: BETWEEN + 1]):
            if self._is_host(agent.programs, host.pid):
                known = self._proven(agent, host, "its child")
                # Whoever loses its parent becomes a child of the first process.
                above = known.above if host.pid != 1 else (SOME_HOST,)
                return replace(known, above=above, begun_s=below.started / TICKS_S)
        return _forged("it is no child of a host")

    def _at_port(self, agent: CodingAgent, sock: socket.socket) -> Speaker:
        uid, link = other_end(sock) or (-1, "")
        if uid != os.geteuid():
            return _forged("the connection is no process's of this user")
        for known in list(self._hosts):
            if _holds_alone(known.pid, link) and is_alive(known):
                return self._proven(agent, known, "its connection")
        pids = holders(link)
        found = process_of(pids[0]) if len(pids) == 1 else None
        if found is None:
            return _forged(f"{len(pids)} processes have the connection open, and not one alone")
        return self._proven(agent, found, "its connection")

    def still(self, speaker: Speaker) -> bool:
        """Whether who was known before is still there."""
        return speaker.host is not None and is_alive(speaker.host)

    def alive(self) -> int:
        """How many hosts that have spoken still live."""
        return sum(is_alive(each) for each in list(self._hosts))

    def is_below_host(self, pid: int) -> bool:
        """Whether a host has started a process, directly or not, or it cannot be told."""
        found = process_of(pid)
        return found is None or bool(self._above(found))

    def is_own(self, sock: socket.socket) -> bool:
        """Whether a connection over loopback is this user's, or it cannot be told."""
        found = other_end(sock)
        is_own = found is not None and found[0] == os.geteuid()
        return is_own or not PROC.joinpath("self").exists()

    def _proven(self, agent: CodingAgent, host: Process, by: str) -> Speaker:
        if not self._is_host(agent.programs, host.pid):
            return _forged(f"process {host.pid} is not {agent.name}")
        above = self._hosts.get(host)
        if above is None:
            above = self._above(host)
            for each in list(self._hosts):
                if len(self._hosts) >= MOST_HOSTS or not is_alive(each):
                    self._hosts.pop(each, None)
            self._hosts[host] = above
        if not is_alive(host):
            return _forged("its host has ended")
        why = f"process {host.pid} is known by {by}"
        return Speaker(host, above, f"{why}; {UNNAMED}" if SOME_HOST in above else why)

    def _above(self, host: Process) -> tuple[Process, ...]:
        """The hosts above one. One whose starter has left may be an agent's: then the mark tells
        that its host gives to all that it starts; or that it stands below a process that takes
        orphans in, by way of one that began after another host and in the same place."""
        row = ancestors(host.pid)
        found = tuple(each for each in row[1:] if self._is_host(self._programs, each.pid))
        if found:
            return found
        given = _text(PROC / str(host.pid) / "environ").split("\0")
        if any(entry.startswith(self._marks) for entry in given):
            return (SOME_HOST,)
        taken_in = [
            link for link in pairwise(row) if link[1].pid == 1 or _takes_orphans(link[1].pid)
        ]
        others = [
            process_of(pid)
            for pid in (_own_processes() if taken_in else ())
            if pid not in (host.pid, 1) and self._is_host(self._programs, pid)
        ]
        for below, above in taken_in:
            place = _text(PROC / str(below.pid) / "cgroup")
            for other in filter(None, others):
                is_later = other.started < below.started
                is_near = place == _text(PROC / str(other.pid) / "cgroup")
                if is_later and is_near and above in ancestors(other.pid):
                    return (SOME_HOST,)
        return ()

    def _is_host(self, programs: Collection[str], pid: int) -> bool:
        """Whether a process runs a host's program. Anybody may call a program so: this keeps
        others from being taken for a host by mistake, and proves nothing."""
        if _text(PROC / str(pid) / "comm").strip() in programs:
            return True
        try:
            program = Path(os.readlink(PROC / str(pid) / "exe"))
        except OSError:
            return False
        versioned = program.parent.name == "versions" and program.parent.parent.name in programs
        return program.name in programs or versioned


def stat_of(pid: int | str) -> list[bytes]:
    """What the system tells of a process, from its state on; nothing where there is none, or it
    cannot be looked at."""
    try:
        file = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(file, LONGEST_STAT).rpartition(b")")[2].split()
    except OSError:  # it has ended meanwhile
        return []
    finally:
        os.close(file)


def process_of(pid: int) -> Process | None:
    """The process with a number; `None` where there is none, or it cannot be looked at."""
    said = stat_of(pid)
    return Process(pid, int(said[19])) if len(said) > 19 else None


def ancestors(pid: int) -> tuple[Process, ...]:
    """A process and all above it. One that cannot be looked at ends the row."""
    row = []
    while pid > 0:
        said = stat_of(pid)
        row.append(Process(pid, int(said[19]) if said else 0))
        pid = int(said[1]) if said else 0
    return tuple(row)


def is_alive(process: Process) -> bool:
    """Whether a process still lives, and is not another one with its number."""
    return process_of(process.pid) == process


def children_began(host: Process) -> list[float]:
    """The moments since boot at which the children of a process began that have not been waited
    for."""
    said = [stat_of(name) for name in os.listdir(PROC) if name.isdecimal()]
    return [int(one[19]) / TICKS_S for one in said if one and int(one[1]) == host.pid]


def _forged(why: str) -> Speaker:
    return Speaker(None, why=why, forged=True)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _takes_orphans(pid: int) -> bool:
    """Whether a process is given the children of those below it that have ended. The system does
    not say; the daemon is such a child itself, where a hook has started it."""
    is_orphan = os.getsid(0) == os.getpid()
    return (is_orphan and pid == os.getppid()) or _text(PROC / str(pid) / "comm").strip() in INITS


def _own_processes() -> Iterator[int]:
    me = os.geteuid()
    for name in os.listdir(PROC):
        with suppress(OSError):
            if name.isdecimal() and os.stat(PROC / name).st_uid == me:
                yield int(name)


def _descriptors(pid: int, link: str) -> list[str]:
    """Which descriptors a process has of something."""
    folder = f"{PROC}/{pid}/fd"
    found = []
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(f"{folder}/{name}") == link:
                    found.append(name)
    return found


def _holds_alone(pid: int, link: str) -> bool:
    """Whether a host has something open that nothing it starts is given."""
    found = [_text(PROC / str(pid) / "fdinfo" / name) for name in _descriptors(pid, link)]
    flags = [int("0" + text.partition("flags:\t")[2].partition("\n")[0], 8) for text in found]
    return bool(flags) and all(each & os.O_CLOEXEC for each in flags)


def connections() -> list[list[str]]:
    """What the system tells of each connection and listener over IPv4; nothing where it does
    not."""
    return [line.split() for line in _text(PROC / "net" / "tcp").splitlines()[1:]]


def other_end(sock: socket.socket) -> tuple[int, str] | None:
    """The user who has the other end of a connection over loopback, and how the descriptors of it
    are called; `None` where the system does not say."""
    ends = [
        f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
        for host, port in (sock.getpeername(), sock.getsockname())
    ]
    rows = (row for row in connections() if row[1:3] == ends)
    return next(((int(row[7]), f"socket:[{row[9]}]") for row in rows), None)


def holders(link: str) -> list[int]:
    """The processes of this user that have a connection open."""
    return [pid for pid in _own_processes() if _descriptors(pid, link)]


def _maker(sock: socket.socket, row: tuple[Process, ...]) -> Process | None:
    """The process that made a pair of sockets of which this is one. Whoever connects to a host has
    a socket with the host's name on it, too: that one has an address, and its other end speaks."""
    try:
        if sock.family != socket.AF_UNIX or sock.type != socket.SOCK_STREAM or sock.getsockname():
            return None
        with suppress(OSError):
            if sock.getpeername():
                return None
        pid, uid, _ = CREDENTIALS.unpack(
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        )
        is_own = uid == os.geteuid() and _is_itself(sock, pid, row)
        return process_of(pid) if is_own else None
    except OSError:
        return None


def _is_itself(sock: socket.socket, pid: int, row: tuple[Process, ...]) -> bool:
    """Whether the maker of a socket is the process that has its number now. An older kernel does
    not say: there the client has to stand below it."""
    try:
        maker = sock.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError:
        return any(each.pid == pid for each in row[1 : BETWEEN + 1])
    try:
        return f"\nPid:\t{pid}\n" in _text(PROC / "self" / "fdinfo" / str(maker))
    finally:
        os.close(maker)
