"""Verdicts: what each guardrail said of a decision, those that passed included, from its record and
its policy.

A record names who spoke and who was no longer asked; which guards the chain had is in the policy,
and the record has its hash. So both together give what `chain_result()` gave when it was decided,
without how long it took.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from stanchion.audit.rebuilt import inputs_of
from stanchion.audit.record import RecordEntry
from stanchion.audit.worded import worded
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plan, Plans
from stanchion.kernel.chain_result import chain_result
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.replay import could
from stanchion.policy.compiled import CompiledPolicy

SKIPPED: Final = "skipped"


class VerdictView(Struct, frozen=True):
    """What one guardrail said: `pass`, `warn`, `escalate` or `block`, and why; `skipped` where it
    was not asked."""

    guardrail_id: str
    result: str
    message: str


def plan_of(entry: RecordEntry, moment: Moment, policy: CompiledPolicy | None) -> Plan | None:
    """The chain by which a decision was made; `None` where the policy is another one by now, or not
    there."""
    if policy is None or policy.hash != entry.policy:
        return None
    return Plans(policy, moment.events[0].run, could(inputs_of(entry))).of(
        moment.events, entry.mode
    )


def verdicts(
    entry: RecordEntry, plan: Plan | None, erased: bool = False
) -> tuple[VerdictView, ...]:
    """What each guardrail said, in the order of the chain; nothing where the chain is not known."""
    if plan is None:
        return ()
    found = [
        Finding(Action[said.action], said.code, guard=said.guard, text=worded(said, erased).message)
        for said in entry.findings
    ]
    result = chain_result(plan.lineup.trace, found, entry.skipped)
    said = [VerdictView(one.guardrail_id, one.result, one.message) for one in result.details]
    return (*said, *[VerdictView(name, SKIPPED, "") for name in result.skipped])
