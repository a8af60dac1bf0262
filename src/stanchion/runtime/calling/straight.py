"""The straight way of a quiet call and of its result: from what a host says to the decision without
a flow.

Whatever is not quiet goes the engine's way with the event as it is, and with the store's reply
where that has come: nothing is asked for twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.kernel.actions import PROCEEDS, Action, Risk
from stanchion.kernel.chain import Plan, Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment, ToolCall, ToolResult
from stanchion.kernel.sizes import LONG, exceeds
from stanchion.kernel.state import Batch, Reply, Settle
from stanchion.kernel.states import NORMAL
from stanchion.kernel.straight import Judged, Prepared, conclude, prepare
from stanchion.kernel.units import JUST_ONE, NOTHING, Amounts, Unit
from stanchion.policy.veil import Veil
from stanchion.runtime.calling import reports
from stanchion.runtime.deciding.aftermath import aftermath, owe
from stanchion.runtime.deciding.assess import lapsed
from stanchion.runtime.deciding.course import AGAIN
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import cut_off
from stanchion.runtime.deciding.record import MAX_CACHED, WAITS, confirmed, taken
from stanchion.runtime.deciding.reported import failure_in
from stanchion.runtime.deciding.spend import lending, overruns, unforeseen
from stanchion.runtime.deciding.under_way import Way
from stanchion.runtime.driving.flow import Flow, resumed
from stanchion.runtime.values import Read, Unreadable, arguments, read

MOST: Final = 1_024
"""How many lanes a run has; an agent can invent names of tools."""


class QuietLane(msgspec.Struct, eq=False):
    """By which plan events are judged straight, and what the policy says of their tool."""

    plans: Plans
    plan: Plan
    risk: Risk
    traits: tuple[str, ...]
    amounts: Amounts
    lent: frozenset[Unit]
    """What each call reserves, and what of that goes back where nobody says that it was used."""


def lane_of(desk: Desk, kind: type[Any], tool: str) -> QuietLane | None:
    """The lane of a kind of events about a tool; `None` where these are not decided straight, or
    something stands by which none is now."""
    shield, plans = desk.shield, desk.plans
    if desk.is_late or shield.journal.trouble or shield.unsettled.waiting:
        return None
    lanes = desk.lanes
    key = (kind, tool)
    lane = lanes[key] if key in lanes else _opened(desk, plans, kind, tool)
    if lane is None or lane.plans is not plans:
        return None
    at = shield.clock()
    memory = shield.memory
    if (memory is not None and memory.is_due(at)) or not lane.plan.since <= at < lane.plan.until:
        lanes.pop(key, None)
        return None
    return lane


def _opened(desk: Desk, plans: Plans, kind: type[Any], tool: str) -> QuietLane | None:
    """Open the lane of a tool, where its policy and its names let its events go straight."""
    policy: Any = plans.policy
    risk, traits = desk.tool_facts(plans, tool)
    probe = kind(id="", at=desk.shield.clock(), run=plans.run, tool=tool, risk=risk, traits=traits)
    spent: tuple[Amounts, frozenset[Unit]] = (JUST_ONE, frozenset())
    if kind is ToolCall and desk.measures:
        spent = lending(desk, probe, JUST_ONE, desk.time_left_s(tool, None))
    veil: Veil = policy.veil
    straight = not (
        policy.recalls is not None
        or policy.contextual
        or plans.shares
        or plans.clock is not None
        or (risk >= WAITS if kind is ToolCall else policy.learns or policy.undos)
        or veil.of(probe)
        or desk.charges(probe, spent[0])
    )
    lane = QuietLane(plans, plans.of((probe,), NORMAL), risk, traits, *spent) if straight else None
    if len(desk.lanes) >= MOST:
        desk.lanes.clear()
    desk.lanes[kind, tool] = lane
    return lane


class QuietPassage(msgspec.Struct, eq=False, gc=False):
    """An event on its straight way: by which lane, what it settles, since when, and what has come
    of it so far. `engine` makes the flow by which the engine goes on with it."""

    desk: Desk
    lane: QuietLane
    event: Any
    amounts: Amounts
    settles: tuple[Settle, ...]
    begun_ns: int
    awake_ns: int
    engine: Callable[[], Flow[Decision]]
    reading: Any = None
    judged: Judged | None = None
    prepared: Prepared | None = None
    reply: Any = None
    decision: Decision | None = None

    def prepare(self) -> Batch | None:
        """Judge the event up to its batch; there is none where it is not quiet, or long, or where
        nothing is left for the store."""
        lane, event = self.lane, self.event
        if exceeds(event, LONG):
            return None
        self.reading = reading = lane.plans.policy.read(event)
        records = self.desk.shield.records
        found = prepare(lane.plans, lane.plan, event, reading, records, self.amounts, self.settles)
        if isinstance(found, Prepared):
            self.prepared, self.judged = found, (lane.plan, [], lane.plan.end)
            return found.batch
        self.judged = found
        return None

    def decide(self) -> Flow[Decision] | None:
        """Decide the event by the store's reply, and write that down; gives the flow by which it
        goes on where that is not all."""
        lane, event, reply, desk = self.lane, self.event, self.reply, self.desk
        shield = desk.shield
        if self.prepared is None or not (reply is None or type(reply) is Reply):
            return self._by_engine()
        if reply is not None and reply.settled and AGAIN in reply.settled:
            return self._by_engine()
        decision = conclude(lane.plans, lane.plan, event, self.prepared, reply, shield.records)
        if decision is None:
            return self._by_engine()
        self.decision = decision
        moment = Moment((event,), self.amounts, self.settles, readings=(self.reading,))
        took_ns = perf_counter_ns() - self.begun_ns
        mark = taken(desk, event.run, (moment, decision, took_ns, (), ()), event.call)
        if not isinstance(mark, int):
            return self._unwritten(decision, mark)
        next(desk.decided[Action.ALLOW])
        shield.telemetry.decided(event, decision, took_ns)
        if len(shield.records) > MAX_CACHED:
            shield.records.clear()
        if type(event) is not ToolCall:
            return None
        desk.allowed.enter(decision, self.awake_ns)
        if desk.allowed.lapsed(decision):
            return lapsed(desk, decision, event, self.amounts)
        desk.opened(decision, event.tool, event.args, self.amounts, lane.lent)
        return None

    def left(self, error: BaseException) -> Flow[None]:
        """Leave the event, whose caller was cut off, with what it may have taken or was to give
        back."""
        if type(self.event) is ToolCall:
            way = Way()
            self.desk.under_way.enter(way, self.event, self.amounts).decision = self.decision
            yield from cut_off(self.desk, way, error)
        elif self.reply is None:
            owe(self.desk, Moment((self.event,), settles=self.settles))

    def _unwritten(self, decision: Decision, lost: AuditLost) -> Flow[Decision]:
        """Go on with a decision whose record could not be written."""
        desk, event = self.desk, self.event
        decision = yield from confirmed(desk, event, decision, lost)
        if decision.findings:
            yield from aftermath(desk, event, decision)
        if type(event) is ToolCall and decision.action <= PROCEEDS:
            desk.opened(decision, event.tool, event.args, self.amounts, self.lane.lent)
        return decision

    def _by_engine(self) -> Flow[Decision]:
        self.desk.judged = None if self.reading is None else (self.reading, self.judged)
        flow = self.engine()
        return flow if self.reply is None else resumed(flow, self.event.id, self.reply)


def call(desk: Desk, tool: str, args: dict[str, Any]) -> QuietPassage | None:
    """A call that may be quiet; `None` where the engine has to be asked from the beginning."""
    lane, took = _lane(desk, ToolCall, tool, args)
    if lane is None or took is None:
        return None
    begun_ns, shield = perf_counter_ns(), desk.shield
    event = ToolCall(
        id=desk.new_id(), at=shield.clock(), run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, args=took.content,
    )  # fmt: skip

    def engine() -> Flow[Decision]:
        return reports.check(desk, tool, args, JUST_ONE, made=(took, event))

    return QuietPassage(desk, lane, event, lane.amounts, (), begun_ns, shield.awake_ns(), engine)


def outcome(
    desk: Desk, tool: str, args: dict[str, Any], result: Any, call: str | None = None
) -> QuietPassage | None:
    """The result of an open call that may be quiet; `None` where the engine has to be asked from
    the beginning."""
    lane, took = _lane(desk, ToolResult, tool, args)
    given = None if lane is None else _plain(read, result)
    if lane is None or took is None or given is None or failure_in(given.content) is not None:
        return None
    name, known = desk.found_open(call, tool, took.content)
    reserved, used = reports.used_of(desk, known)
    more = desk.measures and unforeseen(desk, reserved, used) != NOTHING
    if known is None or more or overruns(reserved, used) or not desk.close_call(name):
        return None
    settles: tuple[Settle, ...] = ((name, used),) if known.held else ()
    begun_ns, shield = perf_counter_ns(), desk.shield
    event = ToolResult(
        id=desk.new_id(), at=shield.clock(), run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, call=name, args=took.content, result=given.content,
    )  # fmt: skip
    return QuietPassage(
        desk, lane, event, JUST_ONE, settles, begun_ns, 0,
        lambda: reports.ended(desk, event, settles),
    )  # fmt: skip


def _lane(
    desk: Desk, kind: type[Any], tool: str, args: dict[str, Any]
) -> tuple[QuietLane | None, Read | None]:
    """By which lane what a host tells goes, and its arguments; nothing where it goes by none."""
    is_call = type(tool) is str and type(args) is dict
    lane = lane_of(desk, kind, tool) if is_call else None
    return lane, None if lane is None else _plain(_arguments, args)


_arguments = partial(arguments, copies=False)


def _plain(reading: Callable[[Any], Read], value: Any) -> Read | None:
    """What was plain data, all of it readable; `None` where it was not."""
    try:
        took = reading(value)
    except Unreadable:
        return None
    return took if took.plain and not took.unread else None
