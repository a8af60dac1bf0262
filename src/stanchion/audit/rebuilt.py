"""Rebuilding: what a decision was judged on, where its record leaves that to the run's records
before it.

Those decisions are made again, one after the other: each leaves what the next was judged on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.apart import is_erased
from stanchion.audit.record import FINDING, OUTCOME, RISKS, RecordEntry
from stanchion.audit.repeated import AT_MOST, digest_of_left
from stanchion.kernel.actions import Risk
from stanchion.kernel.chain import Policy
from stanchion.kernel.content import with_content
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.events import OF_STAGE, Charge, Event, Moment, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Answer, Answered
from stanchion.kernel.replay import replay
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Reply

if TYPE_CHECKING:
    from stanchion.audit.reader import FoundRecord, TrailReader

# From a record back to what was judged: the event, the moment, and the inputs a decision was made
# from.

WITHHELD: Final = frozenset({"$withheld", "$sha256", "$digest"})
"""Keys by which a record's content is known not to be the content itself."""


def run_of(entry: RecordEntry) -> RunInfo:
    """A run as far as a decision's own record tells of it; how it began tells more."""
    return RunInfo(entry.run, entry.agent, "", entry.task, entry.tenant)


def before_of(entry: RecordEntry, earlier: Iterable[RecordEntry]) -> str:
    """What stands before a streamed piece: the pieces of its stream that were passed on before it
    on its channel.

    They are as their records have them. Where nothing was redacted that is what the piece was
    judged with.
    """
    stream, channel, index = _place(entry)
    pieces: dict[int, str] = {}
    for other in earlier:
        if other.stage == entry.stage and isinstance(other.content, str):
            one = _place(other)
            if one[:2] == (stream, channel) and one[2] < index:
                pieces[one[2]] = other.content
    return "".join([pieces[number] for number in sorted(pieces)])


def _place(entry: RecordEntry) -> tuple[str, str, int]:
    """Where a streamed piece stands: the stream (named by its first piece), the channel, its
    number."""
    stream = entry.call if entry.call else entry.id
    return stream, str(entry.beside.get("channel", "text")), int(entry.beside.get("index", 0))


def event_of(
    entry: RecordEntry, run: RunInfo, args: dict[str, Any] | None = None, before: str = ""
) -> Event:
    """The event that a record is about, as far as it has it: content that was withheld is missing.

    `args` are those of its call, where the record leaves them to its intent; `before` is what
    `before_of` gives for a streamed piece.
    """
    kind: Any = OF_STAGE[Stage(entry.stage)]
    names = kind.__struct_fields__
    texts = {
        field.name: ""
        for field in msgspec.structs.fields(kind)
        if field.required and field.type is str
    }
    known: dict[str, Any] = {"id": entry.id, "at": entry.at, "call": entry.call, "tool": entry.tool}
    known |= {
        "risk": Risk(RISKS.index(entry.risk)),
        "traits": entry.traits,
        "run": msgspec.to_builtins(run),
    }
    if args is not None and "args" in names:
        known["args"] = args
    if before and "before" in names:
        known["before"] = before
    own = {
        name: value for name, value in entry.beside.items() if name in names and not withheld(value)
    }
    bare: Event = typed.convert({**texts, **known, **own}, kind)
    if entry.content is None or withheld(entry.content):
        return bare
    try:
        whole: Event = typed.convert(msgspec.to_builtins(with_content(bare, entry.content)), kind)
    except (msgspec.ValidationError, TypeError, ValueError):
        return bare
    return whole


def withheld(content: Any) -> bool:
    """Whether a record's content is not the content itself."""
    return isinstance(content, dict) and bool(WITHHELD & content.keys())


def moment_of(
    entry: RecordEntry, run: RunInfo, args: dict[str, Any] | None = None, before: str = ""
) -> Moment:
    """The moment that was judged."""
    event = event_of(entry, run, args, before)
    events: tuple[Event, ...] = (event,)
    for stage in entry.with_:
        if stage != Stage.CHARGE:
            raise ValueError(
                f"a record with `{stage}` beside its event cannot be judged again: another version "
                "of Stanchion wrote it"
            )
        _, tokens, cost, _, _ = entry.amounts
        charge = Charge(
            id=f"{event.id}+",
            at=event.at,
            run=run,
            call=event.id,
            tool=event.tool,
            risk=event.risk,
            traits=event.traits,
            tokens=tokens,
            cost_microusd=cost,
        )
        events = (*events, charge)
    return Moment(
        events,
        entry.amounts,
        entry.settles,
        entry.late,
        entry.attempt,
        entry.stakes,
        entry.granted,
        entry.again,
        entry.lifts,
        entry.bypasses,
    )


def inputs_of(entry: RecordEntry) -> Inputs:
    """What the decision was made from besides the event and the policy."""
    reply = None
    if entry.now:
        reply = Reply(entry.now, False, entry.went, entry.values, entry.actions, entry.settled)
    now = entry.judged if entry.judged else entry.at
    answers = tuple((name, _answer(answer)) for name, answer in entry.answers)
    return Inputs(
        entry.records,
        answers,
        reply,
        entry.lost,
        entry.mode,
        now,
        entry.stale,
        entry.can,
        entry.taken,
        entry.confirmed,
        entry.refused,
        entry.crowd,
    )


def _answer(answer: Answer) -> Answer:
    """An answer as it came: a finding is one again."""
    if (
        not isinstance(answer, Answered)
        or not isinstance(answer.value, dict)
        or answer.value.keys() != {FINDING}
    ):
        return answer
    try:
        return Answered(typed.convert(answer.value[FINDING], Finding))
    except msgspec.ValidationError:
        return answer


REMEMBERED: Final = 4 * AT_MOST
"""Of how many decisions it is remembered what they were judged on."""

RecordId = tuple[str, int]
"""A record's chain and its number."""


class GoneRecord(ValueError):
    """A decision cannot be judged again, and why: something that it was judged on is not there any
    more."""

    def __init__(self, why: str) -> None:
        super().__init__(f"it cannot be judged again: {why}")


def args_of(
    reader: TrailReader, entry: RecordEntry, known: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """The arguments of an outcome's call, which its intent has; `known` has the content of some
    intents."""
    if entry.kind != OUTCOME or not entry.call or "args" in entry.beside:
        return None
    if known is not None and entry.call in known:
        content = known[entry.call]
    else:
        intent = reader.find(entry.call)
        content = None if intent is None else intent.entry().content
    return content if isinstance(content, dict) and not withheld(content) else None


class Rebuilding:
    """Rebuilds what the decisions of one run were judged on, under one policy. It remembers the
    last ones."""

    def __init__(self, reader: TrailReader, policy: Policy, run: RunInfo) -> None:
        self._reader, self._policy, self._run = reader, policy, run
        self._known: dict[RecordId, tuple[Known, ...]] = {}

    def entry(self, found: FoundRecord) -> RecordEntry:
        """A decision's record with everything that it was judged on; raises `GoneRecord` where that
        is not there."""
        entry = found.entry()
        if is_erased(found.line.body, found.line.kept):
            raise GoneRecord("the content of its record was erased")
        if not entry.left:
            return entry
        place = found.chain, found.stub.seq
        if place not in self._known:
            self._walk(found)
        return msgspec.structs.replace(entry, records=self._known[place], left="")

    def _walk(self, found: FoundRecord) -> None:
        """Make the decisions before one again, and that one, too."""
        before = [*islice(self._reader.earlier(found), AT_MOST)]
        if len(self._known) + len(before) > REMEMBERED:
            self._known.clear()
        said: dict[str, tuple[int, Any]] = {}
        calls: dict[str, Any] = {}
        gone: FoundRecord | None = None
        for one in (*reversed(before), found):
            if is_erased(one.line.body, one.line.kept):
                said, gone = {}, one
                continue
            entry = one.entry()
            calls[entry.id] = entry.content
            decision = self._again(entry, said, calls)
            said |= {
                name: (version, value) for name, version, value in (*entry.refused, *entry.records)
            }
            if decision is None:
                continue
            judged = judged_on(entry, decision)
            if entry.left and judged is None:
                continue
            if judged is not None:
                self._known[one.chain, one.stub.seq] = judged
                said |= {name: (version, value) for name, version, value in judged}
            said |= {name: (version, value) for name, version, value in decision.wrote}
        if (found.chain, found.stub.seq) not in self._known:
            why = "the earlier records of the run do not lead to the state it was judged on"
            if gone is not None:
                why = f"it builds on record {gone.stub.seq} of its chain, whose content was erased"
            raise GoneRecord(why)

    def _again(
        self, entry: RecordEntry, said: dict[str, tuple[int, Any]], calls: dict[str, Any]
    ) -> Decision | None:
        """A decision made again on what was said before; `None` where its record has too little for
        that."""
        if not entry.policy or not self._policy.hash.startswith(entry.policy):
            return None
        own = {name: (version, value) for name, version, value in entry.records}
        merged = {**said, **own} if entry.left else own
        records = tuple((name, version, value) for name, (version, value) in merged.items())
        inputs = msgspec.structs.replace(inputs_of(entry), records=records)
        try:
            moment = moment_of(entry, self._run, args_of(self._reader, entry, calls))
            return replay(self._policy, self._run, moment, inputs)
        except (ValueError, msgspec.MsgspecError):
            return None


def judged_on(entry: RecordEntry, decision: Decision) -> tuple[Known, ...] | None:
    """The records that a decision was judged on, made again; `None` where those that its record
    leaves to others are not the ones."""
    own = {name for name, _, _ in entry.records}
    later = {name for name, _, _ in entry.refused}
    there = tuple(one for one in decision.inputs.records if one[1] or one[0] in later)
    left = [one for one in there if one[0] not in own]
    return there if (digest_of_left(left) if left else "") == entry.left else None
