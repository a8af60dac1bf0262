"""Who speaks when a hook is heard: the host's own process, as the kernel knows it, or nobody."""

from __future__ import annotations

from msgspec import Struct


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
