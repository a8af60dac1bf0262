"""The straight way of a quiet call and of its result: from what a host says to the decision without
a flow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any

from stanchion.kernel.actions import PROCEEDS
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ToolCall, ToolResult
from stanchion.kernel.state import Settle
from stanchion.kernel.units import JUST_ONE, NOTHING
from stanchion.runtime.calling import reports
from stanchion.runtime.deciding.assess import lapsed
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.quiet import Carry, QuietPassage, lane_of
from stanchion.runtime.deciding.reported import failure_in
from stanchion.runtime.deciding.spend import overruns, unforeseen
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.values import Read, Unreadable, arguments, read

Straight = Decision | Flow[Decision]
"""A decision, or the flow that leads to one."""


def call(desk: Desk, carry: Carry, tool: str, args: dict[str, Any]) -> Straight | None:
    """Decide a call that may be quiet; gives the flow by which it goes on where it is not, and
    `None` where the engine has to be asked from the beginning."""
    shield = desk.shield
    at = shield.clock()
    lane = lane_of(desk, ToolCall, tool, at)
    took = None if lane is None or type(args) is not dict else _plain(_arguments, args)
    if lane is None or took is None:
        return None
    event = ToolCall(
        id=desk.new_id(), at=at, run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, args=took.content,
    )  # fmt: skip
    begun_ns, awake_ns = perf_counter_ns(), shield.awake_ns()
    going = QuietPassage(desk, lane, event, lane.amounts, (), begun_ns, took.chars)
    try:
        decision = going.decide(carry)
        if going.lost is not None:
            return _opened(going, lane.lent)
        if decision is None:
            return going.on(reports.check(desk, tool, args, JUST_ONE, made=(took, event)))
        if shield.awake_ns() >= awake_ns + lane.kept_ns:
            return lapsed(desk, decision, event, lane.amounts)
        desk.opened(decision, tool, event.args, lane.amounts, lane.lent)
        return decision
    except BaseException as error:  # noqa: BLE001 - it is raised again behind what was taken
        return going.left(error)


def outcome(
    desk: Desk, carry: Carry, tool: str, args: dict[str, Any], result: Any, call: str | None = None
) -> Straight | None:
    """Decide the result of an open call that may be quiet; gives the flow by which it goes on where
    it is not, and `None` where the engine has to be asked from the beginning."""
    at = desk.shield.clock()
    lane = lane_of(desk, ToolResult, tool, at)
    took = None if lane is None or type(args) is not dict else _plain(_arguments, args)
    given = None if took is None else _plain(read, result)
    if lane is None or took is None or given is None or failure_in(given.content) is not None:
        return None
    name, known = desk.found_open(call, tool, took.content)
    reserved, used = reports.used_of(desk, known)
    more = desk.measures and unforeseen(desk, reserved, used) != NOTHING
    if known is None or more or overruns(reserved, used) or not desk.close_call(name):
        return None
    settles: tuple[Settle, ...] = ((name, used),) if known.held else ()
    event = ToolResult(
        id=desk.new_id(), at=at, run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, call=name, args=took.content, result=given.content,
    )  # fmt: skip
    chars = took.chars + given.chars if min(took.chars, given.chars) >= 0 else -1
    going = QuietPassage(desk, lane, event, JUST_ONE, settles, perf_counter_ns(), chars)
    try:
        decision = going.decide(carry)
        if decision is not None:
            return decision
        if going.lost is not None:
            return going.unwritten()
        return going.on(reports.ended(desk, event, settles))
    except BaseException as error:  # noqa: BLE001 - it is raised again behind what was owed
        return going.left(error)


def _opened(going: QuietPassage, lent: frozenset[int]) -> Flow[Decision]:
    """A call whose record could not be written, which goes ahead where a policy only watches."""
    decision = yield from going.unwritten()
    if decision.action <= PROCEEDS:
        event = going.event
        going.desk.opened(decision, event.tool, event.args, going.amounts, lent)
    return decision


_arguments = partial(arguments, copies=False)


def _plain(reading: Callable[[Any], Read], value: Any) -> Read | None:
    """What was plain data, all of it readable; `None` where it was not."""
    try:
        took = reading(value)
    except Unreadable:
        return None
    return took if took.plain and not took.unread else None
