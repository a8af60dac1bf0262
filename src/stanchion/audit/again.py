"""From a record back to what was judged: the event, the moment, and the inputs a decision was made
from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.record import FINDING, RISKS, Entry
from stanchion.kernel.actions import Risk
from stanchion.kernel.content import with_content
from stanchion.kernel.decision import Inputs
from stanchion.kernel.events import OF_STAGE, Charge, Event, Moment, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Answer, Answered
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Reply

WITHHELD: Final = frozenset({"$withheld", "$sha256", "$digest"})
"""Keys by which a record's content is known not to be the content itself."""


def run_of(entry: Entry) -> RunInfo:
    """A run as far as a decision's own record tells of it; how it began tells more."""
    return RunInfo(entry.run, entry.agent, "", entry.task, entry.tenant)


def before_of(entry: Entry, earlier: Iterable[Entry]) -> str:
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


def _place(entry: Entry) -> tuple[str, str, int]:
    """Where a streamed piece stands: the stream (named by its first piece), the channel, its
    number."""
    stream = entry.call if entry.call else entry.id
    return stream, str(entry.beside.get("channel", "text")), int(entry.beside.get("index", 0))


def event_of(
    entry: Entry, run: RunInfo, args: dict[str, Any] | None = None, before: str = ""
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
    entry: Entry, run: RunInfo, args: dict[str, Any] | None = None, before: str = ""
) -> Moment:
    """The moment that was judged."""
    event = event_of(entry, run, args, before)
    events: tuple[Event, ...] = (event,)
    for stage in entry.with_:
        if stage != Stage.CHARGE:
            raise ValueError(
                f"a record with `{stage}` beside its event cannot be judged again: another version "
                f"of Stanchion "
                "wrote it"
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


def inputs_of(entry: Entry) -> Inputs:
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
