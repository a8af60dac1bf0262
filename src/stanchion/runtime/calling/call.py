"""A tool call's whole life: judged, run, its outcome judged, settled, recorded; tried again, and
done once."""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

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
from stanchion.runtime.calling.begin import BegunCall, begin, begun as has_begun, propose
from stanchion.runtime.calling.items import coming
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
from stanchion.runtime.calling.refusal_text import TEXT, answered_in_text
from stanchion.runtime.calling.tool import NothingDone, Tool
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
from stanchion.runtime.deciding.judging import assess, judge, lapsed
from stanchion.runtime.deciding.left import abandoned, cut_off
from stanchion.runtime.deciding.record import give_back
from stanchion.runtime.deciding.reported import ReportedFailure, failure_in, taken_in
from stanchion.runtime.deciding.retries import RetryAllowance, again, closed, opened
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.spend import book, overruns, settled, unforeseen
from stanchion.runtime.deciding.start import Lapsed
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.deciding.unreadable_content import formless
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.errors import Refused
from stanchion.runtime.values.form_of import is_stream

AFTER = "it was done, and judging its outcome was interrupted"
"""What is written of a call whose result nobody has judged."""

AGAIN: Final = object()
"""What comes of a call that is tried again."""


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
    last: BegunCall | None = None
    try:
        while True:
            previous = "" if last is None else last.decision.id
            try:
                one = yield from (
                    begin_once(desk, tool, args, kwargs, way, previous, named)
                    if once
                    else begin(desk, tool, args, kwargs, way, previous)
                )
            except Refused as refused:
                if last is None or last.error is None:
                    raise
                raise refused from last.error
            if one.page is not None and one.page.answers:
                return (yield from answered(one, one.page))
            if last is not None:
                one.attempt, one.tried, last.error = last.attempt + 1, last.tried, None
            came = yield from _attempted(one, way)
            if came is not AGAIN:
                return came
            last = one
    finally:
        if last is not None:
            last.error = None


def _attempted(one: BegunCall, way: CallWay) -> Flow[Any]:
    """Run a call and judge what comes of it: gives what its caller gets, or that it is tried
    again."""
    desk, tool, event, decision = one.desk, one.tool, one.event, one.decision
    one.began_ms = desk.shield.clock() if desk.measures else 0
    has_begun(desk, decision, event)
    try:
        limit_s = desk.time_left_s(tool.name, tool.timeout_s)
        invoke = Invoke(
            desk.shield.telemetry.around(decision.id, tool.fn),
            one.args,
            one.kwargs,
            limit_s,
            desk.allowed.leave(decision, None if one.page is None else limit_s),
            None if limit_s is None else ends_late(one),
        )
        began = monotonic()
        with Paying(one.reserved, Stage.TOOL_CALL in desk.shield.policy.unpaid):
            value = yield invoke
    except Lapsed:
        yield from one.mark(FAILED)
        raise desk.refusal((yield from lapsed(desk, decision, event, one.reserved))) from None
    except Exception as error:
        if not (yield from _failed(one, error)):
            raise
        return AGAIN
    except BaseException as error:
        abandoned(desk, way.call, error)
        if not isinstance(error, GeneratorExit):
            yield from one.mark(UNKNOWN)
        raise
    way.is_done = True
    if one.page is None and is_stream(value):
        one.tried, items = (), coming(one, value)
        items.pace.took(monotonic() - began)
        return items
    return (yield from _came(one, value))


def _failed(one: BegunCall, error: Exception) -> Flow[bool]:
    """Judge what a tool has raised; says whether the call is tried again, now that it is time."""
    desk, used = one.desk, one.used()
    harmless = nothing_done(one, error)
    yield from one.mark(FAILED if harmless or _repeats(one) else UNKNOWN)
    yield from book(desk, one.event, unforeseen(desk, one.reserved, used))
    judged = yield from failed(
        desk,
        one.event,
        one.decision,
        error,
        one.attempt,
        one.reserved,
        used,
        one.tried,
        harmless,
        retries=True,
    )
    if not (yield from tried_again(desk, judged, error, one.attempt)):
        withhold(desk, judged.answer, error)
        return False
    _note_attempt(one, type(error).__name__)
    one.error = None if leaks(desk, judged.answer, error) else error
    return True


def _came(one: BegunCall, value: Any) -> Flow[Any]:
    """Judge a result, also where it reports a failure: then the call may be tried again."""
    desk, used = one.desk, one.used()
    came = shown(desk, Stage.TOOL_RESULT, one.tool.name, value)
    said = failure_in(came[0].content)
    if said is None:
        yield from one.mark(DONE, kept=value is None)
    else:
        yield from one.mark(FAILED if _repeats(one) else UNKNOWN)
        one.page = None
    yield from book(desk, one.event, unforeseen(desk, one.reserved, used))
    if said is None:
        return (yield from deliver(one, came, used))
    if (yield from tried_after(one, said, used)):
        _note_attempt(one, said.error)
        return AGAIN
    return (yield from deliver(one, came, failed=True))


def _repeats(one: BegunCall) -> bool:
    """Whether what the call does may be done again."""
    return act_of(one.event.tool, one.event.traits).repeats


def _note_attempt(one: BegunCall, error: str) -> None:
    took_ms = one.desk.shield.clock() - one.event.at
    one.tried = (*one.tried, attempted(one.attempt, error, took_ms))[-MOST_TRIED:]


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


def tried_after(one: BegunCall, said: ReportedFailure, used: Amounts) -> Flow[bool]:
    """Judge and settle a failure that a result reports; says whether the call is tried again, now
    that it is time."""
    desk, event, decision, attempt = one.desk, one.event, one.decision, one.attempt
    notes = (*desk.take_notes(decision.id), *overruns(one.reserved, used))
    about = event.tool, event.args, settled(decision, used), notes, attempt, event.at, one.tried
    answer, trouble = yield from taken_in(desk, said, decision.id, *about)
    if answer.action == Action.HALT:
        raise desk.refusal(answer)
    if answer.action != Action.RETRY:
        return False
    ended = yield from again(desk, terms_of(answer, RETRY), attempt)
    if ended:
        _at_the_end(desk, trouble, f"not tried again: {ended}")
    return not ended


def nothing_done(one: BegunCall, error: BaseException) -> bool:
    """Whether an error shows that the tool has done nothing: it says so, the policy does, or it was
    never begun."""
    if isinstance(error, NothingDone):
        return True
    known = one.desk.shield.policy.tool(one.tool.name)
    if known is not None and known.harmless:
        name, bases = kinds(error)
        if not {name, *bases}.isdisjoint(known.harmless):
            return True
    return isinstance(error, TypeError) and not one.tool.fits(one.args, one.kwargs)


def begin_once(
    desk: Desk,
    tool: Tool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    way: CallWay,
    failed: str,
    named: str,
) -> Flow[BegunCall]:
    """Judge a call that happens once, and enter it into the ledger in the batch that starts it,
    unless it is done.

    Raises `Refused` where it is under way, or where nobody knows what came of it.
    """
    proposed = propose(desk, tool, args, kwargs, failed)
    event: Any = proposed.event
    refused = (*proposed.refused, *formless(event))
    if ONCE not in event.traits:
        event = msgspec.structs.replace(event, traits=(*event.traits, ONCE))
    limit_s = desk.time_left_s(tool.name, tool.timeout_s)
    page = way.page = entry(desk, event, named)
    tries = 0
    while True:
        tries += 1
        against = yield from looked_up(desk, page)
        stakes = () if against or page.answers else page.stakes(event, limit_s)
        decision, event = yield from assess(
            desk, event, proposed.reserved, (*refused, *against), stakes, waits=True, way=way
        )
        if decision.inputs.taken != page.key or tries == TRIES:
            break
        event = desk.renewed(event)
    reply = decision.inputs.reply
    carried_out = reply is not None and reply.go and not reply.stale
    if stakes and carried_out and decision.inputs.taken != page.key:
        page.taken()
    if not decision.proceeds or not (page.ours or page.answers):
        yield from page.mark(desk, FAILED)
        if not decision.proceeds:
            yield from _asked_about(desk, page, event, decision, against)
            raise desk.refusal(decision)
        yield from refuse(desk, decision, event, proposed.reserved, UNSTAKED)
    one = proposed.begun(desk, tool, decision, event)
    one.page = (yield from _moved(one, page, limit_s)) if decision.patches else page
    return one


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


def _moved(one: BegunCall, page: LedgerPage, limit_s: float | None) -> Flow[LedgerPage]:
    """The page of a call whose arguments were patched; refused where that call stands in the ledger
    already."""
    if not page.ours:
        return page
    desk, about = one.desk, (one.decision, one.event, one.reserved)
    try:
        moved = yield from page.moved(desk, what_of(one.event), limit_s)
    except StoreLost:
        yield from refuse(desk, *about, UNSTAKED)
        raise
    if not (moved.ours or moved.answers):
        against = moved.against()
        yield from refuse(desk, *about, against if against else UNSTAKED, moved)
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


def answered(one: BegunCall, page: LedgerPage) -> Flow[Any]:
    """Answer a call from the ledger: its result is judged like any other, and nothing runs."""
    desk, event, decision, seen = one.desk, one.event, one.decision, page.effect.result
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
