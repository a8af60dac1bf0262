"""Reading a trail: records forwards and backwards, by decision and by run, in memory that does not
grow with it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Final, Protocol

import msgspec

from stanchion.audit import notes
from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.segment_scan import (
    DECISIONS,
    FoundRecord,
    Stub,
    backwards,
    forwards,
    found_in,
    hits,
    of_kind,
    stretches_back,
)
from stanchion.audit.verifying.heads import head_file
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.names import Names
from stanchion.kernel.shown import json_safe
from stanchion.kernel.state import FOREVER

__all__ = ["DECISIONS", "FoundRecord", "Progress", "Stub", "TrailReader"]

STEP: Final = 1 << 20
"""How many bytes are read before progress is told again."""

MOST_UNREAD: Final = 10_000
"""How many lines that cannot be read are remembered."""

Progress = Callable[[int, int], None]
"""Hears how many bytes are read, of how many."""


class Following(Protocol):
    """Sees the records that come to a source. What was there when it began is behind it."""

    @property
    def unread(self) -> set[tuple[str, int, int]]:
        """Where lines begin that came and cannot be read."""

    def is_behind(self, found: FoundRecord) -> bool:
        """Whether a record was there when following began, so that it does not come again."""

    def new(self) -> list[FoundRecord]:
        """The records that came since the last look, oldest first."""


class RecordSource(Protocol):
    """Records in a folder or in a database. A span of time may let records through that are outside
    of it: who gives one looks at them once more."""

    @property
    def name(self) -> str:
        """Where the records are, for people."""

    @property
    def unread(self) -> set[tuple[str, int, int]]:
        """Where lines begin that were met and cannot be read: chain, segment and byte."""

    def chains(self) -> list[str]:
        """The chains, sorted by name."""

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """Each chain and its head as it was written; nothing where it has none that can be read."""

    def follow(self) -> Following:
        """What sees the records that come from now on."""

    def forwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of a time, oldest first."""

    def backwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of a time, newest first."""

    def of_run(
        self, run: str, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of one run, newest first."""

    def of_kinds(
        self, kinds: tuple[str, ...], progress: Progress | None = None
    ) -> Iterator[FoundRecord]:
        """Records of some kinds, newest first."""

    def find(self, decision: str, progress: Progress | None = None) -> FoundRecord | None:
        """The decision with that id; the newest, where several have it."""

    def at(self, chain: str, seq: int) -> FoundRecord | None:
        """The record with that number in a chain."""


class TrailReader:
    """Reads the trail in a folder; needs no lock, and sees what is complete when it comes to it.

    Lines that cannot be read are passed over: finding out why is for `stanchion audit verify`.
    `unread` has where those begin that were met, as far as it is not too many: chain, segment and
    byte.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, str(folder)
        self.unread: set[tuple[str, int, int]] = set()

    def chains(self) -> list[str]:
        """The chains, sorted by name."""
        return chains(self.folder)

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """Each chain and its head. Whoever watches may be another user: no link is followed, and
        nothing is waited for."""
        for name in self.chains():
            found = head_file(self.folder / name)
            yield name, b"" if found.raw is None or found.head is None else found.raw.rstrip(b"\n")

    def follow(self) -> Follower:
        """What sees the records that come from now on."""
        return Follower(self.folder)

    def _missed(self, chain: str, number: int, offset: int) -> None:
        if len(self.unread) < MOST_UNREAD:
            self.unread.add((chain, number, offset))

    def size(self) -> int:
        """How many bytes all segments have."""
        total = 0
        for name in chains(self.folder):
            for number in segments(self.folder / name):
                try:
                    total += segment_file(self.folder / name, number).stat().st_size
                except FileNotFoundError:
                    continue
        return total

    def forwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """All records, oldest first; those of several chains by their time."""
        return self._merged(
            progress, lambda name, count: self._chain(name, count, newest_first=False), False
        )

    def backwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """All records, newest first."""
        return self._merged(progress, self._chain)

    def find(self, decision: str, progress: Progress | None = None) -> FoundRecord | None:
        """The decision with that id; the newest, where several have it."""
        pattern = b'"id":' + spelled(decision)
        count = _Count(self.size(), progress)
        newest = [
            next((one for one in hits if one.is_decision and one.stub.id == decision), None)
            for hits in [self._chain(name, count, pattern) for name in chains(self.folder)]
        ]
        return max(filter(None, newest), key=lambda one: one.stub.at, default=None)

    def at(self, chain: str, seq: int) -> FoundRecord | None:
        """The record with that number in a chain."""
        if chain not in chains(self.folder):
            return None
        hits = self._chain(chain, SILENT, b'"seq":%d,"chain":' % seq)
        return next(
            (found for found in hits if (found.stub.seq, found.stub.chain) == (seq, chain)), None
        )

    def begun(self, of: FoundRecord) -> notes.RunBegun | None:
        """How the run of a decision began, or last went on, before it: as its chain has it, or else
        another one."""
        others = [name for name in chains(self.folder) if name != of.chain]
        for name in (of.chain, *others):
            found = self._begun(name, of)
            if found is not None:
                try:
                    begun: notes.RunBegun = found.note(notes.RunBegun)
                except msgspec.MsgspecError:
                    return None
                return begun
        return None

    def _begun(self, name: str, of: FoundRecord) -> FoundRecord | None:
        own, run = name == of.chain, of.stub.run_id
        pattern = b'"run":{"id":' + spelled(run)
        each = self._chain(name, SILENT, pattern, before=of if own else None)
        begun = (found for found in each if found.stub.kind == notes.RUN)
        mine = (found for found in begun if found.stub.run_id == run)
        return next((found for found in mine if own or found.stub.at <= of.stub.at), None)

    def of_run(
        self, run: str, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """The records of one run, newest first."""
        merged = self._merged(progress, lambda name, count: self._chain(name, count, spelled(run)))
        return (found for found in merged if found.stub.run_id == run)

    def of_run_since(self, begun: FoundRecord) -> Iterator[FoundRecord]:
        """The records of a run from its beginning on, in the chain where it began, newest first."""
        run = begun.stub.run_id
        each = self._chain(begun.chain, SILENT, spelled(run), since=begun.segment)
        here = takewhile(lambda found: found.place >= begun.place, each)
        return (found for found in here if found.stub.run_id == run)

    def earlier(self, of: FoundRecord) -> Iterator[FoundRecord]:
        """The decisions of a run that stand before one of them in its segment, newest first."""
        run = of.stub.run_id
        each = self._chain(of.chain, SILENT, spelled(run), before=of, since=of.segment)
        return (found for found in each if found.is_decision and found.stub.run_id == run)

    def of_kinds(
        self, kinds: tuple[str, ...], progress: Progress | None = None
    ) -> Iterator[FoundRecord]:
        """The records of some kinds, newest first: those that are few are found without reading the
        others."""
        return self._merged(progress, lambda name, count: self._of_kinds(name, kinds, count))

    def _of_kinds(self, name: str, kinds: tuple[str, ...], count: _Count) -> Iterator[FoundRecord]:
        folder = self.folder / name
        for number in reversed(segments(folder)):
            hits = [of_kind(folder, number, kind) for kind in kinds]
            each = heapq.merge(*hits, key=lambda found: found.offset, reverse=True)
            yield from count.along(folder, number, True, each)

    def opened(self, since: FoundRecord) -> Iterator[FoundRecord]:
        """How processes took a chain, newest first: all that came after a record, and the last one
        before it."""
        for found in self._of_kinds(since.chain, (notes.OPEN,), SILENT):
            yield found
            if found.place < since.place:
                return

    def _merged(
        self,
        progress: Progress | None,
        read: Callable[[str, _Count], Iterator[FoundRecord]],
        newest_first: bool = True,
    ) -> Iterator[FoundRecord]:
        """What is read of each chain, by its time."""
        count = _Count(self.size(), progress)
        each = [read(name, count) for name in chains(self.folder)]
        return heapq.merge(*each, key=lambda found: found.stub.at, reverse=newest_first)

    def _chain(
        self,
        name: str,
        count: _Count,
        pattern: bytes = b"",
        newest_first: bool = True,
        before: FoundRecord | None = None,
        since: int = 0,
    ) -> Iterator[FoundRecord]:
        """The records of a chain, or those that hold a pattern; those before one of them, and from
        a segment on."""
        folder = self.folder / name
        for number in sorted(segments(folder), reverse=newest_first):
            if number < since or (before is not None and number > before.segment):
                continue
            end = before.offset if before is not None and number == before.segment else None
            if pattern:
                each = hits(folder, number, pattern, end, self._missed)
            else:
                each = (backwards if newest_first else forwards)(folder, number, self._missed)
            yield from count.along(folder, number, newest_first, each)


class _Count:
    """Tells how far reading has come, a step at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._done, self._progress = total, 0, progress

    def along(
        self, folder: Path, number: int, newest_first: bool, each: Iterator[FoundRecord]
    ) -> Iterator[FoundRecord]:
        """Pass the records of a segment on, and tell how far they are."""
        if self._progress is None:
            yield from each
            return
        try:
            size = segment_file(folder, number).stat().st_size
        except FileNotFoundError:
            return
        told = 0
        for found in each:
            come = size - found.offset if newest_first else found.offset
            if come - told >= STEP:
                self._add(come - told)
                told = come
            yield found
        self._add(size - told)

    def _add(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


SILENT: Final = _Count(0, None)


def spelled(text: str) -> bytes:
    """A text as records spell it."""
    return json_safe(msgspec.json.encode(text))


# Following a trail: what was appended since one last looked, whichever chain and segment it went
# to.

MOST: Final = 8 * 1024 * 1024
"""How many bytes of a segment are read at a time."""


class Follower:
    """Remembers how far each segment was read. What was there when it began is behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unread: set[tuple[str, int, int]] = set()
        """Where lines begin that came and cannot be read, as far as it is not too many."""
        self._read: dict[str, dict[int, int]] = {}
        for name in chains(folder):
            self._read[name] = {
                number: _whole(folder / name, number) for number in segments(folder / name)
            }

    def is_behind(self, found: FoundRecord) -> bool:
        """Whether a record was there when following began, so that it does not come again."""
        return found.offset < self._read.get(found.chain, {}).get(found.segment, 0)

    def new(self) -> list[FoundRecord]:
        """The records that came since the last look, oldest first; those of a chain as they stand
        there."""
        each = [self._new(name) for name in chains(self.folder)]
        return list(heapq.merge(*each, key=lambda one: one.stub.at))

    def _new(self, name: str) -> Iterator[FoundRecord]:
        folder, known = self.folder / name, self._read.setdefault(name, {})
        for number in segments(folder):
            start, path = known.get(number, 0), segment_file(folder, number)
            try:
                if path.stat().st_size <= start:
                    continue
                with path.open("rb") as file:
                    file.seek(start)
                    text = file.read(MOST)
            except FileNotFoundError:
                continue
            *lines, _unfinished = text.split(b"\n")
            for line in lines:
                found = found_in(folder, number, start, line)
                if found is not None:
                    yield found
                elif len(self.unread) < MOST_UNREAD:
                    self.unread.add((name, number, start))
                start += len(line) + 1
            if len(text) == MOST:
                # A line that is longer than that is no record, and nobody waits for its end.
                known[number] = start if lines else start + MOST
                return
            known[number] = start


def _whole(folder: Path, number: int) -> int:
    """Where the last whole line of a segment ends."""
    for offset, data in stretches_back(segment_file(folder, number)):
        return offset + data.rfind(b"\n") + 1
    return 0


# Choosing records: by run, agent, tool, stage, action, time, and what guards in shadow mode would
# have done.

REFUSED: Final = frozenset(NAMES[PROCEEDS + 1 :])
"""The actions under which an event does not go ahead."""


class WantedRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are wanted; without anything, all. Who asks for tools, stages or actions asks
    for decisions; who asks for `shadow`, for those that guards in shadow mode would have
    changed."""

    run: str | None = None
    agents: Names | None = None
    tools: Names | None = None
    stages: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    since: int = 0
    until: int = FOREVER
    shadow: bool = False

    def has(self, stub: Stub) -> bool:
        """Whether a record is among those."""
        if not self.since <= stub.at < self.until:
            return False
        if self.run is not None and stub.run_id != self.run:
            return False
        if self.agents is not None and (not stub.run_id or agent_of(stub) not in self.agents):
            return False
        if (self.tools is not None or self.stages or self.actions) and stub.kind not in DECISIONS:
            return False
        if self.shadow and not would_change(stub):
            return False
        return (
            (self.tools is None or stub.tool in self.tools)
            and (not self.stages or stub.stage in self.stages)
            and (not self.actions or stub.action in self.actions)
        )


def would_change(stub: Stub) -> bool:
    """Whether a guard in shadow mode would have made a decision more severe."""
    if stub.kind not in DECISIONS or stub.action not in NAMES or not isinstance(stub.shadow, list):
        return False
    worse = NAMES[NAMES.index(stub.action) + 1 :]
    return any(isinstance(said, dict) and said.get("action") in worse for said in stub.shadow)


def agent_of(stub: Stub) -> str:
    """The agent that a record is about."""
    return str(stub.run.get("agent", "")) if isinstance(stub.run, dict) else stub.agent
