"""The beginning of a tool call: judged, its arguments as they go ahead, and what it has
reserved."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.runtime.calling.ledger import LedgerPage
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import CLOSED_HERE
from stanchion.runtime.deciding.quiet import assessed
from stanchion.runtime.deciding.spend import reserving, used_by
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.deciding.unreadable_content import against, marked, unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.values import Read, Unreadable, arguments


class BegunCall(msgspec.Struct, eq=False):
    """A tool call as it goes ahead: its decision, event and arguments, what it has reserved, its
    page in the ledger where it happens once, and what was tried before."""

    desk: Desk
    tool: Tool
    decision: Decision
    event: ToolCall
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    reserved: Amounts
    page: LedgerPage | None = None
    began_ms: int = 0
    attempt: int = 1
    tried: tuple[str, ...] = ()
    error: Exception | None = None
    """What it failed with, where it is tried again and the error may be handed on."""

    def mark(self, state: str, kept: bool = False) -> Flow[None]:
        """Write into the ledger what has become of it."""
        if self.page is not None:
            yield from self.page.mark(self.desk, state, kept=kept)

    def used(self) -> Amounts:
        """What it has used by now."""
        return used_by(self.desk, self.reserved, self.began_ms)


class ProposedCall(NamedTuple):
    """A call that is to be judged: its event, arguments as they were taken, what stands against it,
    and what it reserves."""

    event: ToolCall
    took: Read
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    refused: tuple[Finding, ...]
    reserved: Amounts

    def begun(self, desk: Desk, tool: Tool, decision: Decision, event: Any) -> BegunCall:
        """It goes ahead, with its arguments patched."""
        args, kwargs = self.args, self.kwargs
        if decision.patches:
            args, kwargs = tool.patched(args, kwargs, self.took.content, event.args)
        return BegunCall(desk, tool, decision, event, args, kwargs, self.reserved)


def propose(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], failed: str
) -> ProposedCall:
    """Take the arguments of a call; `failed` is the call that is tried again by it."""
    values = tool.values(args, kwargs)
    try:
        took = arguments(values, tool.own(values))
        refused = against(desk, Stage.TOOL_CALL, tool.name, took) if took.parts else ()
    except Unreadable as error:
        took, refused = Read({}, values), unreadable(error)
    args, kwargs = tool.given(args, kwargs, values, took.handed)
    event: Any = marked(desk.tool_call(tool.name, took.content, tool.declared), took)
    if failed:
        event = msgspec.structs.replace(event, call=failed)
    reserved, named = tool.spends
    if desk.measures:
        limit_s = desk.time_left_s(tool.name, tool.timeout_s)
        reserved = reserving(desk, event, reserved, limit_s, named)
    return ProposedCall(event, took, args, kwargs, refused, reserved)


def begin(
    desk: Desk,
    tool: Tool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    way: CallWay,
    failed: str = "",
) -> Flow[BegunCall]:
    """Judge a call and give it back as it goes ahead.

    `failed` is the call that is tried again by this one. Whoever is cut off leaves it by its `way`.
    """
    one = propose(desk, tool, args, kwargs, failed)
    decision, goes_on = yield from assessed(
        desk, one.event, one.reserved, one.refused, way, waits=True
    )
    if not decision.proceeds:
        raise desk.refusal(decision)
    return one.begun(desk, tool, decision, goes_on)


def begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Say that a call begins; raises `Refused` where its run was closed just before."""
    if not desk.under_way.begin(decision.id, event):
        ended = CLOSED_HERE if desk.ended is None else desk.ended
        finding = Finding(Action.HALT, ended.code, (ended.why,), ended.text, guard="kernel")
        raise desk.refusal(Decision(decision.id, Action.HALT, decision.policy, (finding,)))
