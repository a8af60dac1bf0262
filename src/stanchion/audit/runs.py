"""Runs as a trail tells of them: who was at work, how it stands or ended, what was decided, what it produced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.audit import notes
from stanchion.audit.choosing import REFUSED
from stanchion.audit.heads import read_head
from stanchion.audit.living import is_written
from stanchion.audit.reading import Found, Progress, Reader
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo
from stanchion.kernel.stages import Stage

OPEN, ENDED, HALTED, CANCELLED, LOST = "open", "ended", "halted", "cancelled", "lost"
"""How a run stands. It is lost where its end was never written and nobody writes its chain any more."""

STARTS: Final = frozenset({Stage.TOOL_CALL.value, Stage.MODEL_CALL.value})
"""Stages whose actions report what came of them."""

NEWEST: Final = 10
"""How many of a run's decisions, and of its unfinished calls, are told one by one."""


class RunStory(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `ended` is `None` for one whose end is not written; `last` is then its newest record.

    `policy` is the hash of the policy last in force, `source` where it came from.
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

    @property
    def refused(self) -> int:
        """How many of its actions did not go ahead."""
        return sum(count for action, count in self.decided.items() if action in REFUSED)

    @property
    def lasted_ms(self) -> int:
        """How long it took, or takes already."""
        return max(0, (self.last if self.ended is None else self.ended) - self.began)


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One run with its newest decisions, newest first, and what it started without saying what came of it."""

    story: RunStory
    newest: tuple[Found, ...]
    unfinished: tuple[Found, ...]
    unfinished_count: int


class _Building:
    """A run while its records are read backwards: its end, and how it began or went on, newest first."""

    def __init__(self, end: notes.Ended | None) -> None:
        self.end = end
        self.begun: list[tuple[Found, notes.Begun]] = []

    def story(self, reader: Reader, decided: dict[str, int], last: int) -> RunStory:
        (first, oldest), (_, newest), end = self.begun[-1], self.begun[0], self.end
        if end is None:
            state = OPEN if any(_is_alive(reader, found) for found, _ in self.begun) else LOST
        else:
            decided, last = end.decided, end.at
            state = CANCELLED if end.code == "kernel.cancelled" else HALTED if decided.get("HALT") else ENDED
        return RunStory(
            run=newest.run,
            state=state,
            began=oldest.began if oldest.began else first.stub.at,
            last=last,
            ended=None if end is None else end.at,
            code="" if end is None else end.code,
            why="" if end is None else end.why,
            decided=decided,
            policy=newest.policy,
            source=newest.source,
            env=newest.env,
            produced=() if end is None else end.produced,
            left_out=0 if end is None else end.left_out,
        )


def newest_runs(reader: Reader, most: int | None = None, progress: Progress | None = None) -> Iterator[RunStory]:
    """Runs by when they began, newest first; reads no further back than it has to."""
    building: dict[tuple[str, str], _Building] = {}
    begun: list[_Building] = []
    for found in reader.of_kinds((notes.RUN, notes.END), progress):
        note = _noted(found)
        if isinstance(note, notes.Ended):
            building[note.tenant, note.run] = _Building(note)
        elif isinstance(note, notes.Begun):
            known = building.setdefault((note.run.tenant, note.run.id), _Building(None))
            if not known.begun:
                if most is not None and len(begun) == most:
                    break
                begun.append(known)
            known.begun.append((found, note))
    begun.sort(key=lambda one: one.begun[-1][0].stub.at, reverse=True)
    for one in begun:
        yield one.story(reader, *_counted(reader, one) if one.end is None else ({}, 0))


def _noted(found: Found) -> notes.Begun | notes.Ended | None:
    """How a run began or ended; `None` for any other record, and for one that cannot be read."""
    note: notes.Begun | notes.Ended | None = None
    try:
        if found.stub.kind == notes.RUN:
            note = found.note(notes.Begun)
        elif found.stub.kind == notes.END:
            note = found.note(notes.Ended)
    except msgspec.MsgspecError:
        return None
    return note


def run_detail(reader: Reader, run: str, progress: Progress | None = None) -> RunDetail | None:
    """The newest run of that name, told in full; `None` where there is none."""
    building: _Building | None = None
    decided: Counter[str] = Counter()
    newest: list[Found] = []
    unfinished: list[Found] = []
    count, last = 0, 0
    finished: set[str] = set()
    for found in reader.of_run(run, progress):
        stub, note = found.stub, _noted(found)
        if isinstance(note, notes.Ended):
            if building is not None:
                break
            building = _Building(note)
            continue
        building = _Building(None) if building is None else building
        last = max(last, stub.at)
        if isinstance(note, notes.Begun):
            building.begun.append((found, note))
        if not found.is_decision:
            continue
        decided[stub.action] += 1
        if len(newest) < NEWEST:
            newest.append(found)
        if stub.kind == OUTCOME and stub.call:
            finished.add(stub.call)
        elif _starts(found):
            if stub.id not in finished:
                count += 1
                unfinished += [found] if len(unfinished) < NEWEST else []
            finished.discard(stub.id)
    if building is None or not building.begun:
        return None
    story = building.story(reader, dict(decided), last)
    return RunDetail(story=story, newest=tuple(newest), unfinished=tuple(unfinished), unfinished_count=count)


def records_of(reader: Reader, story: RunStory, progress: Progress | None = None) -> Iterator[Found]:
    """The records of a run from its end back to its beginning; not those of an earlier one of that name."""
    for found in reader.of_run(story.run.id, progress):
        if found.stub.at < story.began:
            return
        yield found


def _starts(found: Found) -> bool:
    """Whether an action went ahead that should report what came of it; what was degraded is judged once more first."""
    stub = found.stub
    if stub.kind != INTENT or stub.stage not in STARTS or stub.action in REFUSED:
        return False
    return stub.action != Action.DEGRADE.name or found.data().get("attempt", 1) != 1


def _counted(reader: Reader, building: _Building) -> tuple[dict[str, int], int]:
    """What a run that has not ended has decided so far, and when it last did anything."""
    decided: Counter[str] = Counter()
    last = 0
    for found in _since_its_beginning(reader, building):
        last = max(last, found.stub.at)
        if found.is_decision:
            decided[found.stub.action] += 1
    return dict(decided), max(last, building.begun[0][0].stub.at)


def _since_its_beginning(reader: Reader, building: _Building) -> Iterator[Found]:
    """The records of a run; where its beginning lies further back than was read, everything is looked through."""
    oldest = building.begun[-1][1]
    if not oldest.began:
        for begun in {found.chain: found for found, _ in building.begun}.values():
            yield from reader.of_run_since(begun)
        return
    for found in reader.of_run(oldest.run.id):
        if found.stub.at < oldest.began:
            return
        yield found


def _is_alive(reader: Reader, begun: Found) -> bool:
    """Whether the process that began a run may still be at it: nobody else has taken its chain, and it is locked."""
    folder = reader.folder / begun.chain
    head = read_head(folder)
    if head is not None and head.closed:
        return False
    pids = [opened.data().get("pid") for opened in reader.opened(begun)]
    return len(set(pids)) <= 1 and is_written(folder)
