"""A tool call's whole life: judged, run, its outcome judged, settled, recorded; tried again, and
done once."""

from __future__ import annotations

from time import monotonic
from typing import Any

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import StoreLost
from stanchion.kernel.units import Amounts
from stanchion.readings.act import act_of
from stanchion.runtime.calling.at_work import Paying
from stanchion.runtime.calling.begin import asked, begin, begun as has_begun
from stanchion.runtime.calling.items import Coming
from stanchion.runtime.calling.ledger import (
    DONE,
    FAILED,
    ONCE,
    UNKNOWN,
    LedgerPage,
    ask_about,
    entry,
    finished,
    is_unknown,
    what_of,
)
from stanchion.runtime.calling.outcome import RETRY, deliver, ends_late, failed, shown, withhold
from stanchion.runtime.calling.pace import Pace
from stanchion.runtime.calling.refusal_text import TEXT, answered_in_text
from stanchion.runtime.calling.tool import NothingDone, Tool
from stanchion.runtime.deciding.course import assess, judge, lapsed
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import (
    MOST_TRIED,
    JudgedFailure,
    Trouble,
    attempted,
    kinds,
    leaks,
    tell_on,
)
from stanchion.runtime.deciding.left import abandoned, cut_off
from stanchion.runtime.deciding.record import give_back
from stanchion.runtime.deciding.reported import ReportedFailure, failure_in, taken_in
from stanchion.runtime.deciding.retries import RetryAllowance, again, closed, opened
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.spend import book, overruns, reserving, settled, unforeseen, used_by
from stanchion.runtime.deciding.start import Lapsed
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.deciding.unread import formless, marked
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.errors import Refused
from stanchion.runtime.values.form_of import is_stream

AFTER = "it was done, and judging its outcome was interrupted"
"""What is written of a call whose result nobody has judged."""

Begun = tuple[Decision, ToolCall, tuple[Any, ...], dict[str, Any], Amounts]
"""A call as it goes ahead: its decision, event and arguments, and what it has reserved."""


def call(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], named: str = ""
) -> Flow[Any]:
    """Call a tool, and again where an error's judgement says so; `named` is what its caller calls
    the one thing that is to happen. Whatever cuts it off, what it took is given back, and what came
    of it written down."""
    flow = _settled(desk, tool, args, kwargs, named)
    return answered_in_text(flow) if tool.refusal == TEXT else flow


def _settled(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], named: str
) -> Flow[Any]:
    """The same; a refusal is raised."""
    way = CallWay()
    allowance = RetryAllowance() if desk.shield.policy.judges_errors else None
    try:
        if allowance is not None:
            opened(allowance)
        return (yield from _called(desk, tool, args, kwargs, named, way))
    except BaseException as error:
        yield from cut_off(desk, way, error, AFTER if way.is_done else "")
        raise
    finally:
        if allowance is not None:
            closed(allowance)


def _called(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], named: str, way: CallWay
) -> Flow[Any]:
    """The same, for somebody who sees to what is left. Python lets an exception that strikes where
    a `try` begins out of the whole function, past the `try` around it; so what has to see it stands
    around the function."""
    policy = desk.shield.policy
    once = (
        named != ""
        or tool.once
        or (policy.has_once and ONCE in desk.known(desk.plans, tool.name).traits)
    )
    attempt, previous = 1, ""
    tried: tuple[str, ...] = ()
    before: Exception | None = None
    page: LedgerPage | None = None
    try:
        while True:
            try:
                if once:
                    page, begun = yield from begin_once(
                        desk, tool, args, kwargs, way, named, previous
                    )
                else:
                    begun = yield from begin(desk, tool, args, kwargs, way, previous)
            except Refused as refused:
                if before is None:
                    raise
                raise refused from before
            decision, event, given, options, reserved = begun
            if page is not None and page.answers:
                return (yield from answered(desk, page, event, decision))
            began_ms = desk.shield.clock() if desk.measures else 0
            has_begun(desk, decision, event)
            try:
                limit_s = desk.time_left_s(tool.name, tool.timeout_s)
                leave = desk.allowed.leave(decision, None if page is None else limit_s)
                ended = None if limit_s is None else ends_late(desk, event, decision)
                invoke = Invoke(
                    desk.shield.telemetry.around(decision.id, tool.fn),
                    given,
                    options,
                    limit_s,
                    leave,
                    ended,
                )
                began = monotonic()
                with Paying(reserved, Stage.TOOL_CALL in desk.shield.policy.unpaid):
                    value = yield invoke
            except Lapsed:
                if page is not None:
                    yield from page.mark(desk, FAILED)
                raise desk.refusal((yield from lapsed(desk, decision, event, reserved))) from None
            except Exception as error:
                used = used_by(desk, reserved, began_ms)
                harmless = nothing_done(desk, tool, given, options, error)
                if page is not None:
                    safe = harmless or act_of(event.tool, event.traits).repeats
                    yield from page.mark(desk, FAILED if safe else UNKNOWN)
                yield from book(desk, event, unforeseen(desk, reserved, used))
                judged = yield from failed(
                    desk,
                    event,
                    decision,
                    error,
                    attempt,
                    reserved,
                    used,
                    tried,
                    harmless,
                    retries=True,
                )
                if not (yield from tried_again(desk, judged, error, attempt)):
                    withhold(desk, judged.answer, error)
                    raise
                took_ms = desk.shield.clock() - event.at
                tried = (*tried, attempted(attempt, type(error).__name__, took_ms))[-MOST_TRIED:]
                attempt, previous = attempt + 1, decision.id
                before = None if leaks(desk, judged.answer, error) else error
                continue
            except BaseException as error:
                abandoned(desk, way.call, error)
                if page is not None and not isinstance(error, GeneratorExit):
                    yield from page.mark(desk, UNKNOWN)
                raise
            way.is_done = True
            if page is None and is_stream(value):
                pace = Pace(desk, tool.name, desk.limit_s(tool.name, tool.timeout_s))
                pace.took(monotonic() - began)
                coming = Coming(
                    tool, value, event, decision, given, options, reserved, began_ms, pace
                )
                desk.under_way.hand(decision.id)
                return coming
            used = used_by(desk, reserved, began_ms)
            came = shown(desk, Stage.TOOL_RESULT, tool.name, value)
            said = failure_in(came[0].content)
            if said is not None:
                if page is not None:
                    yield from page.mark(
                        desk, FAILED if act_of(event.tool, event.traits).repeats else UNKNOWN
                    )
                    page = None
                yield from book(desk, event, unforeseen(desk, reserved, used))
                if (
                    yield from tried_after(
                        desk, event, decision, said, attempt, reserved, used, tried
                    )
                ):
                    took_ms = desk.shield.clock() - event.at
                    tried = (*tried, attempted(attempt, said.error, took_ms))[-MOST_TRIED:]
                    attempt, previous = attempt + 1, decision.id
                    continue
                return (
                    yield from deliver(
                        desk,
                        tool,
                        event,
                        decision,
                        came,
                        given,
                        options,
                        settles=False,
                        notes=tried,
                        failed=True,
                    )
                )
            if page is not None:
                yield from page.mark(desk, DONE, kept=value is None)
            yield from book(desk, event, unforeseen(desk, reserved, used))
            return (
                yield from deliver(
                    desk,
                    tool,
                    event,
                    decision,
                    came,
                    given,
                    options,
                    reserved=reserved,
                    used=used,
                    notes=tried,
                    page=page,
                )
            )
    finally:
        before = None


def tried_again(desk: Desk, judged: JudgedFailure, error: Exception, attempt: int) -> Flow[bool]:
    """Whether a failed call is tried again, now that it is time; otherwise the error says what was
    done about it."""
    answer, trouble = judged
    ended = ""
    if answer.action == Action.RETRY:
        ended = yield from again(desk, terms_of(answer, RETRY), attempt)
        if not ended:
            return True
        ended = f"not tried again: {ended}"
    trouble = _at_the_end(desk, trouble, ended)
    if ended or answer.findings or attempt > 1:
        tell_on(error, trouble)
    return False


def _at_the_end(desk: Desk, trouble: Trouble, ended: str) -> Trouble:
    """The same failure, and why it was not tried again; the run has it so where no other came after
    it."""
    done = msgspec.structs.replace(trouble, ended=ended)
    if desk.trouble is trouble:
        desk.trouble = done
    return done


def tried_after(
    desk: Desk,
    event: ToolCall,
    decision: Decision,
    said: ReportedFailure,
    attempt: int,
    reserved: Amounts,
    used: Amounts,
    tried: tuple[str, ...],
) -> Flow[bool]:
    """Judge and settle a failure that a result reports; says whether the call is tried again, now
    that it is time."""
    notes = (*desk.take_notes(decision.id), *overruns(reserved, used))
    settles = settled(decision, used)
    answer, trouble = yield from taken_in(
        desk, said, decision.id, event.tool, event.args, settles, notes, attempt, event.at, tried
    )
    if answer.action == Action.HALT:
        raise desk.refusal(answer)
    if answer.action != Action.RETRY:
        return False
    ended = yield from again(desk, terms_of(answer, RETRY), attempt)
    if ended:
        _at_the_end(desk, trouble, f"not tried again: {ended}")
    return not ended


def nothing_done(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
) -> bool:
    """Whether an error shows that the tool has done nothing: it says so, the policy does, or it was
    never begun."""
    if isinstance(error, NothingDone):
        return True
    known = desk.shield.policy.tool(tool.name)
    if known is not None and known.harmless:
        name, bases = kinds(error)
        if not {name, *bases}.isdisjoint(known.harmless):
            return True
    return isinstance(error, TypeError) and not tool.fits(args, kwargs)


def begin_once(
    desk: Desk,
    tool: Tool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    way: CallWay,
    named: str,
    failed: str = "",
) -> Flow[tuple[LedgerPage, Begun]]:
    """Judge a call that happens once, and enter it into the ledger in the batch that starts it,
    unless it is done.

    Raises `Refused` where it is under way, or where nobody knows what came of it.
    """
    values = tool.values(args, kwargs)
    took, refused = asked(desk, tool, values)
    args, kwargs = tool.given(args, kwargs, values, took.handed)
    event: Any = marked(desk.tool_call(tool.name, took.content, tool.declared), took)
    refused += formless(event)
    traits = event.traits if ONCE in event.traits else (*event.traits, ONCE)
    event = msgspec.structs.replace(event, call=failed, traits=traits)
    limit_s = desk.time_left_s(tool.name, tool.timeout_s)
    reserved, said = tool.spends
    if desk.measures:
        reserved = reserving(desk, event, reserved, limit_s, said)
    page = way.page = entry(desk, event, named)
    tries = 0
    while True:
        tries += 1
        against = yield from looked_up(desk, page)
        stakes = () if against or page.answers else page.stakes(event, limit_s)
        decision, event = yield from assess(
            desk, event, reserved, (*refused, *against), stakes, waits=True, way=way
        )
        if decision.inputs.taken != page.key or tries == TRIES:
            break
        event = desk.renewed(event)
    reply = decision.inputs.reply
    if (
        stakes
        and reply is not None
        and reply.go
        and not reply.stale
        and decision.inputs.taken != page.key
    ):
        page.taken()
    if not decision.proceeds or not (page.ours or page.answers):
        yield from page.mark(desk, FAILED)
        if not decision.proceeds:
            if against:
                yield from _asked_about(desk, page, event, decision, against)
            raise desk.refusal(decision)
        yield from refuse(desk, decision, event, reserved, UNSTAKED)
    if decision.patches:
        args, kwargs = tool.patched(args, kwargs, took.content, event.args)
        page = yield from _moved(desk, page, decision, event, limit_s, reserved)
    return page, (decision, event, args, kwargs, reserved)


def _asked_about(
    desk: Desk, page: LedgerPage, event: ToolCall, decision: Decision, against: tuple[Finding, ...]
) -> Flow[None]:
    """Have a person asked where nobody knows what came of the call before."""
    if is_unknown(against):
        yield from ask_about(desk, page, event, decision)


UNSTAKED = (
    Finding(
        Action.BLOCK,
        "kernel.store_lost",
        ("it does not know that this call begins",),
        guard="kernel",
    ),
)


def looked_up(desk: Desk, page: LedgerPage) -> Flow[tuple[Finding, ...]]:
    """What stands against a call in the ledger; where it cannot be asked, that it cannot be."""
    try:
        yield from page.look(desk)
    except StoreLost as lost:
        return (Finding(Action.BLOCK, lost.code, lost.said, guard="kernel"),)
    return page.against()


def _moved(
    desk: Desk,
    page: LedgerPage,
    decision: Decision,
    event: ToolCall,
    limit_s: float | None,
    reserved: Amounts,
) -> Flow[LedgerPage]:
    """The page of a call whose arguments were patched; refused where that call stands in the ledger
    already."""
    if not page.ours:
        return page
    try:
        moved = yield from page.moved(desk, what_of(event), limit_s)
    except StoreLost:
        yield from refuse(desk, decision, event, reserved, UNSTAKED)
        raise
    if not (moved.ours or moved.answers):
        against = moved.against()
        yield from refuse(desk, decision, event, reserved, against if against else UNSTAKED, moved)
    return moved


def refuse(
    desk: Desk,
    decision: Decision,
    event: ToolCall,
    reserved: Amounts,
    against: tuple[Finding, ...],
    page: LedgerPage | None = None,
) -> Flow[None]:
    """Refuse a call after it was judged: what it reserved is given back, and the refusal is a
    decision of its own. `page` is where it stands in the ledger already."""
    if abandoned(desk, decision.id):
        yield from desk.shield.unsettled.carry()
    else:
        yield from give_back(desk, event, decision)
    refused, _ = yield from assess(desk, desk.renewed(event), reserved, against)
    if page is not None:
        yield from _asked_about(desk, page, event, refused, against)
    raise desk.refusal(refused)


def answered(desk: Desk, page: LedgerPage, event: ToolCall, decision: Decision) -> Flow[Any]:
    """Answer a call from the ledger: its result is judged like any other, and nothing runs."""
    seen = page.effect.result
    result: Any = desk.event(
        ToolResult, call=decision.id, tool=event.tool, args=event.args, result=seen
    )
    note = f"answered from the ledger: call `{page.effect.call}` has already done it"
    moment = desk.moment(result, settles=settled(decision))
    answer = yield from judge(desk, moment, (*desk.take_notes(decision.id), note), waits=True)
    if not answer.proceeds:
        raise desk.refusal(answer)
    if not page.named:
        finished(desk, page.what)
    desk.last = answer.patched(seen) if answer.patches else seen
    return desk.last
