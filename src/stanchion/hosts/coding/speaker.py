"""Who speaks when a hook is heard: the host's own process, as the kernel knows it, or nobody."""

from __future__ import annotations

from msgspec import Struct

from stanchion.runtime.standing.presence import process_at


class Process(Struct, frozen=True):
    """One process: a pid counts only together with the time it was started."""

    pid: int
    started: int


class Speaker(Struct, frozen=True):
    """Who has sent an event, worked out for each request and never said by it."""

    host: Process | None
    """The host's own process, proven; `None`: not known."""
    above: tuple[Process, ...] = ()
    """Host processes that stand above it, nearest first."""
    why: str = ""
    """In words, for the trail: how it is known, or why it is not."""
    forged: bool = False
    """Known not to be a host's process: nothing it says is judged."""
    begun_s: float | None = None
    """When the process began that hands the words over, by the clock that counts from the start of
    the system; `None` where the kernel says that the host itself has written them."""


def is_alive(process: Process) -> bool:
    """Whether a process is still there, and no other has its number."""
    found = process_at(process.pid)
    return found is not None and str(found.started) == str(process.started)
