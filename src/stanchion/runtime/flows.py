"""Flows: what happens round an action, written once as generators that both drivers run."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import PROCEEDS, STOPS, UNCHANGED, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Event, Failure, ModelCall, Moment, ToolCall, ToolResult
from stanchion.kernel.findings import Finding, Retry
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Stake
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.aftermath import aftermath, owe, passed_over, seen_to, unheard
from stanchion.runtime.attempts import Attempts
from stanchion.runtime.desk import Desk
from stanchion.runtime.discretion import worded
from stanchion.runtime.drivers import Flow
from stanchion.runtime.errors import ToolFailed
from stanchion.runtime.faulting import described, text_of
from stanchion.runtime.owed import owed
from stanchion.runtime.recording import barred, confirmed, written
from stanchion.runtime.reported import failing, failure_in, taken_in
from stanchion.runtime.spending import overruns, reserving, settled
from stanchion.runtime.tool import Tool
from stanchion.runtime.under_way import STARTS, Way, cut_off
from stanchion.runtime.undoing import remember, undone
from stanchion.runtime.unread import NOTHING, against, formless, marked, unreadable
from stanchion.runtime.values import Read, Unreadable, arguments, read, restored

if TYPE_CHECKING:
    from stanchion.runtime.ledger import Entry

RETRY: Final = Retry()

AGAIN: Final = "again"
"""What a store says of a hold that was settled before."""

HARMLESS: Final = "harmless"
"""What a failure is called of which it is known that nothing has happened."""


def judge(
    desk: Desk, moment: Moment, notes: tuple[str, ...] = (), plans: Plans | None = None, waits: bool = False
) -> Flow[Decision]:
    """Judge a moment, write the decision down, and carry out what concerns the run as a whole; what a person has to
    answer for is judged again when one has (`waits`: here and now)."""
    begun = perf_counter_ns()
    plans = desk.plans if plans is None else plans
    moment = desk.fitted(moment, plans)
    memory = desk.shield.memory
    if memory is not None and memory.is_due(moment.events[0].at):
        yield from memory.check(moment.events[0].at)
    refused = barred(desk, moment) if desk.shield.journal.trouble else None
    if refused is not None:
        return refused
    try:
        if desk.shield.unsettled.waiting:
            yield from desk.shield.unsettled.catch_up()
        if getattr(plans.policy, "clears", False):
            from stanchion.runtime.allowing import decided

            moment, decision = yield from decided(desk, plans, moment)
        else:
            decision = yield from decide(plans, moment, desk.shield.records)
    except BaseException:
        owe(desk, moment)
        raise
    if decision.findings:
        decision = worded(plans, moment, decision)
    if decision.inputs.reply is None and (moment.settles or decision.inputs.lost or decision.inputs.stale):
        owe(desk, moment, decision)
    elif decision.skipped:
        passed_over(desk, moment, decision)
    outcome = written(desk, plans, moment, decision, begun, notes)
    if outcome is not None:
        decision = yield from confirmed(desk, moment.events[0], decision, outcome)
    if desk.shield.unsettled.waiting and decision.inputs.reply is not None:
        yield from desk.shield.unsettled.carry()
    if moment.settles and decision.inputs.reply is not None and AGAIN in decision.inputs.reply.settled:
        from stanchion.runtime.overtaking import overtaken

        yield from overtaken(desk, moment, decision.inputs.reply)
    if desk.shield.policy.recalls is not None:
        desk.learn(moment, decision)
    if decision.findings:
        yield from aftermath(desk, moment.events[0], decision)
    if decision.action == Action.ESCALATE:
        from stanchion.runtime.escalating import ask, note_use, resumed

        stands = formless(moment.events[0])
        answer = stands[0] if stands else (yield from ask(desk, moment.events[0], decision, waits))
        if answer is not None:
            decision = yield from judge(desk, resumed(desk, moment, answer), (), plans)
            note_use(desk, answer, decision)
    return decision


def shown(desk: Desk, stage: Stage, tool: str, value: Any) -> tuple[Read, tuple[Finding, ...]]:
    """A value as it was read, and what stands against it; one that cannot be read as a whole is refused as a whole."""
    try:
        seen = read(value)
    except Unreadable as error:
        return NOTHING, unreadable(error)
    return seen, against(desk, stage, tool, seen) if seen.unread else ()


def asked(desk: Desk, tool: Tool, values: dict[str, Any]) -> tuple[Read, tuple[Finding, ...]]:
    """The arguments of a call as they were taken, and what stands against them."""
    try:
        took = arguments(values, tool.own(values))
    except Unreadable as error:
        return Read({}, values), unreadable(error)
    return took, against(desk, Stage.TOOL_CALL, tool.name, took) if took.unread else ()


def assess(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    waits: bool = False,
    reprice: Callable[[Event], Amounts] | None = None,
    way: Way | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Judge an action until it is clear whether it starts: queued ones wait, a lesser one is judged once more, what is
    to be lesser and cannot be is refused, and one that a person has to answer for is judged again when one has
    (`waits`: here and now, otherwise when it is asked for again).

    `stakes` are records that the action rests on; `reprice` says what a lesser one reserves. Returns the decision and
    the event as it goes ahead, patched. Whoever is cut off behind this leaves the action by its `way`.
    """
    way = Way() if way is None else way
    way.waited = False
    tried: Attempts | None = None
    try:
        while True:
            begun, awake_ns = perf_counter_ns(), desk.shield.awake_ns()
            plans = desk.plans
            if tried is None:
                moment = desk.moment(event, spent, refused=refused, stakes=stakes)
            else:
                moment, spent = tried.moment(desk, plans, event), tried.spent
            moment = desk.fitted(moment, plans)
            event = moment.events[0]
            memory = desk.shield.memory
            if memory is not None and memory.is_due(event.at):
                yield from memory.check(event.at)
            barrier = barred(desk, moment) if desk.shield.journal.trouble else None
            if barrier is not None:
                decision = barrier
                break
            if desk.shield.unsettled.waiting:
                yield from desk.shield.unsettled.catch_up()
            started = desk.under_way.enter(way, event, spent)
            if getattr(plans.policy, "clears", False):
                from stanchion.runtime.allowing import decided

                moment, decision = yield from decided(desk, plans, moment)
            else:
                decision = yield from decide(plans, moment, desk.shield.records)
            if decision.inputs.lost and not decision.proceeds:
                unheard(desk, way, decision)
            if tried is not None and tried.granted is not None:
                from stanchion.runtime.escalating import note_use

                note_use(desk, tried.granted, decision)
            if decision.findings:
                decision = worded(plans, moment, decision)
            lesser = tried is not None and tried.degraded is not None
            if decision.action <= (PROCEEDS if lesser else UNCHANGED):
                started.decision = decision
            outcome = written(desk, plans, moment, decision, begun)
            if desk.shield.policy.recalls is not None:
                desk.learn(moment, decision)
            if outcome is not None or decision.findings or desk.shield.unsettled.waiting:
                decision = yield from seen_to(desk, event, decision, outcome)
            if decision.action <= PROCEEDS:
                desk.allowed.enter(decision, awake_ns)
            if not decision.findings and not lesser:
                break
            if tried is None:
                tried = Attempts(event.id, spent, refused, stakes, waits, reprice, way)
            decision, event, again = yield from tried.after(desk, event, decision)
            if not again:
                break
        goes_ahead = decision.action <= PROCEEDS
        if not goes_ahead and way.waited:
            yield from desk.shield.unsettled.tell(owed(desk, event, ()))
        if not goes_ahead or event.stage not in STARTS:
            desk.under_way.over(way.call)
        return decision, event
    except BaseException as error:
        yield from cut_off(desk, way, error)
        raise


def admit(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    way: Way | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Like `assess`, for a caller who asked to run it: raises `Refused` where it does not go ahead."""
    decision, event = yield from assess(desk, event, spent, refused, stakes, waits=True, way=way)
    if not decision.proceeds:
        raise desk.refusal(decision)
    return decision, event


def begin(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], way: Way, failed: str = ""
) -> Flow[tuple[Decision, ToolCall, tuple[Any, ...], dict[str, Any], Amounts]]:
    """Judge a call and give it back as it goes ahead: event and arguments patched, and what it has reserved.

    `failed` is the call that is tried again by this one. Whoever is cut off leaves it by its `way`.
    """
    values = tool.values(args, kwargs)
    took, refused = asked(desk, tool, values)
    args, kwargs = tool.given(args, kwargs, values, took.handed)
    event: Any = marked(desk.tool_call(tool.name, took.content, tool.risk), took)
    if failed:
        event = msgspec.structs.replace(event, call=failed)
    reserved = JUST_ONE
    if desk.measures:
        reserved = reserving(desk, event, JUST_ONE, desk.time_left_s(tool.name, tool.timeout_s))
    decision, event = yield from admit(desk, event, reserved, refused, way=way)
    if decision.patches:
        args, kwargs = tool.patched(args, kwargs, took.content, event.args)
    return decision, event, args, kwargs, reserved


def failed(
    desk: Desk,
    event: ToolCall | ModelCall,
    decision: Decision,
    error: Exception,
    attempt: int,
    reserved: Amounts = JUST_ONE,
    used: Amounts = JUST_ONE,
    tried: tuple[str, ...] = (),
    harmless: bool = False,
    retries: bool = False,
) -> Flow[Decision]:
    """Judge an error and give the decision, or raise where the error may not be handed on as it is.

    `tried` is what was tried before, `harmless` says that nothing has happened, `retries` that the caller tries again
    where that is decided.
    """
    from stanchion.runtime.recovering import behind, notes_of, trouble_of

    fault: Any = desk.event(
        Failure,
        call=decision.id,
        tool=event.tool,
        args=event.args if isinstance(event, ToolCall) else {},
        attempt=attempt,
        **described(desk.shield.policy, error),
    )
    own = tuple([trait for trait in event.traits if trait not in fault.traits])
    if harmless or own:
        fault = msgspec.structs.replace(fault, traits=(*fault.traits, *own, *((HARMLESS,) if harmless else ())))
    took_ms, chain = fault.at - event.at, behind(error)
    notes = (*desk.take_notes(decision.id), *overruns(reserved, used), *notes_of(took_ms, chain, tried))
    answer = yield from judge(desk, desk.moment(fault, settles=settled(decision, used)), notes)
    desk.trouble = trouble_of(fault, answer, took_ms, chain, tried)
    if answer.action == Action.HALT:
        from stanchion.runtime.leaking import leaks

        raise desk.refusal(answer) from (None if leaks(desk, answer, error) else error)
    if not (retries and answer.action == Action.RETRY):
        withhold(desk, answer, error)
    return answer


def withhold(desk: Desk, answer: Decision, error: BaseException) -> None:
    """Raise what the agent gets in place of an error that shows what a guard redacts, whatever else was decided."""
    from stanchion.runtime.leaking import leaks

    if leaks(desk, answer, error):
        from stanchion.runtime.recovering import redacted

        raise ToolFailed(redacted(answer, text_of(error))) from None


def deliver(
    desk: Desk,
    tool: Tool,
    event: ToolCall,
    decision: Decision,
    came: tuple[Read, tuple[Finding, ...]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    part: int = 0,
    settles: bool = True,
    reserved: Amounts = JUST_ONE,
    used: Amounts = JUST_ONE,
    notes: tuple[str, ...] = (),
    page: Entry | None = None,
    failed: bool = False,
) -> Flow[Any]:
    """Judge a result as it was read (`came`), before the agent sees it; one that is refused is thrown away and undone.

    `page` is the call's page in the ledger, where it has one; `failed` says that the failure which the result reports
    was judged already.
    """
    seen, refused = came
    if part and (said := failure_in(seen.content)) is not None:
        failed = True
        yield from taken_in(desk, said, decision.id, tool.name, event.args)
    if part <= 1 and not failed and (tool.undo is not None or desk.shield.policy.undos):
        remember(desk, tool, decision.id, args, kwargs, page)
    result: Any = desk.event(
        ToolResult, call=decision.id, tool=tool.name, args=event.args, result=seen.content, part=part
    )
    result = marked(failing(result) if failed else result, seen)
    moment = desk.moment(result, settles=settled(decision, used) if settles else (), refused=refused)
    notes = (*notes, *desk.take_notes(decision.id), *overruns(reserved, used))
    answer = yield from judge(desk, moment, notes, waits=True)
    if answer.proceeds:
        desk.last = last = answer.patched(seen.content)
        if page is not None and not formless(result):
            yield from page.keep(desk, last)
        return restored(seen.handed, seen.content, last)
    done = desk.undos.take(decision.id) if answer.action >= STOPS else None
    taken_back = None if done is None else (yield from undone(desk, done))
    raise desk.refusal(answer, taken_back is not None and not taken_back.error)
