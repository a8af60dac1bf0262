"""Opening a trail by name: all shields of a process that name the same folder write one chain."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from stanchion.audit.keys import load_key
from stanchion.audit.options import TrailOptions
from stanchion.audit.retention import Keep
from stanchion.audit.trail import Trail, wall_ms
from stanchion.locks import Lock

T = TypeVar("T", bound=Trail)

_trails: dict[Hashable, Trail] = {}
_lock = Lock()


def shared(name: Hashable, make: Callable[[], T]) -> T:
    """The trail that is open under a name in this process, used once more; made where there is
    none."""
    with _lock:
        known: Any = _trails.get(name)
        if known is None or not known.shared():
            known = _trails[name] = make()
        trail: T = known
        return trail


def open_trail(
    folder: Path,
    key_file: Path | None = None,
    keep: Keep = Keep(),  # noqa: B008 - a frozen value
    clock: Callable[[], int] = wall_ms,
) -> Trail:
    """The trail in a folder; made where there is none. Whoever opens it closes it, and the last one
    ends its chain."""
    return shared(
        (folder.absolute(), key_file, keep),
        lambda: Trail(folder, options_of(key_file, keep), clock),
    )


def options_of(key_file: Path | None, keep: Keep) -> TrailOptions:
    """How a trail is kept, with the key from its file."""
    return TrailOptions(key=None if key_file is None else load_key(key_file), keep=keep)


# The backlog of a trail: how much this process has written, and what of it is not on the disk yet.


class Backlog(NamedTuple):
    """How many records this process has written to a trail, and how many bytes of them wait for the
    disk."""

    written: int
    waiting_bytes: int


def backlog_of(trail: Trail) -> Backlog:
    """How a trail stands. The numbers are read one after the other, so they may be a record
    apart."""
    return Backlog(trail._written - trail._marks.first, max(0, trail._bytes - trail._synced_bytes))
