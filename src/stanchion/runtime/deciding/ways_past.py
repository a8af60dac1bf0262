"""Ways past a guardrail: whether an action may go past what refused it at all, by whose yes, or in
an emergency."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from stanchion.approvals.bypass import authorities
from stanchion.approvals.errors import BypassRefused
from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import EXHAUSTED, MODES, USED_UP, autonomy
from stanchion.kernel.compare_and_set import change_together
from stanchion.kernel.content import content_of
from stanchion.kernel.contract.powers import having
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import LASTING
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import ABSENT
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.nearest import hint
from stanchion.policy.schema import id_of
from stanchion.readings.names import letters, words
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow

BEGINS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF})
"""Stages of what has not happened yet: only that can go past a guardrail."""

LOSES: Final = frozenset(
    {
        "clean", "clear", "destroy", "drop", "empty", "expire", "flush", "format", "nuke",
        "overwrite", "prune", "purge", "reset", "rollback", "truncate", "uninstall", "wipe", "zap",
        "zero",
    }
)  # fmt: skip
"""Words in the names of tools after which something is gone."""
RUNS: Final = frozenset({"eval", "evaluate", "exec", "execute", "invoke", "run", "spawn"})
RUNS_IT: Final = frozenset(
    {
        "bash", "cmd", "code", "command", "commands", "docker", "expression", "kubectl",
        "powershell", "program", "query", "script", "sh", "shell", "source", "sql", "ssh",
        "statement", "statements",
    }
)  # fmt: skip
"""Words with which the name of a tool begins that runs what it is given, and words for what it
runs."""


class Ways(NamedTuple):
    """Who may say yes, the first authority first, and whether the action may go ahead unanswered in
    an emergency."""

    asks: tuple[str, ...]
    responds: bool

    @property
    def none(self) -> bool:
        """Whether there is no way at all."""
        return not self.asks and not self.responds


def refused_by(policy: CompiledPolicy, event: Event, decision: Decision) -> str:
    """The guardrail that refused an action which could go past it; empty where there is none. What
    the kernel says of a guard that broke is no guardrail's refusal."""
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
    """The ways past a guardrail for an action in a mode; `BypassRefused` where it has none by what
    the policy says."""
    responds = is_response(policy, event)
    if guardrail == USED_UP:
        return Ways((), responds)
    entry = entry_of(policy, guardrail)
    if is_always(policy, guardrail):
        return Ways((), responds)
    if not entry.bypass.allowed:
        raise no_way(policy, guardrail, mode)
    return Ways(
        authorities(entry.bypass.requires_approval, policy.file.escalation.roles, mode), responds
    )


def mode_now(desk: Desk, decision: Decision) -> Flow[str]:
    """The mode that a refused action is in, by what the store knows of its budgets now: who refuses
    without the store may know less. A state that is no mode of autonomy stays what it is."""
    shares, records = desk.plans.shares, desk.shield.records
    if not shares or decision.inputs.mode not in MODES:
        return decision.inputs.mode
    names = [one.key for one in shares]
    yield from change_together(
        records, f"{desk.new_id()}.mode", desk.info.tenant, lambda: (*names,), lambda _now: {}
    )
    return autonomy(shares, records).mode


def entry_of(policy: CompiledPolicy, guardrail: str) -> Any:
    """The entry of a guardrail in the policy; `BypassRefused` where there is none."""
    known = {id_of(entry): entry for entry in policy.file.guards if not entry.part_of}
    if guardrail not in known:
        raise BypassRefused(f"there is no guardrail `{guardrail}`: {hint(guardrail, [*known])}")
    return known[guardrail]


def is_always(policy: CompiledPolicy, guardrail: str) -> bool:
    """Whether a guardrail, or a part of it, is always active."""
    return any(
        entry.always for entry in policy.file.guards if guardrail in (id_of(entry), entry.part_of)
    )


def is_response(policy: CompiledPolicy, event: Event) -> bool:
    """Whether an action may stop harm before anybody has answered: a call of a tool that the policy
    lists for that, and that neither its effect nor its reading calls destructive. What runs
    whatever it is given is none."""
    if event.stage is not Stage.TOOL_CALL or event.tool not in policy.file.bypass.safety_responses:
        return False
    if not LASTING.isdisjoint(event.traits):
        return False
    from stanchion.readings.sql.places import runs_sql

    reading = policy.read(event)
    act, said = reading.act, words(event.tool)
    if act.use == "delete" or act.runs or reading.commands or runs_sql(event.tool):
        return False
    given = {word for name in content_of(event) for word in letters(str(name))}
    loses = not LOSES.isdisjoint(act.words) or not RUNS_IT.isdisjoint(act.words | given)
    return not loses and not (said and said[0] in RUNS)


def bypassed(desk: Desk, guardrail: str) -> tuple[str, ...]:
    """The guards that an action goes past with a guardrail. Where nothing is left of a budget, the
    budget itself would refuse it, too: both are one. A budget of which something is left still
    judges."""
    if guardrail != USED_UP:
        return (guardrail,)
    used_up = [
        seat.placed.whole
        for seat in desk.shield.policy.seats
        if _is_used_up(desk, seat.placed.guard)
    ]
    return (USED_UP, *dict.fromkeys(used_up))


def _is_used_up(desk: Desk, guard: Any) -> bool:
    spending, records = having(guard, "limits"), desk.shield.records
    totals = {} if spending is None else spending.totals(desk.plans.run)
    return any(records.get(name, ABSENT)[0] >= limit for name, limit in totals.items())


def no_way(policy: CompiledPolicy, guardrail: str, mode: str) -> BypassRefused:
    """Why there is no way past a guardrail."""
    if guardrail != USED_UP and not (
        is_always(policy, guardrail) or entry_of(policy, guardrail).bypass.allowed
    ):
        return BypassRefused(
            f"`{guardrail}` allows no bypass: change the action, or report what prevents your work"
        )
    if guardrail == USED_UP or mode == EXHAUSTED:
        return BypassRefused(
            "nothing is left of the budget: only an emergency call of a safety response can go "
            "ahead"
        )
    return BypassRefused(
        f"`{guardrail}` is always active: only an emergency call of a safety response goes past it"
    )
