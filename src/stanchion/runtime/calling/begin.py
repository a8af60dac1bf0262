"""The beginning of a tool call: judged, its arguments as they go ahead, and what it has
reserved."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import CLOSED_HERE
from stanchion.runtime.deciding.quiet import assessed
from stanchion.runtime.deciding.spend import reserving
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.deciding.unread import against, marked, unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.values import Read, Unreadable, arguments


def asked(desk: Desk, tool: Tool, values: dict[str, Any]) -> tuple[Read, tuple[Finding, ...]]:
    """The arguments of a call as they were taken, and what stands against them."""
    try:
        took = arguments(values, tool.own(values))
    except Unreadable as error:
        return Read({}, values), unreadable(error)
    return took, against(desk, Stage.TOOL_CALL, tool.name, took) if took.unread else ()


def begin(
    desk: Desk,
    tool: Tool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    way: CallWay,
    failed: str = "",
) -> Flow[tuple[Decision, ToolCall, tuple[Any, ...], dict[str, Any], Amounts]]:
    """Judge a call and give it back as it goes ahead: event and arguments patched, and what it has
    reserved.

    `failed` is the call that is tried again by this one. Whoever is cut off leaves it by its `way`.
    """
    values = tool.values(args, kwargs)
    took, refused = asked(desk, tool, values)
    args, kwargs = tool.given(args, kwargs, values, took.handed)
    event: Any = marked(desk.tool_call(tool.name, took.content, tool.declared), took)
    if failed:
        event = msgspec.structs.replace(event, call=failed)
    reserved, named = tool.spends
    if desk.measures:
        reserved = reserving(
            desk, event, reserved, desk.time_left_s(tool.name, tool.timeout_s), named
        )
    decision, event = yield from assessed(desk, event, reserved, refused, way, waits=True)
    if not decision.proceeds:
        raise desk.refusal(decision)
    if decision.patches:
        args, kwargs = tool.patched(args, kwargs, took.content, event.args)
    return decision, event, args, kwargs, reserved


def begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Say that a call begins; raises `Refused` where its run was closed just before."""
    if not desk.under_way.begin(decision.id, event):
        ended = CLOSED_HERE if desk.ended is None else desk.ended
        finding = Finding(Action.HALT, ended.code, (ended.why,), ended.text, guard="kernel")
        raise desk.refusal(Decision(decision.id, Action.HALT, decision.policy, (finding,)))
