"""Retention: whole segments leave, oldest first; what remains can still be verified."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Final, Protocol

import msgspec

from stanchion.audit import notes
from stanchion.audit.chain import Heads, OpenChain
from stanchion.audit.chain_end import UnfitChain, last_line
from stanchion.audit.chain_lock import is_written
from stanchion.audit.keys import TrailKey
from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.segment_scan import (
    backwards,
    erased_in,
    forwards,
    of_kind,
    parse_line,
    stub_of,
)
from stanchion.kernel.tuples import NamedTuple

DAY_MS: Final = 86_400_000
PARTS: Final = 10
"""Into how many segments, at least, the time goes for which records are kept: as only whole
segments leave, records stay at most that part of it longer."""

OF_ITSELF: Final = frozenset(
    {notes.SEGMENT, notes.OPEN, notes.CHECKPOINT, notes.RETIRED, notes.ERASED}
)
"""The kinds of records in which a chain tells of itself alone."""


class Keep(msgspec.Struct, frozen=True):
    """What stays: nothing older than `days`, and at most `size` bytes of closed segments. Without
    either, all."""

    days: float | None = None
    size: int | None = None

    def __bool__(self) -> bool:
        return self.days is not None or self.size is not None

    def covers(self, began: int, now: int) -> bool:
        """Whether a segment that began then holds as much time already as one should."""
        return self.days is not None and began < now - self.days * DAY_MS / PARTS


class Copier(Protocol):
    """Copies a trail elsewhere. What it does not have yet is not removed here."""

    def moved(self, chain: str) -> None:
        """The head of a chain that this process writes has moved: what stands before it can be
        copied."""

    def has(self, chain: str, seq: int) -> bool:
        """Whether all records of a chain up to that number are copied."""

    def finish(self) -> None:
        """This process writes no more: copy the rest, and let go."""


class Old(NamedTuple):
    """A segment: where it is, when its last record was written that is not about the chain itself,
    how long it is, and what binds its ends. `is_last` is one of a chain that nobody writes: it has
    to be ended before it can leave."""

    chain: str
    number: int
    at: int
    size: int
    first: int
    last: int
    prev: str
    hash: str
    is_last: bool = False


def retire(
    trail: Path,
    own: OpenChain,
    keep: Keep,
    now: int,
    lock: AbstractContextManager[object],
    copier: Copier | None = None,
) -> int:
    """Remove what need not be kept, from this process's chain and from those nobody writes; gives
    how many segments.

    A segment that holds a bypass stays for good, and one that `copier` does not have yet stays for
    now. That others leave is written down before they do; `lock` is what guards this process's
    chain.
    """
    gone = leaving(trail, keep, now, copier)
    own_gone = [old for old in gone if old.chain == own.id]
    others = [old for old in gone if old.chain != own.id]
    return _remove(own, own_gone, keep, lock) + prune(trail, others, keep, own.key, own.clock)


def prune(
    trail: Path, gone: list[Old], keep: Keep, key: TrailKey | None, clock: Callable[[], int]
) -> int:
    """Remove segments of chains that nobody writes; gives how many. Those of a chain that somebody
    has taken meanwhile, or that is not as its writer left it, stay."""
    done = 0
    for name in sorted({old.chain for old in gone}):
        with suppress(UnfitChain, OSError):
            chain = OpenChain.resume(trail, name, key, clock)
            if chain is None:
                continue
            try:
                chain.enter(os.getpid())
                own = [old for old in gone if old.chain == name]
                if any(old.is_last for old in own):
                    chain.rotate({})
                    # That it ends is written in it.
                    again = [_read(chain.folder, old.number) if old.is_last else old for old in own]
                    own = [old for old in again if old is not None]
                done += _remove(chain, own, keep, nullcontext())
            finally:
                chain.close({})
    return done


def is_due(trail: Path, keep: Keep, now: int) -> bool:
    """Whether something may have to leave, as far as sizes and times of files tell: that costs next
    to nothing."""
    total, oldest = 0, now
    for name in chains(trail):
        with suppress(OSError):
            for number in segments(trail / name):
                seen = segment_file(trail / name, number).stat()
                total += seen.st_size
                oldest = min(oldest, seen.st_mtime_ns // 1_000_000)
    stale = keep.days is not None and oldest < now - keep.days * DAY_MS
    return stale or (keep.size is not None and total > keep.size)


def leaving(trail: Path, keep: Keep, now: int, copier: Copier | None = None) -> list[Old]:
    """The segments that need not be kept: too old, or the oldest of too many bytes."""
    found = []
    for name in chains(trail):
        folder = trail / name
        # Another process may be at the same: what is gone meanwhile, or not ours to read, is not
        # ours to remove.
        with suppress(OSError):
            *closed, last = segments(folder)
            idle = not is_written(folder) and _tells(folder, last)
            for number in [*closed, last] if idle else closed:
                old = _read(folder, number)
                if old is not None:
                    found.append(old._replace(is_last=number == last))
    found.sort(key=lambda old: (old.at, old.chain, old.number))
    total = sum(old.size for old in found)
    chosen = []
    for old in found:
        stale = keep.days is not None and old.at < now - keep.days * DAY_MS
        if not stale and (keep.size is None or total <= keep.size):
            continue
        if copier is not None and not copier.has(old.chain, old.last):
            continue
        if not any(of_kind(trail / old.chain, old.number, notes.BYPASS)):
            chosen.append(old)
            total -= old.size
    return chosen


def _remove(
    chain: OpenChain, gone: list[Old], keep: Keep, lock: AbstractContextManager[object]
) -> int:
    gone = [old for old in gone if segment_file(chain.folder, old.number).exists()]
    if not gone:
        return 0
    said = [f"older than {keep.days:g} days"] if keep.days is not None else []
    said += [f"more than {keep.size} bytes"] if keep.size is not None else []
    listed = {old.number: (old.number, old.first, old.last, old.prev, old.hash) for old in gone}
    for old in gone:
        named = of_kind(chain.folder, old.number, notes.RETIRED)
        listed |= {
            one[0]: one for found in named for one in found.note(notes.SegmentsRetired).segments
        }
    # What they erase may stay, so it has to be said again when they go.
    erased = erased_in((chain.folder, old.number) for old in gone)
    with lock:
        if erased:
            chain.note(
                notes.Erased,
                notes.ERASED,
                records=erased,
                why="recorded before, in a segment that is removed now",
            )
        chain.note(
            notes.SegmentsRetired,
            notes.RETIRED,
            segments=tuple(sorted(listed.values())),
            why=" or ".join(said),
        )
        position = chain.position()
    # Only what stands before a head retires anything: the head moves before a file goes.
    chain.sync()
    chain.seal(position)
    done = 0
    for old in gone:
        # One that cannot be removed now is chosen again when the next segment is full.
        with suppress(OSError):
            os.unlink(segment_file(chain.folder, old.number))
            done += 1
    return done


def _read(folder: Path, number: int) -> Old | None:
    """A segment's ends; `None` where they cannot be read: what is damaged is evidence, and
    stays."""
    path = segment_file(folder, number)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = parse_line(file.readline().rstrip(b"\n"))
        last = parse_line(last_line(file, size))
    begin, end = stub_of(first), stub_of(last)
    if begin is None or end is None or last is None or not last.fits:
        return None
    # That it ended may be written long after what it tells.
    told = next(
        (found.stub.at for found in backwards(folder, number) if found.stub.kind not in OF_ITSELF),
        begin.at,
    )
    return Old(
        folder.name, number, min(told, end.at), size, begin.seq, end.seq, begin.prev, last.hash
    )


def _tells(folder: Path, number: int) -> bool:
    """Whether a segment holds anything but what a chain says of itself."""
    return any(found.stub.kind not in OF_ITSELF for found in forwards(folder, number))


# Ageing: when a chain begins its next segment because of its age, and when records of a trail may
# have to leave.


class Ageing:
    """Sees to it that what need not be kept leaves a trail in time."""

    def __init__(self, folder: Path, keep: Keep, clock: Callable[[], int]) -> None:
        self._folder, self._keep, self._clock = folder, keep, clock
        self._parted = False

    def outlived(self, chain: OpenChain) -> bool:
        """Whether the present segment began so long ago that the next should begin."""
        return self._keep.covers(chain.began, self._clock())

    def parted(self, chain: OpenChain, heads: Callable[[OpenChain], Heads]) -> int:
        """Begin a segment before a chain is gone on with, where the present one began long ago:
        what was written then does not stay for the sake of what comes. Gives how many records that
        takes."""
        if not self.outlived(chain):
            return 0
        before = chain.seq
        chain.rotate(heads(chain))
        self._parted = True
        return chain.seq - before

    def is_due(self) -> bool:
        """Whether records may have to leave."""
        return bool(self._keep) and (
            self._parted or is_due(self._folder, self._keep, self._clock())
        )

    def leave(
        self, chain: OpenChain, lock: AbstractContextManager[object], copier: Copier | None
    ) -> None:
        """Let leave what need not be kept; `lock` is what guards the chain."""
        self._parted = False
        if self._keep:
            retire(self._folder, chain, self._keep, self._clock(), lock, copier)
