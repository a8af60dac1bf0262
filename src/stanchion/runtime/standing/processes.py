"""What the system tells of a process: who started it, when, and at which terminal and session it
sits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from stanchion.kernel.tuples import NamedTuple

PROC: Final = Path("/proc")
PS: Final = "/bin/ps"

FIRST_SPACE: Final = "pid:[4026531836]"
"""How Linux names the space of process ids that is not inside of another."""

DEEPEST: Final = 10_000
"""How many ancestors are looked at; no real process has so many."""


class Process(msgspec.Struct, frozen=True):
    """One process of a host. What the system does not tell is empty or 0.

    A number of a process, session or terminal means something in its own `space` alone: a container
    has another. `started` is the time since the host's start, so that a number that is used again
    is another process.
    """

    pid: int
    started: str = ""
    tty: int = 0
    session: int = 0
    space: str = ""


class Asker(NamedTuple):
    """A process, and those from which it descends; the nearest first."""

    process: Process
    ancestors: tuple[Process, ...]


class _Known(NamedTuple):
    process: Process
    parent: int


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    known = _stat(pid)
    return Process(pid, session=os.getsid(0)) if known is None else known.process


def asker() -> Asker:
    """The process that asks, with its ancestors, as far as they can be told."""
    return Asker(this_process(), ancestors(os.getppid()))


def ancestors(parent: int) -> tuple[Process, ...]:
    """A process and all above it. One that cannot be looked at is known by its number, and ends the
    row."""
    if not (PROC / "self").exists():
        return _by_table(parent, _table())
    found: list[Process] = []
    while parent > 0 and len(found) < DEEPEST:
        known = _stat(parent)
        found.append(Process(parent, space=_space()) if known is None else known.process)
        parent = 0 if known is None else known.parent
    return tuple(found)


def process_at(pid: int) -> Process | None:
    """The process with a number, in this space; `None` where there is none, or it cannot be looked
    at."""
    known = _stat(pid)
    return None if known is None else known.process


def _stat(pid: int) -> _Known | None:
    try:
        line = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return read_stat(line, _space())


def read_stat(line: str, space: str) -> _Known | None:
    """Read what Linux tells of a process in one line. Its second field is a name that may hold
    anything."""
    words = line.rpartition(")")[2].split()
    try:
        pid, parent, session, tty = (
            int(line.split(" ", 1)[0]),
            int(words[1]),
            int(words[3]),
            int(words[4]),
        )
        return _Known(Process(pid, str(int(words[19])), tty, session, space), parent)
    except (ValueError, IndexError):
        return None


def _space() -> str:
    try:
        return os.readlink(PROC / "self" / "ns" / "pid")
    except OSError:
        return ""


def _by_table(parent: int, parents: Mapping[int, int]) -> tuple[Process, ...]:
    found: list[Process] = []
    while parent > 0 and len(found) < DEEPEST:
        found.append(Process(parent))
        parent = parents.get(parent, 0)
    return tuple(found)


def _table() -> dict[int, int]:
    """The parent of every process, where there is no `/proc`; empty where that cannot be told."""
    import subprocess

    try:
        done = subprocess.run(
            [PS, "-axo", "pid=,ppid="], capture_output=True, text=True, timeout=10, check=True
        )
        return {
            int(pid): int(parent)
            for pid, parent in (line.split() for line in done.stdout.splitlines())
        }
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
