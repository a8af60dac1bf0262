"""The failure of a call: judged, and handed on, held back, or tried again."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure, ModelCall, ToolCall
from stanchion.kernel.findings import Retry
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import described, text_of
from stanchion.runtime.deciding.judge import judge
from stanchion.runtime.deciding.leaks import leaks
from stanchion.runtime.deciding.spend import overruns, settled
from stanchion.runtime.deciding.trouble import JudgedFailure, behind, notes_of, redacted, trouble_of
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import ToolFailed, raise_alone

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
