"""Coverage: what was executed beside what was decided, run by run, and by name whatever escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import MsgspecError, Struct
from msgspec.structs import asdict, replace

from stanchion.audit.notes import FACT, RUN, FactNote, RunBegun
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.audit.segment_scan import FoundRecord
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.stages import Stage
from stanchion.ops.views.records import decision_in
from stanchion.ops.views.transcript import (
    DecidedCalls,
    HostTranscript,
    MatchableDecision,
    Unmatched,
    known_of,
    tokens_of,
)
from stanchion.runtime.coverage.coverage import CAUGHT, MISSED
from stanchion.runtime.coverage.sightings import ESCAPED, UNGUARDED, WATCHED

MOST_RUNS: Final = 10_000
"""Of how many runs is told; older ones are counted."""
MOST_NAMED: Final = 10_000
LAST: Final = "last"
"""What the newest run can be called."""
ENDS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
"""What has an outcome that somebody reports."""
MATCHED: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_REPLY})
"""What is matched with the calls and replies of a transcript."""
COUNTED: Final = frozenset({Stage.MODEL_REPLY, Stage.TOOL_RESULT, Stage.ERROR, Stage.CHARGE})
"""Where records count tokens that were used."""
WENT: Final = frozenset(NAMES[: PROCEEDS + 1])


class EscapedView(Struct, frozen=True, kw_only=True):
    """Something that passed every guard. `what` is a `tool`, a `client`, an `agent`, an `adapter`,
    or a `call`, a `reply` or `tokens` of the transcript; `told_by` is who knows it: the `hook`, an
    `adapter`, a `canary` or the `transcript`."""

    run: str = ""
    agent: str = ""
    what: str
    name: str
    kind: str = ""
    target: str = ""
    place: str = ""
    through: str = ""
    by: str = ""
    told_by: str = "transcript"
    stopped: bool = False
    why: str = "the transcript tells of it, and nobody decided about it"
    at_ms: int = 0


class CoveredRunView(Struct, frozen=True, kw_only=True):
    """How well one run is covered. `mode` is how it was watched, empty where nobody did. `decided`
    counts what went ahead by stage, `refused` what did not; `unreported` counts calls that went
    ahead and of which no outcome was reported. `escaped` counts what escaped, repetitions included;
    `vouched` is what its host called its own work, `unsure` what could not be told from a call that
    was under way."""

    run: str
    agent: str
    task: str
    parents: tuple[str, ...]
    mode: str
    decided: dict[str, int]
    refused: int
    unreported: int
    escaped: int
    vouched: int
    unsure: int


class CoverageView(Struct, frozen=True, kw_only=True):
    """What escaped, newest first, beside how each run is covered. `canaries` says of each adapter
    whether it caught its canary the last time. `asked` counts calls of the transcript that were
    never answered, `untold` those that were decided and are not in it. `tokens_told` is what the
    transcript's replies say they used, `tokens_recorded` what the records count: none where no
    budget counts tokens and nobody reports them. `left_out` counts runs and things that are too
    many to be told."""

    escaped: tuple[EscapedView, ...]
    runs: tuple[CoveredRunView, ...]
    canaries: dict[str, bool]
    asked: int
    untold: int
    tokens_told: int
    tokens_recorded: int
    left_out: int


class _Run(Struct):
    """What is known of one run so far."""

    run: str
    agent: str = ""
    task: str = ""
    parents: tuple[str, ...] = ()
    began_ms: int = 0
    modes: dict[str, None] = {}
    decided: dict[str, int] = {}
    refused: int = 0
    unreported: int = 0
    named: int = 0
    escaped: int = 0
    vouched: int = 0
    unsure: int = 0

    def view(self) -> CoveredRunView:
        """It as it is told."""
        known = asdict(self)
        known |= {"mode": " and ".join(self.modes), "decided": dict(sorted(self.decided.items()))}
        known["escaped"] = max(self.escaped, self.named)
        return CoveredRunView(**{name: known[name] for name in CoveredRunView.__struct_fields__})


class _Pass:
    """One pass over a trail, newest record first."""

    def __init__(self, matches: bool) -> None:
        self.runs: dict[str, _Run] = {}
        self.escaped: list[EscapedView] = []
        self.canaries: dict[str, EscapedView | None] = {}
        self.left_out = 0
        self.known: list[tuple[str, MatchableDecision]] = []
        """What was decided, by run, where it is to be matched."""
        self.tokens: dict[str, int] = {}
        """The tokens that were counted, by run, where they are to be compared."""
        self._matches = matches
        self._reported: set[str] = set()

    def take(self, found: FoundRecord) -> None:
        """Take a record in."""
        stub = found.stub
        if found.is_decision:
            self._decision(found)
        elif stub.kind == RUN:
            self._begun(found)
        elif stub.kind == FACT:
            self._fact(found)

    def _of(self, run: str) -> _Run | None:
        known = self.runs.get(run)
        if known is None and run and len(self.runs) < MOST_RUNS:
            known = self.runs[run] = _Run(run)
        elif known is None and run:
            self.left_out += 1
        return known

    def _decision(self, found: FoundRecord) -> None:
        stub = found.stub
        run = self._of(stub.run_id)
        if run is None:
            return
        run.agent, run.task = stub.agent, stub.task
        if stub.kind == OUTCOME:
            self._reported.add(stub.call)
        elif stub.kind == INTENT:
            if stub.action not in WENT:
                run.refused += 1
            else:
                run.decided[stub.stage] = run.decided.get(stub.stage, 0) + 1
                run.unreported += stub.stage in ENDS and stub.id not in self._reported
            self._reported.discard(stub.id)
        if self._matches and stub.stage in MATCHED | COUNTED:
            self._to_match(found)

    def _to_match(self, found: FoundRecord) -> None:
        stub, entry = found.stub, decision_in(found)
        if entry is None:
            return
        if stub.stage in MATCHED:
            self.known.append((stub.run_id, known_of(entry)))
        if stub.stage in COUNTED:
            self.tokens[stub.run_id] = self.tokens.get(stub.run_id, 0) + tokens_of(entry)

    def _begun(self, found: FoundRecord) -> None:
        run = self._of(found.stub.run_id)
        try:
            note: RunBegun = found.note(RunBegun)
        except MsgspecError:
            return
        if run is not None:
            run.agent, run.task, run.parents = note.run.agent, note.run.task, note.run.parents
            run.began_ms = note.at

    def _fact(self, found: FoundRecord) -> None:
        note = found.told()
        if note is None:
            return
        if note.what in (CAUGHT, MISSED):
            name = str(note.data.get("adapter", note.about))
            missed = None if note.what == CAUGHT else _escaped(note, "adapter", name, "canary")
            self.canaries.setdefault(name, missed)
        elif note.what in (ESCAPED, UNGUARDED, WATCHED):
            run = self._of(note.run)
            if run is None:
                return
            run.agent, run.parents = note.by, _texts(note.data.get("parents", ()))
            if note.what == WATCHED:
                _watched(run, note)
            else:
                run.named += 1
                self._named(note)

    def _named(self, note: FactNote) -> None:
        if len(self.escaped) >= MOST_NAMED:
            self.left_out += 1
            return
        what, name = str(note.data.get("what", "")), str(note.data.get("name", ""))
        told_by = "hook" if note.what == ESCAPED else "adapter"
        told_by = "door" if note.data.get("by") == "door" else told_by
        self.escaped.append(_escaped(note, what, name, told_by))


def _texts(values: Any) -> tuple[str, ...]:
    return tuple([str(one) for one in values]) if isinstance(values, list | tuple) else ()


def _watched(run: _Run, note: FactNote) -> None:
    """Take in how one process has watched a run."""
    run.modes[str(note.data.get("mode", ""))] = None
    for name in ("escaped", "vouched", "unsure"):
        count = note.data.get(name, 0)
        setattr(run, name, getattr(run, name) + (count if isinstance(count, int) else 0))


def coverage(
    records: Iterable[FoundRecord], run: str = "", transcript: HostTranscript | None = None
) -> CoverageView:
    """What the records, given newest first, tell of coverage; of one run and those below it (`last`
    is the newest that is below no other), or of all. With a transcript, what it tells of and nobody
    decided is named as well."""
    gone = _Pass(transcript is not None)
    for found in records:
        gone.take(found)
    if run == LAST:
        first = [one for one in gone.runs.values() if not one.parents]
        run = max(first, key=lambda one: one.began_ms, default=_Run(LAST)).run
    wanted = {
        name: one for name, one in gone.runs.items() if not run or run in (name, *one.parents)
    }
    escaped = [one for one in gone.escaped if one.run in wanted]
    if not run:
        escaped += [one for one in gone.canaries.values() if one is not None]
    asked = untold = told = recorded = 0
    if transcript is not None:
        decided = DecidedCalls()
        for name, known in gone.known:
            if name in wanted:
                decided.add(known)
        left = decided.left(transcript)
        escaped += [
            EscapedView(what="call", name=one.tool, place=one.id)
            for one in left.calls
            if one.answered
        ]
        escaped += [EscapedView(what="reply", name=one.model, place=one.id) for one in left.replies]
        asked, untold = sum(not one.answered for one in left.calls), left.unasked
        told = sum([one.tokens for one in transcript.replies])
        recorded = sum([count for name, count in gone.tokens.items() if name in wanted])
        escaped += _uncounted(told, recorded, left)
    return CoverageView(
        escaped=tuple(escaped),
        runs=tuple([one.view() for one in wanted.values()]),
        canaries={name: missed is None for name, missed in sorted(gone.canaries.items())},
        asked=asked,
        untold=untold,
        tokens_told=told,
        tokens_recorded=recorded,
        left_out=gone.left_out,
    )


def _uncounted(told: int, recorded: int, left: Unmatched) -> list[EscapedView]:
    """The tokens that a transcript tells of beyond those that were counted, and beyond those of
    replies that are named: somebody asked a model beside the guard, and its reply says what a
    decided one says. Nothing where none were counted."""
    beyond = told - sum([one.tokens for one in left.replies]) - recorded
    if not recorded or beyond <= 0:
        return []
    why = f"the transcript tells of {beyond:,} tokens more than were counted for what was decided"
    return [EscapedView(what="tokens", name=f"{beyond:,}", why=why)]


def with_canaries(view: CoverageView, came: Mapping[str, str]) -> CoverageView:
    """The same with canaries that were driven just now: by adapter why one was not caught, empty
    where it was."""
    missed = [
        EscapedView(what="adapter", name=name, told_by="canary", why=why)
        for name, why in sorted(came.items())
        if why
    ]
    kept = tuple([one for one in view.escaped if one.what != "adapter" or one.name not in came])
    canaries = {**view.canaries, **{name: not why for name, why in came.items()}}
    return replace(view, escaped=(*kept, *missed), canaries=dict(sorted(canaries.items())))


def _escaped(note: FactNote, what: str, name: str, told_by: str) -> EscapedView:
    said = {
        key: str(note.data.get(key, "")) for key in ("kind", "target", "place", "through", "by")
    }
    return EscapedView(
        run=note.run,
        agent=note.by,
        what=what,
        name=name,
        told_by=told_by,
        stopped=note.data.get("stopped") is True,
        why=note.why,
        at_ms=note.at,
        **said,
    )
