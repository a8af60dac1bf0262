"""Runs as a trail tells of them: who was at work, how it stands or ended, what was decided, what it
produced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.audit import notes
from stanchion.audit.chain_lock import is_written
from stanchion.audit.layout import read_head
from stanchion.audit.reader import REFUSED, FoundRecord, Progress, TrailReader
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo
from stanchion.kernel.stages import Stage

# Gathering a run from records that are read backwards: one process was at it, or several at the
# same time.

OPEN, ENDED, HALTED, CANCELLED, LOST = "open", "ended", "halted", "cancelled", "lost"
"""How a run stands. It is lost where its end was never written and nobody writes its chain any
more."""

_CANCELLED: Final = "kernel.cancelled"


class Gathering:
    """A run as far as it is read: how processes ended it, and how it began or went on in each,
    newest first.

    A forked process goes on with its parent's run in a chain of its own, and says there when the
    run began. Each process tells at its end what it decided itself.
    """

    def __init__(self, later: Gathering | None = None) -> None:
        self._later: dict[str, FoundRecord] = {} if later is None else later.first_in()
        self.ends: list[tuple[FoundRecord, notes.RunEnded]] = []
        self.begun: list[tuple[FoundRecord, notes.RunBegun]] = []

    def takes(self, found: FoundRecord, note: notes.RunBegun | notes.RunEnded) -> bool:
        """Whether the next record is of this run, and not of an earlier one of that name."""
        if isinstance(note, notes.RunBegun):
            # A process that goes on with a run says when that began. One that says nothing may be
            # going on, too.
            return not self.begun or not note.began or not self.reached or note.began >= self.since
        if not self.begun or found.stub.at == self.since:
            return found.chain not in {one.chain for one, _ in (*self.ends, *self.begun)}
        return found.stub.at > self.since

    def add(self, found: FoundRecord, note: notes.RunBegun | notes.RunEnded) -> None:
        """Take what a record says of how it began, went on or ended."""
        if isinstance(note, notes.RunEnded):
            self.ends.append((found, note))
        else:
            self.begun.append((found, note))

    def first_in(self) -> dict[str, FoundRecord]:
        """Where this run, or a later one of its name, begins in each chain: what stands before is
        of earlier ones."""
        return {**self._later, **{found.chain: found for found, _ in self.begun}}

    def has(self, found: FoundRecord) -> bool:
        """Whether a record of its name stands before those of a later run of that name."""
        later = self._later.get(found.chain)
        return later is None or found.place < later.place

    def reaches(self, found: FoundRecord) -> bool:
        """Whether a record does not stand before the run begins in its chain."""
        first = self.first_in().get(found.chain)
        return first is None or found.place >= first.place

    @property
    def since(self) -> int:
        """When the run began, as far as it is read: a process that goes on with it says so."""
        return min(note.began if note.began else found.stub.at for found, note in self.begun)

    @property
    def reached(self) -> bool:
        """Whether its beginning is among what was read."""
        return min(found.stub.at for found, _ in self.begun) <= self.since

    def untold(self, reader: TrailReader) -> dict[str, FoundRecord]:
        """The chains whose process has not told at its end what it decided, and where the run
        begins in each."""
        oldest = {found.chain: found for found, _ in self.begun}
        told = {found.chain for found, _ in self.ends}
        if oldest.keys() <= told:
            return {}
        for found, _ in self.ends:
            if found.chain not in oldest:
                # Its process went on there, because the chain in which it began was taken away.
                told |= {
                    lost[0]
                    for opened in reader.opened(found)
                    for lost in opened.data().get("lost", ())
                }
        return {chain: found for chain, found in oldest.items() if chain not in told}

    def decided(self) -> dict[str, int]:
        """What processes have told at their ends that they decided."""
        total: dict[str, int] = {}
        for _, end in self.ends:
            for action, count in end.decided.items():
                total[action] = total.get(action, 0) + count
        return total

    def end(self) -> notes.RunEnded | None:
        """How it ended: as it was cancelled, or else as the last of its processes says."""
        ends = [end for _, end in self.ends]
        return next((end for end in ends if end.code == _CANCELLED), ends[0] if ends else None)

    def state(
        self, reader: TrailReader, decided: dict[str, int], untold: dict[str, FoundRecord]
    ) -> str:
        """How it stands, with what was decided in all of it."""
        if any(is_alive(reader, found) for found in untold.values()):
            return OPEN
        end = self.end()
        if end is None:
            return LOST
        return CANCELLED if end.code == _CANCELLED else HALTED if decided.get("HALT") else ENDED


def is_alive(reader: TrailReader, begun: FoundRecord) -> bool:
    """Whether the process that began a run may still be at it: nobody else has taken its chain, and
    it is locked."""
    folder = reader.folder / begun.chain
    head = read_head(folder)
    if head is not None and head.closed:
        return False
    pids = [opened.data().get("pid") for opened in reader.opened(begun)]
    return len(set(pids)) <= 1 and is_written(folder)


FLAGGED: Final = "run.flagged"
STRIKE: Final = "run.strike"


class RunMarks:
    """Which guards have flagged a run, and how many strikes each has given it at the most."""

    def __init__(self) -> None:
        self.flagged: dict[str, None] = {}
        self.strikes: dict[str, int] = {}

    def ended(self, end: notes.RunEnded) -> None:
        """Take what a process told at its end."""
        self.flagged.update(dict.fromkeys(end.flagged))
        for guard, count in end.strikes.items():
            self.strikes[guard] = max(count, self.strikes.get(guard, 0))

    def found(self, found: FoundRecord) -> None:
        """Take what a record tells, if it tells of a mark."""
        if found.stub.kind != notes.FACT:
            return
        told = found.told()
        if told is None:
            return
        guard, count = told.data.get("guard"), told.data.get("count")
        if not isinstance(guard, str):
            return
        if told.what == FLAGGED:
            self.flagged.setdefault(guard)
        elif told.what == STRIKE and isinstance(count, int):
            self.strikes[guard] = max(count, self.strikes.get(guard, 0))


STARTS: Final = frozenset({Stage.TOOL_CALL.value, Stage.MODEL_CALL.value})
"""Stages whose actions report what came of them."""

_UNFINISHED: Final = "unfinished"
"""Under which calls are counted that were started and never said what came of them, beside what was
decided."""

NEWEST: Final = 10
"""How many of a run's decisions, and of its unfinished calls, are told one by one."""


HELD: Final = 100
"""How many records are looked at that are older than their run, before they are taken for those of
another."""


class RunStory(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `ended` is `None` for one whose end is not written; `last` is then its newest
    record.

    `policy` is the hash of the policy last in force, `source` where it came from. `flagged` names
    the guards that have flagged it, `strikes` counts those that each has given it.
    """

    run: RunInfo
    state: str
    began: int
    last: int
    ended: int | None = None
    code: str = ""
    why: str = ""
    decided: dict[str, int] = {}
    policy: str = ""
    source: str = ""
    env: str | None = None
    produced: tuple[Any, ...] = ()
    left_out: int = 0
    flagged: tuple[str, ...] = ()
    strikes: dict[str, int] = {}

    @property
    def refused(self) -> int:
        """How many of its actions did not go ahead."""
        return sum(count for action, count in self.decided.items() if action in REFUSED)

    @property
    def lasted_ms(self) -> int:
        """How long it took, or takes already."""
        return max(0, (self.last if self.ended is None else self.ended) - self.began)


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One run with its newest decisions, newest first, and what it started without saying what came
    of it."""

    story: RunStory
    newest: tuple[FoundRecord, ...]
    unfinished: tuple[FoundRecord, ...]
    unfinished_count: int


def _story(
    reader: TrailReader, run: Gathering, counted: dict[str, int], last: int, marks: RunMarks
) -> RunStory:
    """A run as it is told; `counted` is what those of its processes decided that have not told it
    themselves, `marks` what guards have marked in it."""
    for _, told in run.ends:
        marks.ended(told)
    newest = run.begun[0][1]
    decided = run.decided()
    for action, count in counted.items():
        decided[action] = decided.get(action, 0) + count
    state, end = run.state(reader, decided, run.untold(reader)), run.end()
    is_over = end is not None and state != OPEN
    return RunStory(
        run=newest.run,
        state=state,
        began=run.since,
        last=max(last, *(one.at for _, one in run.ends)) if run.ends else last,
        ended=max(one.at for _, one in run.ends) if is_over else None,
        code=end.code if end is not None and is_over else "",
        why=end.why if end is not None and is_over else "",
        decided=decided,
        policy=newest.policy,
        source=newest.source,
        env=newest.env,
        produced=() if end is None else end.produced,
        left_out=0 if end is None else end.left_out,
        flagged=tuple(sorted(marks.flagged)),
        strikes=dict(sorted(marks.strikes.items())),
    )


def newest_runs(
    reader: TrailReader, most: int | None = None, progress: Progress | None = None
) -> Iterator[RunStory]:
    """Runs by when they began, newest first; reads no further back than it has to."""
    known: dict[tuple[str, str], Gathering] = {}
    begun: list[Gathering] = []
    until: int | None = None
    for found in reader.of_kinds((notes.RUN, notes.END), progress):
        if until is not None and found.stub.at < until:
            break
        note = _noted(found)
        if note is None:
            continue
        name = (
            (note.tenant, note.run)
            if isinstance(note, notes.RunEnded)
            else (note.run.tenant, note.run.id)
        )
        one = known.setdefault(name, Gathering())
        if not one.takes(found, note):
            one = known[name] = Gathering(one)
        if isinstance(note, notes.RunBegun) and not one.begun:
            if most is not None and len(begun) == most:
                # Those that are listed are read back to where they began, and no others.
                until = min([run.since for run in begun], default=found.stub.at)
                continue
            begun.append(one)
        one.add(found, note)
    begun.sort(key=lambda one: one.since, reverse=True)
    for one in begun:
        yield _story(reader, one, *_counted(reader, one))


def _noted(found: FoundRecord) -> notes.RunBegun | notes.RunEnded | None:
    """How a run began or ended; `None` for any other record, and for one that cannot be read."""
    note: notes.RunBegun | notes.RunEnded | None = None
    try:
        if found.stub.kind == notes.RUN:
            note = found.note(notes.RunBegun)
        elif found.stub.kind == notes.END:
            note = found.note(notes.RunEnded)
    except msgspec.MsgspecError:
        return None
    return note


def run_detail(reader: TrailReader, run: str, progress: Progress | None = None) -> RunDetail | None:
    """The newest run of that name, told in full; `None` where there is none."""
    gathered = Gathering()
    tallies: dict[str, Counter[str]] = {}
    loose: dict[str, Counter[str]] = {}
    newest: list[FoundRecord] = []
    unfinished: list[FoundRecord] = []
    finished: set[str] = set()
    marks = RunMarks()
    last = 0
    for found in reader.of_run(run, progress):
        stub, note = found.stub, _noted(found)
        if note is not None:
            if not gathered.takes(found, note):
                break
            gathered.add(found, note)
            if isinstance(note, notes.RunBegun):
                # What stands before the run's beginning in a chain is of an earlier one, and stays
                # loose.
                tallies.setdefault(found.chain, Counter()).update(loose.pop(found.chain, {}))
        last = max(last, stub.at)
        if not found.is_decision:
            marks.found(found)
            continue
        tally = loose.setdefault(found.chain, Counter())
        tally[stub.action] += 1
        newest += [found] if len(newest) < NEWEST else []
        if stub.kind == OUTCOME and stub.call:
            finished.add(stub.call)
        elif _starts(found):
            if stub.id not in finished:
                tally[_UNFINISHED] += 1
                unfinished += [found] if len(unfinished) < NEWEST else []
            finished.discard(stub.id)
    if not gathered.begun:
        return None
    tallies = {**loose, **tallies}
    counted = sum((tallies[chain] for chain in gathered.untold(reader)), Counter[str]())
    count = sum(tally[_UNFINISHED] for tally in tallies.values())
    del counted[_UNFINISHED]
    return RunDetail(
        story=_story(reader, gathered, dict(counted), last, marks),
        newest=tuple(filter(gathered.reaches, newest)),
        unfinished=tuple(filter(gathered.reaches, unfinished)),
        unfinished_count=count,
    )


def records_of(
    reader: TrailReader, story: RunStory, progress: Progress | None = None
) -> Iterator[FoundRecord]:
    """The records of a run from its end back to its beginning; not those of an earlier one of that
    name.

    A run's beginning is written with its first decision, which can be about an event of a moment
    before. What is older than the run is therefore held until its chain shows the beginning: behind
    that it belongs to the run.
    """
    held: dict[str, list[FoundRecord]] = {}
    over: set[str] = set()
    for found in reader.of_run(story.run.id, progress):
        if found.chain in over:
            continue
        if found.stub.at >= story.began:
            if found.stub.kind == notes.RUN:
                yield from held.pop(found.chain, ())
            yield found
        elif found.stub.kind in (notes.RUN, notes.END) or len(held.get(found.chain, ())) == HELD:
            over.add(found.chain)
            held.pop(found.chain, None)
        else:
            held.setdefault(found.chain, []).append(found)


def _starts(found: FoundRecord) -> bool:
    """Whether an action went ahead that should report what came of it; what was degraded is judged
    once more first."""
    stub = found.stub
    if stub.kind != INTENT or stub.stage not in STARTS or stub.action in REFUSED:
        return False
    return stub.action != Action.DEGRADE.name or found.data().get("attempt", 1) != 1


def _counted(reader: TrailReader, run: Gathering) -> tuple[dict[str, int], int, RunMarks]:
    """What those processes at a run decided that have not told it at their end, when the run last
    did anything, and what guards marked."""
    decided: Counter[str] = Counter()
    marks = RunMarks()
    last = run.begun[0][0].stub.at
    for found in filter(run.has, _untold(reader, run)):
        last = max(last, found.stub.at)
        if found.is_decision:
            decided[found.stub.action] += 1
        else:
            marks.found(found)
    return dict(decided), last, marks


def _untold(reader: TrailReader, run: Gathering) -> Iterator[FoundRecord]:
    """The records of those processes; where its beginning is not there any more, everything is
    looked through."""
    chains = run.untold(reader)
    if not chains:
        return
    if run.reached:
        for begun in chains.values():
            yield from reader.of_run_since(begun)
        return
    for found in reader.of_run(run.begun[0][1].run.id):
        if found.stub.at < run.since:
            return
        if found.chain in chains:
            yield found
