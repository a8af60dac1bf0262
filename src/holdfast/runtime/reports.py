"""Reports of hosts that execute things themselves: an event of any stage, checked, judged, settled."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from holdfast.kernel.decision import Decision
from holdfast.kernel.events import OF_STAGE, Event, ToolCall
from holdfast.kernel.stages import Stage
from holdfast.kernel.state import Settle
from holdfast.kernel.units import JUST_ONE, Amounts, Unit, amounts
from holdfast.runtime.data import Unreadable, project
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow
from holdfast.runtime.flows import assess, judge, shown

STARTS = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
ENDS = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR})
NAMED = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT})
"""Stages that mean nothing without a tool's name; an empty one has to be given as such."""
INNER = frozenset({"id", "at", "run", "risk", "traits", "cost_microusd"})
"""Fields of events that the runtime fills in, not the host."""
USAGE = ("tokens", "cost_usd", "api_calls")


class BadEvent(ValueError):
    """A reported event does not have the fields its stage asks for."""


def spending(usage: dict[str, Any]) -> Amounts:
    """What a host says an action uses."""
    try:
        spent = amounts(**usage)
    except (TypeError, ValueError) as error:
        raise BadEvent(str(error)) from None
    return JUST_ONE if spent == JUST_ONE else spent


def report(desk: Desk, stage: Stage, fields: dict[str, Any]) -> Flow[Decision]:
    """Judge what a host reports. A start is remembered until its outcome is reported, which then settles it."""
    unknown = [name for name in fields if name not in takes(stage)]
    if unknown:
        raise BadEvent(f"`{stage}` has no field `{unknown[0]}`: it takes {', '.join(takes(stage))}")
    usage = {name: fields.pop(name) for name in USAGE if name in fields}
    spent = spending(usage)
    if stage is Stage.CHARGE:
        fields |= {"tokens": spent[Unit.TOKENS], "cost_microusd": spent[Unit.COST_MICROUSD]}
    event: Any = _event(desk, stage, fields)
    if stage in ENDS:
        call, settles = _outcome(desk, event, spent)
        event = msgspec.structs.replace(event, call=call)
        return (yield from judge(desk, desk.moment(event, settles=settles), desk.take_notes(call)))
    decision, judged = yield from assess(desk, event, spent)
    if decision.proceeds and stage in STARTS:
        desk.opened(decision, event.tool, getattr(judged, "args", {}), spent)
    return decision


def _event(desk: Desk, stage: Stage, fields: dict[str, Any]) -> Event:
    kind: Any = OF_STAGE[stage]
    known = _fields(kind)
    needed = [name for name, field in known.items() if field.required and name not in ("id", "at", "run")]
    missing = [name for name in (*(["tool"] if stage in NAMED else []), *needed) if name not in fields]
    if missing:
        raise BadEvent(f"`{stage}` needs the field `{missing[0]}`: it takes {', '.join(takes(stage))}")
    try:
        data = {name: project(value) for name, value in fields.items()}
    except Unreadable as error:
        raise BadEvent(f"`{stage}` cannot be read: {error}") from None
    try:
        msgspec.convert(data, _typed(kind, frozenset(data)))
    except msgspec.ValidationError as error:
        message = str(error)
        raise BadEvent(f"`{stage}`: {message[:1].lower()}{message[1:]}") from None
    event: Event = desk.event(kind, **data)
    return event


@cache
def _fields(kind: type[Any]) -> dict[str, msgspec.structs.FieldInfo]:
    """The fields of an event by name; asking msgspec costs many times what a decision does."""
    return {field.name: field for field in msgspec.structs.fields(kind)}


@cache
def _typed(kind: Any, names: frozenset[str]) -> type[Any]:
    """A struct with just those fields of an event, to check what was given; made once for each combination."""
    return msgspec.defstruct("Fields", [(name, field.type) for name, field in _fields(kind).items() if name in names])


@cache
def takes(stage: Stage) -> tuple[str, ...]:
    """The fields an event of that stage takes, usage included."""
    own = [name for name in _fields(OF_STAGE[stage]) if name not in INNER]
    return (*own, *[name for name in USAGE if name not in own])


def _outcome(desk: Desk, event: Any, spent: Amounts) -> tuple[str, tuple[Settle, ...]]:
    """The call an outcome belongs to and how it is settled: what was really used beats the estimate."""
    call, known = desk.closed(event.call, event.tool, getattr(event, "args", {}))
    if known is None or not known.held:
        return call, ()
    return call, ((call, known.spent if spent is JUST_ONE else spent),)


def check(desk: Desk, tool: str, args: dict[str, Any], spent: Amounts) -> Flow[Decision]:
    """Judge a tool call that a host runs itself: the report that is made most often, by the shortest way."""
    if not isinstance(tool, str) or not isinstance(args, dict):
        raise BadEvent("`tool_call` takes the tool's name and its arguments as a mapping")
    data, refused = shown(args)
    decision, event = yield from assess(desk, desk.tool_call(tool, {} if refused else data), spent, refused)
    if decision.proceeds:
        desk.opened(decision, tool, event.args if isinstance(event, ToolCall) else data, spent)
    return decision
