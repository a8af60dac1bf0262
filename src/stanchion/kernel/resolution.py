"""Resolving: what was found becomes one decision."""

from __future__ import annotations

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plan
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Trace
from stanchion.kernel.happened import has_happened
from stanchion.kernel.judgement import Found, patches_of, reached
from stanchion.kernel.lineup import COUNTING


def resolve(
    plan: Plan,
    moment: Moment,
    found: Found,
    cut: int,
    inputs: Inputs,
    held: bool = False,
    wrote: tuple[Known, ...] = (),
    trace: Trace | None = None,
) -> Decision:
    """The most severe finding wins; patches apply if it goes ahead; effects are joined, once each,
    in order."""
    if not found:
        name = moment.events[0].id
        return Decision(
            name, Action.ALLOW, plan.policy, (), (), (), (), (), held, inputs, plan.passes, wrote,
            None, plan.lineup.trace if trace is None else trace,
        )  # fmt: skip
    ordered = reached(found, cut)
    real = tuple([finding for _, finding in ordered if not finding.shadow])
    action = max([finding.action for finding in real], default=Action.ALLOW)
    effects = tuple(dict.fromkeys([effect for finding in real for effect in finding.effects]))
    return Decision(
        moment.id,
        action,
        plan.policy,
        real,
        tuple([placed.id for placed in plan.guards[cut + 1 :]]) if cut < plan.end else (),
        tuple([finding for _, finding in ordered if finding.shadow]),
        patches_of(ordered) if action <= PROCEEDS else (),
        effects,
        held,
        inputs,
        _passed(plan, [finding for _, finding in ordered], cut, bool(inputs.lost))
        if plan.passes
        else (),
        wrote,
        moment.events[0].stage if action > PROCEEDS and has_happened(moment.events[0]) else None,
        plan.lineup.trace if trace is None else trace,
    )


def _passed(plan: Plan, spoke: list[Finding], cut: int, lost: bool) -> tuple[str, ...]:
    """The guards that were asked and found nothing, of those that want it written down."""
    loud = {finding.guard for finding in spoke}
    asked = plan.guards[: cut + 1]
    quiet = [
        placed.id for placed in asked if placed.log_pass and not (lost and placed.kind in COUNTING)
    ]
    return tuple(dict.fromkeys([guard for guard in quiet if guard not in loud]))
