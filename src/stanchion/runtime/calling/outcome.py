"""The delivery of a result: judged before the agent gets it, and undone where it is refused."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.audit.journal import Fact
from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure, ModelCall, ToolCall, ToolResult
from stanchion.kernel.findings import Finding, Retry
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.calling.begin import BegunCall
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import (
    JudgedFailure,
    behind,
    described,
    leaks,
    notes_of,
    redacted,
    text_of,
    trouble_of,
)
from stanchion.runtime.deciding.judging import judge
from stanchion.runtime.deciding.quiet import delivered
from stanchion.runtime.deciding.reported import failing, failure_in, taken_in
from stanchion.runtime.deciding.spend import overruns, settled
from stanchion.runtime.deciding.undos import UndoableCall, push, undone
from stanchion.runtime.deciding.unreadable_content import (
    NOTHING,
    against,
    arrived,
    formless,
    marked,
    unreadable,
)
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import Ended
from stanchion.runtime.errors import ToolFailed, raise_alone
from stanchion.runtime.standing.veil import tell
from stanchion.runtime.values import Read, Unreadable, read, restored


def shown(desk: Desk, stage: Stage, tool: str, value: Any) -> tuple[Read, tuple[Finding, ...]]:
    """A value as it was read, and what stands against it; one that cannot be read as a whole is
    refused as a whole."""
    try:
        seen = read(value)
    except Unreadable as error:
        return NOTHING, unreadable(error)
    if not seen.parts:
        return seen, ()
    seen = arrived(seen)
    return seen, against(desk, stage, tool, seen)


def deliver(
    one: BegunCall,
    came: tuple[Read, tuple[Finding, ...]],
    used: Amounts | None = None,
    part: int = 0,
    failed: bool = False,
) -> Flow[Any]:
    """Judge a result as it was read (`came`), before the agent sees it; one that is refused is
    thrown away and undone.

    What it `used` settles the call; `failed` says that the failure which the result reports was
    judged already.
    """
    desk, tool, event, call, page = one.desk, one.tool, one.event, one.decision.id, one.page
    seen, refused = came
    if part and (said := failure_in(seen.content)) is not None:
        failed = True
        yield from taken_in(desk, said, call, tool.name, event.args)
    if part <= 1 and not failed:
        undo = tool.undo if tool.undo is not None else desk.shield.policy.undo(tool.name)
        if undo is not None:
            push(desk, UndoableCall(tool.name, call, undo, one.args, one.kwargs, page))
    result: Any = desk.event(
        ToolResult, call=call, tool=tool.name, args=event.args, result=seen.content, part=part
    )
    result = marked(failing(result) if failed else result, seen)
    notes, closes = (
        (*one.tried, *desk.take_notes(call)),
        settled(one.decision, used) if used is not None else (),
    )
    if used is not None:
        notes += overruns(one.reserved, used)
    answer = yield from delivered(desk, result, closes, refused, notes)
    if answer.proceeds:
        desk.last = last = answer.patched(seen.content)
        if page is not None and not formless(result):
            yield from page.keep(desk, last)
        return restored(seen.handed, seen.content, last)
    done = desk.undos.take(call) if answer.action >= STOPS else None
    taken_back = None if done is None else (yield from undone(desk, done))
    raise desk.refusal(answer, taken_back is not None and not taken_back.error)


RETRY: Final = Retry()

HARMLESS: Final = "harmless"
"""What a failure is called of which it is known that nothing has happened."""


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
) -> Flow[JudgedFailure]:
    """Judge an error and give what was decided, or raise where the error may not be handed on as it
    is.

    `tried` is what was tried before, `harmless` says that nothing has happened, `retries` that the
    caller tries again where that is decided.
    """
    args = event.args if isinstance(event, ToolCall) else {}
    known = described(desk.shield.policy, error, event.tool, args)
    fault: Any = desk.event(
        Failure, event.tool, call=decision.id, args=args, attempt=attempt, **known
    )
    own = tuple([trait for trait in event.traits if trait not in fault.traits])
    if harmless or own:
        fault = msgspec.structs.replace(
            fault, traits=(*fault.traits, *own, *((HARMLESS,) if harmless else ()))
        )
    took_ms, chain = fault.at - event.at, behind(error)
    notes = (
        *desk.take_notes(decision.id),
        *overruns(reserved, used),
        *notes_of(took_ms, chain, tried),
    )
    answer = yield from judge(desk, desk.moment(fault, settles=settled(decision, used)), notes)
    trouble = desk.trouble = trouble_of(fault, answer, took_ms, chain, tried)
    if answer.action == Action.HALT:
        if leaks(desk, answer, error):
            raise_alone(desk.refusal(answer))
        raise desk.refusal(answer) from error
    if not (retries and answer.action == Action.RETRY):
        withhold(desk, answer, error)
    return JudgedFailure(answer, trouble)


def withhold(desk: Desk, answer: Decision, error: BaseException) -> None:
    """Raise what the agent gets in place of an error that shows what a guard redacts, whatever else
    was decided."""
    if leaks(desk, answer, error):
        raise_alone(ToolFailed(redacted(answer, text_of(error))))


def ends_late(one: BegunCall) -> Ended:
    """What writes down the end of a call that was left when its time was up."""

    def ended(how: str) -> None:
        shield, info = one.desk.shield, one.desk.info
        why = f"`{one.tool.name}` was still running when its time was up: {how}"
        about = one.decision.id, info.tenant, info.id
        tell(shield, Fact(shield.clock(), "call.ended_late", *about, why=why))

    return ended
