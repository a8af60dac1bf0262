"""Retention: whole segments leave, oldest first; what remains can still be verified."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from stanchion.audit import notes
from stanchion.audit.chain import Chain
from stanchion.audit.ending import Unfit, last_line
from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.lines import Line, parse_line

DAY_MS: Final = 86_400_000
PERMANENT: Final = b'"kind":"%b"' % notes.BYPASS.encode()


RETIRES: Final = b'"kind":"%b"' % notes.RETIRED.encode()

Gone = tuple[int, int, int, str, str]
"""A segment as a record names it that retires it."""


class Keep(msgspec.Struct, frozen=True):
    """What stays: nothing older than `days`, and at most `size` bytes of closed segments. Without either, all."""

    days: float | None = None
    size: int | None = None

    def __bool__(self) -> bool:
        return self.days is not None or self.size is not None


class Copier(Protocol):
    """Copies a trail elsewhere. What it does not have yet is not removed here."""

    def moved(self, chain: str) -> None:
        """The head of a chain that this process writes has moved: what stands before it can be copied."""

    def has(self, chain: str, seq: int) -> bool:
        """Whether all records of a chain up to that number are copied."""

    def finish(self) -> None:
        """This process writes no more: copy the rest, and let go."""


class Old(NamedTuple):
    """A closed segment: where it is, when its last record was written, how long it is, and what binds its ends."""

    chain: str
    number: int
    at: int
    size: int
    first: int
    last: int
    prev: str
    hash: str


class Ends(msgspec.Struct, frozen=True):
    """What retention reads of a record."""

    prev: str
    seq: int
    at: int


def retire(
    trail: Path,
    own: Chain,
    keep: Keep,
    now: int,
    lock: AbstractContextManager[object],
    copier: Copier | None = None,
) -> int:
    """Remove what need not be kept, from this process's chain and from those nobody writes; gives how many segments.

    A segment that holds a bypass stays for good, and one that `copier` does not have yet stays for now. That others
    leave is written down before they do; `lock` is what guards this process's chain.
    """
    chosen: dict[str, list[Old]] = {}
    for old in _chosen(trail, keep, now, copier):
        chosen.setdefault(old.chain, []).append(old)
    done = 0
    for name, gone in chosen.items():
        if name == own.id:
            done += _remove(own, gone, keep, lock)
            continue
        with suppress(Unfit, OSError):
            chain = Chain.resume(trail, name, own.key, own.clock)
            if chain is None:
                continue
            try:
                chain.enter(os.getpid())
                done += _remove(chain, gone, keep, nullcontext())
            finally:
                chain.close({})
    return done


def outlived(chain: Chain, keep: Keep, now: int) -> bool:
    """Whether the present segment began so long ago that records in it need not be kept any more."""
    return keep.days is not None and chain.began < now - keep.days * DAY_MS


def _chosen(trail: Path, keep: Keep, now: int, copier: Copier | None) -> list[Old]:
    """The segments to remove: too old, or the oldest of too many bytes."""
    found = []
    for name in chains(trail):
        folder = trail / name
        # Another process may be at the same: what is gone meanwhile, or not ours to read, is not ours to remove.
        with suppress(OSError):
            for number in segments(folder)[:-1]:
                old = _read(folder, number)
                if old is not None:
                    found.append(old)
    found.sort(key=lambda old: (old.at, old.chain, old.number))
    total = sum(old.size for old in found)
    chosen = []
    for old in found:
        stale = keep.days is not None and old.at < now - keep.days * DAY_MS
        if not stale and (keep.size is None or total <= keep.size):
            continue
        if copier is not None and not copier.has(old.chain, old.last):
            continue
        if not _permanent(segment_file(trail / old.chain, old.number)):
            chosen.append(old)
            total -= old.size
    return chosen


def _remove(chain: Chain, gone: list[Old], keep: Keep, lock: AbstractContextManager[object]) -> int:
    gone = [old for old in gone if segment_file(chain.folder, old.number).exists()]
    if not gone:
        return 0
    said = [f"older than {keep.days:g} days"] if keep.days is not None else []
    said += [f"more than {keep.size} bytes"] if keep.size is not None else []
    listed = {old.number: (old.number, old.first, old.last, old.prev, old.hash) for old in gone}
    for old in gone:
        listed |= {one[0]: one for one in _named_in(segment_file(chain.folder, old.number))}
    with lock:
        chain.note(notes.Retired, notes.RETIRED, segments=tuple(sorted(listed.values())), why=" or ".join(said))
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
    """A segment's ends; `None` where they cannot be read: what is damaged is evidence, and stays."""
    path = segment_file(folder, number)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = parse_line(file.readline().rstrip(b"\n"))
        last = parse_line(last_line(file, size))
    if first is None or last is None or not last.fits:
        return None
    begin, end = _ends(first), _ends(last)
    if begin is None or end is None:
        return None
    return Old(folder.name, number, end.at, size, begin.seq, end.seq, begin.prev, last.hash)


def _ends(line: Line) -> Ends | None:
    try:
        return msgspec.json.decode(line.body, type=Ends)
    except msgspec.MsgspecError:
        return None


def _named_in(path: Path) -> Iterator[Gone]:
    """The segments that records of this one retire: they have to be named again when it goes itself."""
    with path.open("rb") as file:
        for text in file:
            line = parse_line(text.rstrip(b"\n")) if RETIRES in text else None
            with suppress(msgspec.MsgspecError):
                found = None if line is None else msgspec.json.decode(line.body, type=notes.Retired)
                if found is not None and found.kind == notes.RETIRED:
                    yield from found.segments


def _permanent(path: Path) -> bool:
    """Whether a segment holds a record that is never removed; one that its own process has just removed does not."""
    # Not mapped into memory: this is the process of an agent, and whoever cut the file off would kill it.
    before = b""
    try:
        with path.open("rb") as file:
            while data := file.read(1 << 20):
                if PERMANENT in before + data:
                    return True
                before = data[-len(PERMANENT) :]
    except FileNotFoundError:
        pass
    return False
