"""Ways past a guardrail: whether an action may go past what refused it at all, by whose yes, or in an emergency."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from stanchion.approvals.bypass import BypassRefused, authorities
from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import EXHAUSTED, USED_UP
from stanchion.kernel.contract.powers import SPENDS
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.schema import id_of

BEGINS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF})
"""Stages of what has not happened yet: only that can go past a guardrail."""

LOST: Final = frozenset({"irreversible", "destructive"})
"""Annotations of tools that do nothing before somebody has answered."""


class Ways(NamedTuple):
    """Who may say yes, the first authority first, and whether the action may go ahead unanswered in an emergency."""

    asks: tuple[str, ...]
    responds: bool

    @property
    def none(self) -> bool:
        """Whether there is no way at all."""
        return not self.asks and not self.responds


def refused_by(policy: CompiledPolicy, event: Event, decision: Decision) -> str:
    """The guardrail that refused an action which could go past it; empty where there is none. What the kernel says of
    a guard that broke is no guardrail's refusal."""
    finding = decision.determining
    if decision.action != Action.BLOCK or finding is None or event.stage not in BEGINS:
        return ""
    if finding.code == USED_UP:
        return USED_UP
    if finding.code.startswith(("kernel.", "approval.")):
        return ""
    placed = policy.placed(finding.guard)
    return "" if placed is None else placed.whole


def ways_past(policy: CompiledPolicy, event: Event, mode: str, guardrail: str) -> Ways:
    """The ways past a guardrail for an action in a mode; `BypassRefused` where it has none by what the policy says."""
    responds = is_response(policy, event)
    if guardrail == USED_UP:
        return Ways((), responds)
    entry = entry_of(policy, guardrail)
    if is_always(policy, guardrail):
        return Ways((), responds)
    if not entry.bypass.allowed:
        raise BypassRefused(f"`{guardrail}` allows no bypass: change the action, or report what prevents your work")
    return Ways(authorities(entry.bypass.requires_approval, policy.file.escalation.roles, mode), responds)


def entry_of(policy: CompiledPolicy, guardrail: str) -> Any:
    """The entry of a guardrail in the policy; `BypassRefused` where there is none."""
    known = {id_of(entry): entry for entry in policy.file.guards if not entry.part_of}
    if guardrail not in known:
        from stanchion.policy.nearest import hint

        raise BypassRefused(f"there is no guardrail `{guardrail}`: {hint(guardrail, [*known])}")
    return known[guardrail]


def is_always(policy: CompiledPolicy, guardrail: str) -> bool:
    """Whether a guardrail, or a part of it, is always active."""
    return any(entry.always for entry in policy.file.guards if guardrail in (id_of(entry), entry.part_of))


def is_response(policy: CompiledPolicy, event: Event) -> bool:
    """Whether an action may stop harm before anybody has answered: a call of a tool that the policy lists for that,
    and that neither its annotations nor its reading call destructive. What runs whatever it is given is none."""
    if event.stage is not Stage.TOOL_CALL or event.tool not in policy.file.bypass.safety_responses:
        return False
    if not LOST.isdisjoint(event.traits):
        return False
    from stanchion.readings.sql.places import runs_sql

    reading = policy.read(event)
    act = reading.act
    return act.use != "delete" and not act.runs and not reading.commands and not runs_sql(event.tool)


def bypassed(policy: CompiledPolicy, guardrail: str) -> tuple[str, ...]:
    """The guards that an action goes past with a guardrail. Where nothing is left of a budget, the budget itself would
    refuse it, too: both are one."""
    if guardrail != USED_UP:
        return (guardrail,)
    spending = [seat.placed.whole for seat in policy.seats if SPENDS.of(seat.placed.guard) is not None]
    return (USED_UP, *dict.fromkeys(spending))


def no_way(guardrail: str, mode: str) -> BypassRefused:
    """Why there is no way past a guardrail that allows one otherwise."""
    if guardrail == USED_UP or mode == EXHAUSTED:
        return BypassRefused("nothing is left of the budget: only an emergency call of a safety response can go ahead")
    return BypassRefused(f"`{guardrail}` is always active: only an emergency call of a safety response goes past it")
