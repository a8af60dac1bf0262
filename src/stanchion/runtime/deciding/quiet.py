"""Quiet events: by which lane they are decided without a flow, and how one passes.

Whatever is not quiet goes the engine's way with the event as it is, and with the store's reply
where that has come: nothing is asked for twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, Final

import msgspec

from stanchion.audit.apart import Template, template_of
from stanchion.audit.errors import AuditLost
from stanchion.audit.record import INTENT, KINDS, OUTCOME
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import Plan, Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Failure, Moment, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.sizes import LONG, exceeds
from stanchion.kernel.state import Batch, Reply, Settle
from stanchion.kernel.states import NORMAL
from stanchion.kernel.straight import Judged, Prepared, conclude, prepare
from stanchion.kernel.units import JUST_ONE, Amounts, Unit
from stanchion.policy.veil import NAMED, Veil, named_by_host
from stanchion.runtime.deciding.aftermath import aftermath, owe
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.judging import AGAIN, assess, judge
from stanchion.runtime.deciding.left import cut_off
from stanchion.runtime.deciding.record import MAX_CACHED, WAITS, confirmed, taken
from stanchion.runtime.deciding.spend import lending
from stanchion.runtime.deciding.start import begins_within_ns
from stanchion.runtime.deciding.under_way import STARTS, CallWay
from stanchion.runtime.driving.flow import Flow, T, as_lost, resumed
from stanchion.telemetry.sinks import Tally

Carry = Callable[[Batch], Reply | None]
"""Carries a batch out; `None` where it would have to be waited for."""

MOST: Final = 1_024
"""How many lanes a run has; an agent can invent names of tools."""


UNKNOWN: Final[Any] = object()
"""What stands for a lane of which it is not known yet whether there is one."""


class QuietLane(msgspec.Struct, eq=False):
    """By which plan events are judged straight, and what the policy says of their tool."""

    plans: Plans
    plan: Plan
    risk: Risk
    traits: tuple[str, ...]
    amounts: Amounts
    lent: frozenset[Unit]
    """What each call reserves, and what of that goes back where nobody says that it was used."""
    template: Template
    """The bytes of its records that are known before."""
    kept_ns: int
    """How long after its judgement a call may begin."""
    tally: Tally | None = None
    """What counts its decisions, from the first one on."""


def lane_of(desk: Desk, kind: type[Any], tool: str, at: int) -> QuietLane | None:
    """The lane of a kind of events about a tool at a time; `None` where these are not decided
    straight, or something stands by which none is now."""
    shield = desk.shield
    if desk.is_late or shield.journal.trouble or shield.unsettled.waiting or type(tool) is not str:
        return None
    lanes = desk.lanes
    key = (kind, tool)
    lane: QuietLane | None = lanes.get(key, UNKNOWN)
    if lane is UNKNOWN or (
        lane is not None
        and (lane.plans.policy is not shield.policy or lane.plan.run.may is not lane.plans.run.may)
    ):
        lane = _opened(desk, desk.plans, kind, tool)
    if lane is None:
        return None
    memory = shield.memory
    if (memory is not None and memory.is_due(at)) or not lane.plan.since <= at < lane.plan.until:
        lanes.pop(key, None)
        return None
    return lane


def _opened(desk: Desk, plans: Plans, kind: type[Any], tool: str) -> QuietLane | None:
    """Open the lane of a tool, where its policy and its names let its events go straight."""
    policy: Any = plans.policy
    risk, traits, *_ = desk.known(plans, tool)
    given = {name: "" for name in ("text", "url", "to") if name in kind.__struct_fields__}
    probe = kind(
        id="", at=desk.shield.clock(), run=plans.run, tool=tool, risk=risk, traits=traits, **given
    )
    spent: tuple[Amounts, frozenset[Unit]] = (JUST_ONE, frozenset())
    if kind is ToolCall and desk.measures:
        spent = lending(desk, probe, JUST_ONE, desk.time_left_s(tool, None))
    veil: Veil = policy.veil
    straight = not (
        policy.contextual
        or plans.shares
        or plans.clock is not None
        or (risk >= WAITS if KINDS[probe.stage] == INTENT else policy.learns or policy.undos)
        or veil.of(probe)
        or desk.charges(probe, spent[0])
    )
    lane = None
    if straight:
        plan, kept_ns = plans.of((probe,), NORMAL), begins_within_ns(desk.shield.policy)
        with suppress(UnicodeEncodeError):  # names of which no bytes can be made are spelled out
            template = template_of(probe, plan.policy, plan.passes, plans.limited, spent[0])
            lane = QuietLane(plans, plan, risk, traits, *spent, template, kept_ns)
    if len(desk.lanes) >= MOST:
        desk.lanes.clear()
    desk.lanes[kind, tool] = lane
    return lane


class QuietPassage(msgspec.Struct, eq=False, gc=False):
    """An event on its straight way: by which lane, what it settles, since when, and what has come
    of it so far."""

    desk: Desk
    lane: QuietLane
    event: Any
    amounts: Amounts
    settles: tuple[Settle, ...]
    begun_ns: int
    chars: int = -1
    moment: Any = None
    judged: Judged | None = None
    reply: Any = None
    decision: Decision | None = None
    lost: AuditLost | None = None

    def decide(self, carry: Carry) -> Decision | None:
        """Judge the event, have its batch carried out and write down what is decided; `None` where
        it is not quiet, or long, or somebody is at the store."""
        lane, event, desk = self.lane, self.event, self.desk
        plans, plan, shield = lane.plans, lane.plan, desk.shield
        if not 0 <= self.chars <= LONG and exceeds(event, LONG):
            return None
        policy: Any = plans.policy
        about, readings = ((event,), self.amounts, self.settles), (policy.read(event),)
        moment = Moment(*about, readings=readings, template=lane.template)
        self.moment = moment = moment if policy.recalls is None else desk.carrying(moment)
        found = prepare(plans, plan, moment, shield.records, desk.answer_at_once)
        if not isinstance(found, Prepared):
            self.judged = found
            return None
        self.judged = (plan, [], plan.end, found.answers)
        reply = None
        if found.batch is not None:
            try:
                self.reply = reply = carry(found.batch)
            except Exception as error:  # noqa: BLE001 - the engine says what follows from it
                self.reply = as_lost(found.batch, error)
            if reply is None or AGAIN in reply.settled:
                return None
        decision = conclude(plans, plan, moment, found, reply, shield.records)
        if decision is None:
            return None
        self.decision = decision
        took_ns = perf_counter_ns() - self.begun_ns
        ends = event.call if KINDS[event.stage] == OUTCOME else ""
        mark = taken(desk, event.run, (moment, decision, took_ns, (), ()), ends)
        if not isinstance(mark, int):
            self.lost = mark
            return None
        if policy.recalls is not None:
            desk.learn(moment, decision)
        next(desk.decided[Action.ALLOW])
        if lane.tally is None:
            lane.tally = shield.telemetry.tally(event, decision)
        shield.telemetry.decided(event, decision, took_ns, lane.tally)
        if len(shield.records) > MAX_CACHED:
            shield.records.clear()
        return decision

    def on(self, engine: Flow[T]) -> Flow[T]:
        """The engine's flow, by which something goes on that is not quiet."""
        self.desk.judged = None if self.moment is None else (self.moment, self.judged)
        return engine if self.reply is None else resumed(engine, self.event.id, self.reply)

    def left(self, error: BaseException) -> Flow[Decision]:
        """Leave the event, whose caller was cut off, with what it may have taken or was to give
        back; then raise what struck."""
        if type(self.event) is ToolCall:
            way = CallWay()
            self.desk.under_way.enter(way, self.event, self.amounts).decision = self.decision
            yield from cut_off(self.desk, way, error)
        elif self.reply is None:
            owe(self.desk, Moment((self.event,), settles=self.settles))
        raise error

    def unwritten(self) -> Flow[Decision]:
        """Go on with a decision whose record could not be written."""
        assert self.decision is not None
        assert self.lost is not None
        decision = yield from confirmed(self.desk, self.event, self.decision, self.lost)
        if self.desk.shield.policy.recalls is not None:
            self.desk.learn(self.moment, decision)
        if decision.findings:
            yield from aftermath(self.desk, self.event, decision)
        return decision


def _passage(
    desk: Desk, event: Any, amounts: Amounts, settles: tuple[Settle, ...] = ()
) -> QuietPassage | None:
    """How an event passes that the runtime has made; `None` where the engine judges it."""
    lane = None
    if desk.at_once is not None and type(event) is not Failure:
        lane = lane_of(desk, type(event), event.tool, event.at)
    if lane is None or amounts != lane.amounts:
        return None
    if (event.run, event.risk, event.traits) != (lane.plans.run, lane.risk, lane.traits):
        return None
    policy: Any = lane.plans.policy
    if (event.stage in NAMED or named_by_host(event)) and policy.veil.of(event):
        return None
    return QuietPassage(desk, lane, event, amounts, settles, perf_counter_ns())


def assessed(
    desk: Desk,
    event: Event,
    reserved: Amounts,
    refused: tuple[Finding, ...],
    way: CallWay,
    waits: bool = False,
    reprice: Callable[[Event], Amounts] | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Judge an action until it is clear whether it starts, as `assess` does: straight where it is
    quiet."""
    going = None if refused or event.call else _passage(desk, event, reserved)
    if going is None:
        return (yield from assess(desk, event, reserved, refused, (), waits, reprice, way))
    awake_ns, way.waited = desk.shield.awake_ns(), False
    started = desk.under_way.enter(way, event, reserved)
    try:
        decision = going.decide(desk.at_once)
    except BaseException as error:
        started.decision = going.decision
        yield from cut_off(desk, way, error)
        raise
    started.decision = going.decision
    if decision is None:
        if going.lost is None:
            engine = assess(desk, event, reserved, (), (), waits, reprice, way)
            return (yield from going.on(engine))
        decision = yield from going.unwritten()
    if decision.proceeds:
        desk.allowed.enter(decision, awake_ns)
    if not decision.proceeds or event.stage not in STARTS:
        desk.under_way.over(event.id)
    return decision, event


def delivered(
    desk: Desk,
    event: Any,
    settles: tuple[Settle, ...],
    refused: tuple[Finding, ...],
    notes: tuple[str, ...],
    waits: bool = True,
) -> Flow[Decision]:
    """Judge what came of a call: straight where it is quiet."""
    quiet = not (refused or notes or (type(event) is ToolResult and event.part))
    going = _passage(desk, event, JUST_ONE, settles) if quiet else None
    if going is None:
        moment = desk.moment(event, settles=settles, refused=refused)
        return (yield from judge(desk, moment, notes, waits=waits))
    try:
        decision = going.decide(desk.at_once)
    except BaseException as error:
        yield from going.left(error)
        raise
    if decision is not None:
        return decision
    if going.lost is not None:
        return (yield from going.unwritten())
    return (yield from going.on(_engine(desk, event, settles, waits)))


def _engine(desk: Desk, event: Any, settles: tuple[Settle, ...], waits: bool) -> Flow[Decision]:
    return (yield from judge(desk, desk.moment(event, settles=settles), waits=waits))
