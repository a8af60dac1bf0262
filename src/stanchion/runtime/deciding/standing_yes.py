"""A yes that stands in the policy: calls that people have approved so often that nobody is asked
any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.approvals.standing import CRITICAL, Call, ends_ms, fits
from stanchion.kernel.actions import Risk
from stanchion.kernel.declared import LASTING
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.states import NORMAL

if TYPE_CHECKING:
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.deciding.desk import Desk


def standing_yes(desk: Desk, event: Event, decision: Decision, guards: tuple[str, ...]) -> str:
    """The name under which the policy approves a call that guards ask about; empty where it does
    not.

    Where little is left of a budget, or anything else makes the run stricter, people are asked
    again.
    """
    if not isinstance(event, ToolCall) or decision.inputs.mode != NORMAL:
        return ""
    run, now = event.run, desk.shield.clock()
    critical = event.risk is Risk.CRITICAL or run.risk == CRITICAL
    once_only = critical or not LASTING.isdisjoint(event.traits)
    call = Call(event.tool, event.args, guards, run.agent, run.task, once_only)
    for name, said in desk.shield.policy.file.approved.items():
        if fits(said, call) and now < ends_ms(said.until):
            return name
    return ""
