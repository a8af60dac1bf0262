"""Reports of hosts that execute things themselves: an event of any stage, checked, judged,
settled."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from stanchion import typed
from stanchion.kernel.actions import PROCEEDS, STOPS
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import OF_STAGE, Event, ModelCall, ToolCall, ToolResult
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.shown import Shown
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Settle
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.units import JUST_ONE, LONGEST_S, NOTHING, Amounts, Unit, amounts
from stanchion.policy.nearest import nearest
from stanchion.runtime.calling.at_work import AT_WORK
from stanchion.runtime.calling.handoffs import asks_somebody, beside_the_caller, followed
from stanchion.runtime.calling.model_bill import estimated
from stanchion.runtime.calling.users_words import may_be_the_users
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import reported, told, trouble_of
from stanchion.runtime.deciding.judging import assess, judge, lapsed
from stanchion.runtime.deciding.left import abandoned
from stanchion.runtime.deciding.open_calls import adopt
from stanchion.runtime.deciding.quiet import assessed, delivered
from stanchion.runtime.deciding.reported import beside, failing, failure_in, taken_in
from stanchion.runtime.deciding.spend import (
    book,
    lending,
    overruns,
    reserving,
    start_of,
    unforeseen,
    used_by,
)
from stanchion.runtime.deciding.under_way import CallWay, OpenedCall
from stanchion.runtime.deciding.undos import remember_reported, undone
from stanchion.runtime.deciding.unreadable_content import against, arrived, marked, unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.values import Read, Unreadable, arguments, read
from stanchion.runtime.values.anatomy import descends

STARTS = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
ENDS = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR, Stage.HANDOFF_DONE})
HANDOFFS = frozenset({Stage.HANDOFF, Stage.HANDOFF_DONE})
NAMED = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT})
"""Stages that mean nothing without a tool's name; an empty one has to be given as such."""
INNER = frozenset(
    {"id", "at", "run", "risk", "traits", "cost_microusd", "duration_ms", "before", "cleared"}
)
"""Fields of events that the runtime fills in, not the host."""
UNITS = {
    "tokens": Unit.TOKENS,
    "cost_usd": Unit.COST_MICROUSD,
    "api_calls": Unit.API_CALLS,
    "duration_s": Unit.DURATION_MS,
}
USAGE = tuple(UNITS)
NOBODY_SAID: frozenset[Unit] = frozenset()


class BadEvent(Shown, ValueError):
    """A reported event does not have the fields its stage asks for."""


def spending(usage: dict[str, Any]) -> Amounts:
    """What a host says an action uses."""
    try:
        spent = amounts(**_in_ms(usage))
    except (TypeError, ValueError) as error:
        raise BadEvent(str(error)) from None
    return JUST_ONE if spent == JUST_ONE else spent


def named_in(usage: dict[str, Any]) -> frozenset[Unit]:
    """Which measures a host speaks of."""
    return frozenset([UNITS[name] for name in usage])


def _in_ms(usage: dict[str, Any]) -> dict[str, Any]:
    if "duration_s" not in usage:
        return usage
    seconds = usage["duration_s"]
    if type(seconds) not in (int, float) or not 0 <= seconds < LONGEST_S:
        raise ValueError(
            f"duration_s is `{seconds}`: give a number of seconds that is not negative and below "
            f"10^12"
        )
    return {
        **{name: given for name, given in usage.items() if name != "duration_s"},
        "duration_ms": round(seconds * 1000),
    }


def report(
    desk: Desk,
    stage: Stage,
    fields: dict[str, Any],
    stands: tuple[Finding, ...] = (),
    failed: bool = False,
) -> Flow[Decision]:
    """Judge what a host reports. A start is remembered until its outcome is reported, which then
    settles it. `stands` is what stands against it from before, whatever it says; `failed` is a
    result that came with a failure, which was reported before it."""
    if isinstance(fields.get("error"), BaseException):
        fields = told(desk.shield.policy, fields.pop("error"), fields)
    form = _form(stage)
    if stage is Stage.PROMPT and (AT_WORK.get() or desk.hears_user is not True):
        is_user = yield from may_be_the_users(desk)
        fields["trusted"] = is_user and fields.get("trusted", True)
    if not fields.keys() <= form.taken:
        raise _no_field(stage, next(name for name in fields if name not in form.taken))
    spent, named = JUST_ONE, NOBODY_SAID
    if not fields.keys().isdisjoint(USAGE):
        usage = {name: fields.pop(name) for name in USAGE if name in fields}
        spent, named = spending(usage), named_in(usage)
    if stage is Stage.CHARGE:
        fields |= {"tokens": spent[Unit.TOKENS], "cost_microusd": spent[Unit.COST_MICROUSD]}
    event, refused, plain = _event(desk, stage, form, fields)
    event, refused = failing(event) if failed else event, (*stands, *refused)
    ends = stage in ENDS
    is_open = not event.call or desk.is_open(event.call)
    if not is_open and (ends or (stage is Stage.CHARGE and event.settled)):
        yield from adopt(desk, event.call)
        is_open = desk.is_open(event.call)
    if ends:
        judging = _ended(desk, event, refused, plain, spent, named, is_open, failed)
        if stage is Stage.HANDOFF_DONE and asks_somebody(desk):
            return beside_the_caller(desk, event, judging)
        return (yield from judging)
    if stage is Stage.CHARGE and event.settled:
        return (yield from _known(desk, event, spent, named))
    reserved = _Reserved(desk, event, spent, named)
    if stage in STARTS and spent[Unit.DURATION_MS]:
        event = msgspec.structs.replace(event, duration_ms=spent[Unit.DURATION_MS])
    decision, judged = yield from assessed(
        desk, event, reserved.amounts, refused, CallWay(), reprice=reserved.again
    )
    if decision.proceeds and desk.allowed.lapsed(decision):
        decision = yield from lapsed(desk, decision, judged, reserved.amounts)
    if decision.proceeds and stage in STARTS:
        desk.opened(
            decision, _about(event), getattr(judged, "args", {}), reserved.amounts, reserved.lent
        )
        if stage is Stage.HANDOFF:
            yield from followed(desk, judged, decision)
    return decision if plain else _fitting(decision, event)


def _ended(
    desk: Desk,
    event: Any,
    refused: tuple[Finding, ...],
    plain: bool,
    spent: Amounts,
    named: frozenset[Unit],
    is_open: bool,
    failed: bool,
) -> Flow[Decision]:
    """Judge an outcome, and settle what it ends; `is_open` says whether its call was known."""
    stage = event.stage
    call, settles, notes = yield from _outcome(desk, event, spent, named)
    if call != event.call:
        event = msgspec.structs.replace(event, call=call)
    notes = (*desk.take_notes(call), *notes)
    done = call if call else event.id
    said = failure_in(event.result) if stage is Stage.TOOL_RESULT else None
    answer: Decision | None = None
    if said is not None:
        answer, _ = yield from taken_in(desk, said, call, event.tool, event.args, settles, notes)
        event, settles, notes = failing(event), (), ()
    elif (
        stage is Stage.TOOL_RESULT
        and is_open
        and event.part <= 1
        and desk.shield.policy.undos
        and not failed
    ):
        remember_reported(desk, event.tool, done, dict(event.args))
    decision = yield from delivered(desk, event, settles, refused, notes, waits=False)
    if stage is Stage.ERROR:
        desk.trouble = trouble_of(event, decision, 0, (), ())
    decision = decision if answer is None else beside(answer, decision)
    if stage is Stage.TOOL_RESULT and decision.action >= STOPS:
        yield from _taken_back(desk, done)
    if stage is Stage.HANDOFF_DONE:
        yield from followed(desk, event, decision)
    return decision if plain else _fitting(decision, event)


def ended(desk: Desk, event: ToolResult, settles: tuple[Settle, ...]) -> Flow[Decision]:
    """Judge a result that is plain data and reports no failure, of a call that is closed."""
    decision = yield from judge(desk, desk.moment(event, settles=settles))
    if decision.action >= STOPS:
        yield from _taken_back(desk, event.call)
    return decision


def _no_field(stage: Stage, name: str) -> BadEvent:
    near = nearest(name, takes(stage))
    meant = f"it takes {', '.join(takes(stage))}" if near is None else f"did you mean `{near}`?"
    return BadEvent(f"`{stage}` has no field `{name}`: {meant}")


class _Reserved:
    """What something reserves that a host is about to begin; a lesser request in its place may
    reserve less."""

    def __init__(self, desk: Desk, event: Event, said: Amounts, named: frozenset[Unit]) -> None:
        self._desk, self._said, self._named = desk, said, named
        self.lent: frozenset[int] = frozenset()
        self.amounts = said
        if desk.measures:
            self.again(event)

    def again(self, event: Event) -> Amounts:
        """What is reserved for this event in the place of the first."""
        desk, said, named = self._desk, self._said, self._named
        if not desk.measures:
            return said
        if isinstance(event, ModelCall):
            self.amounts = estimated(desk, event, said, named)
        elif event.stage in STARTS:
            self.amounts, self.lent = lending(
                desk, event, said, desk.time_left_s(event.tool, None), named
            )
        else:
            self.amounts = reserving(desk, event, said, None, named)
        return self.amounts


def _fitting(decision: Decision, event: Event) -> Decision:
    """A decision whose patches fit what the host has, which is not the plain data that guards were
    shown: the whole of it is replaced, for places in the one are not places in the other."""
    if not decision.patches:
        return decision
    return msgspec.structs.replace(
        decision, patches=(Patch((), decision.patched(content_of(event))),)
    )


def _taken_back(desk: Desk, call: str) -> Flow[None]:
    """Undo a call whose result is refused, once, where it is known how."""
    done = desk.undos.take(call)
    if done is not None:
        yield from undone(desk, done)


def _about(event: Any) -> str:
    """What an outcome that names no call is found by: its tool, or to whom a handoff goes."""
    return handed_to(event.to) if event.stage in HANDOFFS else str(event.tool)


def handed_to(to: str) -> str:
    """What the desk knows a handoff by that is under way."""
    return f"handoff to {to}"


def _event(
    desk: Desk, stage: Stage, form: _Form, fields: dict[str, Any]
) -> tuple[Any, tuple[Finding, ...], bool]:
    """The event that a host reports, what stands against it, and whether its fields were plain
    data."""
    if not fields.keys() >= form.needed:
        missing = [name for name in takes(stage) if name in form.needed and name not in fields]
        raise BadEvent(
            f"`{stage}` needs the field `{missing[0]}`: it takes {', '.join(takes(stage))}"
        )
    try:
        seen = read(fields)
        seen = arrived(seen) if stage is Stage.TOOL_RESULT else seen
    except Unreadable as error:
        raise BadEvent(f"`{stage}` cannot be read: {error}") from None
    data: dict[str, Any] = seen.content
    try:
        typed.convert(data, _typed(form.kind, frozenset(data)))
    except msgspec.ValidationError as error:
        message = str(error)
        raise BadEvent(f"`{stage}`: {message[:1].lower()}{message[1:]}") from None
    if stage is Stage.ERROR:
        data |= _told(desk, data)
    event = desk.event(form.kind, **data)
    if not seen.parts:
        return event, (), seen.plain
    under = ("result",) if stage is Stage.TOOL_RESULT else ()
    return marked(event, seen), against(desk, stage, event.tool, seen, under), seen.plain


def _told(desk: Desk, data: dict[str, Any]) -> dict[str, Any]:
    try:
        return reported(desk.shield.policy, data)
    except ValueError as error:
        raise BadEvent(str(error)) from None


@cache
def _fields(kind: type[Any]) -> dict[str, msgspec.structs.FieldInfo]:
    """The fields of an event by name; asking msgspec costs many times what a decision does."""
    return {field.name: field for field in msgspec.structs.fields(kind)}


@cache
def _typed(kind: Any, names: frozenset[str]) -> type[Any]:
    """A struct with just those fields of an event, to check what was given; made once for each
    combination."""
    return msgspec.defstruct(
        "Fields", [(name, field.type) for name, field in _fields(kind).items() if name in names]
    )


@cache
def takes(stage: Stage) -> tuple[str, ...]:
    """The fields an event of that stage takes, usage included."""
    own = [name for name in _fields(OF_STAGE[stage]) if name not in INNER]
    return (*own, *[name for name in USAGE if name not in own])


class _Form(NamedTuple):
    """What a report of one stage is made of: the event's kind, the fields it takes, and those it
    needs."""

    kind: Any
    taken: frozenset[str]
    needed: frozenset[str]


@cache
def _form(stage: Stage) -> _Form:
    kind = OF_STAGE[stage]
    needed = [name for name, field in _fields(kind).items() if field.required and name not in INNER]
    return _Form(
        kind, frozenset(takes(stage)), frozenset([*needed, "tool"] if stage in NAMED else needed)
    )


def _outcome(
    desk: Desk, event: Any, spent: Amounts, named: frozenset[Unit]
) -> Flow[tuple[str, tuple[Settle, ...], tuple[str, ...]]]:
    """The call an outcome belongs to, how it is settled, and what it used beyond its estimate.

    What was really used beats the estimate, measure by measure; what nobody had estimated is
    counted now, whatever it exceeds.
    """
    about = "" if event.call else _about(event)
    call, known = desk.closed(event.call, about, getattr(event, "args", {}))
    held = known is not None and known.held
    reserved, used = used_of(desk, known, spent, named)
    # A call that is named and not open any more was settled before.
    counts = desk.measures and (known is not None or not event.call)
    more = unforeseen(desk, reserved, used) if counts else NOTHING
    if more != NOTHING:
        yield from book(desk, start_of(desk, event), more)
    return (
        call,
        ((call, used),) if held else (),
        overruns(reserved, used) if any(reserved[1:]) else (),
    )


def used_of(
    desk: Desk,
    known: OpenedCall | None,
    spent: Amounts = JUST_ONE,
    named: frozenset[Unit] = NOBODY_SAID,
) -> tuple[Amounts, Amounts]:
    """What a call has reserved, and what it used as far as anybody says."""
    reserved = known.spent if known is not None and known.held else NOTHING
    used: Amounts = (1, *reserved[1:])
    if named or (known is not None and known.lent):
        used = _said(reserved, spent, named, frozenset() if known is None else known.lent)
    if desk.measures and known is not None and not known.adopted and Unit.DURATION_MS not in named:
        used = used_by(desk, used, known.at)
    return reserved, used


def _said(
    reserved: Amounts, spent: Amounts, named: frozenset[Unit], lent: frozenset[int]
) -> Amounts:
    """What was used as far as a host says it: what was only lent goes back where it says nothing,
    but for the time."""
    used = [0 if unit in lent and unit != Unit.DURATION_MS else reserved[unit] for unit in Unit]
    _, tokens, cost, api_calls, working = [
        spent[unit] if unit in named else used[unit] for unit in Unit
    ]
    return (1, tokens, cost, api_calls, working)


def _known(desk: Desk, event: Any, spent: Amounts, named: frozenset[Unit]) -> Flow[Decision]:
    """A cost that has become known: it settles its call, or is counted whatever it exceeds; then it
    is judged."""
    settles: tuple[Settle, ...] = ()
    notes: tuple[str, ...] = ()
    if event.call:
        _, settles, notes = yield from _outcome(desk, event, spent, named)
    else:
        yield from book(desk, event, (0, *spent[1:]))
    return (yield from judge(desk, desk.moment(event, NOTHING, settles), notes))


def _taken(desk: Desk, tool: str, args: dict[str, Any]) -> tuple[Read, tuple[Finding, ...]]:
    """A host's arguments as they are now, and what stands against them."""
    try:
        took = arguments(args, copies=False)
    except Unreadable as error:
        return Read({}, args), unreadable(error)
    return took, against(desk, Stage.TOOL_CALL, tool, took) if took.parts else ()


def _no_call(tool: object, args: object) -> BadEvent:
    """What is wrong with a call that is no name and mapping; says nothing of what is in them."""
    part, given = ("arguments", args) if type(tool) is str else ("name", tool)
    kind = type.__dict__["__name__"].__get__(type(given))
    how = ': give the name, as in `run.check("search", {"q": "tea"})`' if part == "name" else ""
    verb = "is" if part == "name" else "are"
    wrong = f"the {part} {verb} of the type `{kind}`{how}"
    return BadEvent(
        f"`tool_call` takes the tool's name and its arguments as a mapping, and {wrong}"
    )


def _called(desk: Desk, tool: str, took: Read, spent: Amounts) -> ToolCall:
    call = desk.tool_call(tool, took.content)
    if took.parts:
        call = marked(call, took)
    if spent[Unit.DURATION_MS]:
        call = msgspec.structs.replace(call, duration_ms=spent[Unit.DURATION_MS])
    return call


def check(
    desk: Desk,
    tool: str,
    args: dict[str, Any],
    spent: Amounts,
    named: frozenset[Unit] = frozenset(),
    made: tuple[Read, ToolCall] | None = None,
) -> Flow[Decision]:
    """Judge a tool call that a host runs itself; `made` are its arguments and its event, where they
    were made before."""
    if type(tool) is not str or (type(args) is not dict and not descends(type(args), dict)):
        raise _no_call(tool, args)
    took, refused = _taken(desk, tool, args) if made is None else (made[0], ())
    lent: frozenset[int] = frozenset()
    while True:
        call = _called(desk, tool, took, spent) if made is None else made[1]
        made = None
        reserved = spent
        if desk.measures:
            reserved, lent = lending(desk, call, spent, desk.time_left_s(tool, None), named)
        decision, event = yield from assess(desk, call, reserved, refused)
        if event.id == call.id or decision.action > PROCEEDS:
            break
        # It has waited. What the host would run now may be something else than what was asked.
        was, (took, refused) = took, _taken(desk, tool, args)
        if took.content == was.content:
            break
        abandoned(desk, decision.id)
        yield from desk.shield.unsettled.carry()
    if decision.action <= PROCEEDS and desk.allowed.lapsed(decision):
        decision = yield from lapsed(desk, decision, event, reserved)
    if decision.action <= PROCEEDS:
        desk.opened(
            decision,
            tool,
            event.args if isinstance(event, ToolCall) else took.content,
            reserved,
            lent,
        )
    return decision if took.plain else _fitting(decision, call)
