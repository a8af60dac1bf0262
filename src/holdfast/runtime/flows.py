"""Flows: what happens round an action, written once as generators that both drivers run."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any, Final

import msgspec

from holdfast.kernel.actions import STOPS, Action
from holdfast.kernel.chain import Plans
from holdfast.kernel.content import content_of, with_content
from holdfast.kernel.decision import Decision
from holdfast.kernel.engine import decide
from holdfast.kernel.events import Event, Failure, Moment, ToolCall, ToolResult
from holdfast.kernel.findings import Finding, Isolate, Patch, Retry
from holdfast.kernel.state import Claim
from holdfast.kernel.units import JUST_ONE, Amounts
from holdfast.runtime.data import Unreadable, project
from holdfast.runtime.degrading import lesser
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow
from holdfast.runtime.effects import Invoke
from holdfast.runtime.errors import ToolFailed
from holdfast.runtime.escalating import Granted, ask
from holdfast.runtime.queueing import Line
from holdfast.runtime.recording import barred, confirmed, left, written
from holdfast.runtime.spending import book, close_hold, overruns, reserving, settled, unforeseen, used_by
from holdfast.runtime.standing import end_run, isolate
from holdfast.runtime.terms import terms_of
from holdfast.runtime.tool import Tool
from holdfast.runtime.turns import in_turn

RETRY: Final = Retry()
ISOLATE: Final = Isolate()


def judge(desk: Desk, moment: Moment, notes: tuple[str, ...] = (), plans: Plans | None = None) -> Flow[Decision]:
    """Judge a moment, write the decision down, and carry out what concerns the run as a whole."""
    begun = perf_counter_ns()
    plans = desk.plans if plans is None else plans
    moment = desk.fitted(moment, plans)
    refused = barred(desk, moment) if desk.shield.journal.trouble else None
    if refused is not None:
        return refused
    decision = yield from decided(desk, plans, moment)
    outcome = written(desk, plans, moment, decision, begun, notes)
    if outcome is not None:
        decision = yield from confirmed(desk, decision, outcome)
    if decision.findings:
        yield from _aftermath(desk, moment.events[0], decision)
    return decision


def decided(desk: Desk, plans: Plans, moment: Moment) -> Flow[Decision]:
    """The decision about a moment; where records are written, those who race for one take turns."""
    deciding = decide(plans, moment, desk.shield.records)
    if not moment.claims and not desk.shield.policy.has_records:
        return deciding
    return in_turn(desk.shield.turns, deciding)


def _aftermath(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    for finding in decision.findings:
        if finding.action == Action.WARN:
            desk.notice(event, finding)
    determining = decision.determining
    if decision.action == Action.HALT and determining is not None and determining.guard != "kernel":
        yield from end_run(desk, "kernel.ended", decision.message)
    elif decision.action == Action.QUARANTINE:
        terms = terms_of(decision, ISOLATE)
        whole = terms.what == "agent" or not event.tool
        name = f"agent:{desk.info.agent}" if whole else f"tool:{event.tool}"
        yield from isolate(desk, name, terms.for_ms)


def shown(value: Any) -> tuple[Any, tuple[Finding, ...]]:
    """A value as data; one that cannot be read as a whole is refused as a whole."""
    try:
        return project(value), ()
    except Unreadable as error:
        return None, (Finding(Action.BLOCK, "kernel.bad_event", (str(error),), guard="kernel"),)


def assess(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    claims: tuple[Claim, ...] = (),
    waits: bool = False,
) -> Flow[tuple[Decision, Event]]:
    """Judge an action until it is clear whether it starts: queued ones wait, a lesser one is judged once more, and one
    that a person has to answer for is judged again when one has (`waits`: here and now, otherwise when it is asked for
    again).

    `claims` are records that the action rests on. Returns the decision and the event as it goes ahead, patched.
    """
    line: Line | None = None
    degraded: Decision | None = None
    granted: Granted | None = None
    while True:
        begun = perf_counter_ns()
        plans = desk.plans
        rests = claims if granted is None else (*claims, granted.claim)
        ticket = "" if granted is None else granted.ticket
        moment = desk.moment(event, spent, (), 1 if degraded is None else 2, refused, rests, ticket)
        moment = desk.fitted(moment, plans)
        event = moment.events[0]
        barrier = barred(desk, moment) if desk.shield.journal.trouble else None
        if barrier is not None:
            return barrier, event
        decision = yield from decided(desk, plans, moment)
        outcome = written(desk, plans, moment, decision, begun)
        if outcome is not None:
            decision = yield from confirmed(desk, decision, outcome)
        if not decision.findings and degraded is None:
            return decision, event
        yield from _aftermath(desk, event, decision)
        if decision.action == Action.QUEUE:
            line = Line() if line is None else line
            again = yield from line.wait(desk, event, decision)
            if again is None:
                return decision, event
            event = again
            continue
        if decision.action == Action.ESCALATE and granted is None:
            granted = yield from ask(desk, event, decision, waits)
            if granted is None:
                return decision, event
            event = desk.renewed(event)
            continue
        if decision.patches:
            event = with_content(event, decision.patched(content_of(event)))
        if decision.action == Action.DEGRADE and degraded is None:
            degraded = decision
            event = lesser(desk, event, decision)
            continue
        return (decision if degraded is None else _joined(degraded, decision, event)), event


def _joined(degraded: Decision, decision: Decision, event: Event) -> Decision:
    """The decision about a lesser request, as one that a host can carry out: degraded, with the whole new content."""
    if not decision.proceeds:
        return decision
    return msgspec.structs.replace(
        decision,
        action=Action.DEGRADE,
        findings=degraded.findings + decision.findings,
        patches=(Patch((), content_of(event)),),
        effects=tuple(dict.fromkeys(degraded.effects + decision.effects)),
    )


def admit(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    claims: tuple[Claim, ...] = (),
) -> Flow[tuple[Decision, Event]]:
    """Like `assess`, for a caller who asked to run it: raises `Refused` where it does not go ahead."""
    decision, event = yield from assess(desk, event, spent, refused, claims, waits=True)
    if not decision.proceeds:
        raise desk.refusal(decision)
    return decision, event


def call(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[Any]:
    """A tool's whole life: judged, run, its result or error judged, settled, recorded."""
    attempt = 1
    while True:
        decision, event, args, kwargs, reserved = yield from begin(desk, tool, args, kwargs)
        began_ms = desk.shield.clock() if desk.measures else 0
        try:
            value = yield Invoke(tool.fn, args, kwargs, desk.time_left_s(tool.name, tool.timeout_s))
        except Exception as error:
            used = used_by(desk, reserved, began_ms)
            yield from book(desk, event, unforeseen(desk, reserved, used))
            if not (yield from failed(desk, event, decision, error, attempt, reserved, used)):
                raise
            attempt += 1
            continue
        except BaseException as error:
            left(desk, event, decision, "it was interrupted: what came of it is not known", error)
            yield from close_hold(desk, decision, reserved)
            raise
        used = used_by(desk, reserved, began_ms)
        yield from book(desk, event, unforeseen(desk, reserved, used))
        return (yield from deliver(desk, tool, event, decision, value, args, kwargs, reserved=reserved, used=used))


def begin(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Flow[tuple[Decision, ToolCall, tuple[Any, ...], dict[str, Any], Amounts]]:
    """Judge a call and give it back as it goes ahead: event and arguments patched, and what it has reserved."""
    proposed, refused = shown(tool.values(args, kwargs))
    event: Any = desk.tool_call(tool.name, {} if refused else proposed, tool.risk)
    reserved = JUST_ONE
    if desk.measures:
        reserved = reserving(desk, event, JUST_ONE, desk.time_left_s(tool.name, tool.timeout_s))
    decision, event = yield from admit(desk, event, reserved, refused)
    if decision.patches:
        args, kwargs = tool.patched(args, kwargs, proposed, event.args)
    return decision, event, args, kwargs, reserved


def failed(
    desk: Desk,
    event: ToolCall,
    decision: Decision,
    error: Exception,
    attempt: int,
    reserved: Amounts = JUST_ONE,
    used: Amounts = JUST_ONE,
) -> Flow[bool]:
    """Judge an error; says whether the action is tried again. Raises where the error may not be handed on."""
    fault: Any = desk.event(
        Failure,
        call=decision.id,
        tool=event.tool,
        error=type(error).__name__,
        text=str(error),
        args=event.args,
        attempt=attempt,
    )
    moment = desk.moment(fault, settles=settled(decision, used))
    answer = yield from judge(desk, moment, (*desk.take_notes(decision.id), *overruns(reserved, used)))
    if answer.action == Action.RETRY:
        return attempt < terms_of(answer, RETRY).max_attempts
    if answer.action == Action.HALT:
        raise desk.refusal(answer) from error
    if answer.patches:
        raise ToolFailed(answer.patched(fault.text)) from None
    return False


def deliver(
    desk: Desk,
    tool: Tool,
    event: ToolCall,
    decision: Decision,
    value: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    part: int = 0,
    settles: bool = True,
    reserved: Amounts = JUST_ONE,
    used: Amounts = JUST_ONE,
) -> Flow[Any]:
    """Judge a result before the agent sees it; one that is refused is thrown away and undone."""
    seen, refused = shown(value)
    result: Any = desk.event(ToolResult, call=decision.id, tool=tool.name, args=event.args, result=seen, part=part)
    moment = desk.moment(result, settles=settled(decision, used) if settles else (), refused=refused)
    answer = yield from judge(desk, moment, (*desk.take_notes(decision.id), *overruns(reserved, used)))
    if answer.proceeds:
        desk.last = answer.patched(seen) if answer.patches else seen
        return desk.last if answer.patches else value
    undo = tool.undo if tool.undo is not None else desk.shield.policy.undos.get(tool.name)
    if answer.action >= STOPS and undo is not None:
        try:
            yield Invoke(undo, args, kwargs)
        except Exception as error:  # noqa: BLE001 - whatever an undo raises, the refusal is what the caller must see
            desk.tell(f"the action could not be undone: `{type(error).__name__}`")
    raise desk.refusal(answer)
