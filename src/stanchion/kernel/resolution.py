"""Resolving: what was found becomes one decision."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plan
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Patch, Trace
from stanchion.kernel.guard import Reading
from stanchion.kernel.happened import has_happened
from stanchion.kernel.judgement import Found, patches_of, reached
from stanchion.kernel.lineup import COUNTING
from stanchion.kernel.sizes import unread
from stanchion.kernel.soundness import sound_or_none

BROKEN: Final = Patch((), {"$withheld": "a guard that redacts failed"}, kind="withheld")
"""What stands for content in which nobody knows what to hide."""


def resolve(
    plan: Plan,
    moment: Moment,
    readings: tuple[Reading, ...],
    found: Found,
    cut: int,
    inputs: Inputs,
    held: bool = False,
    wrote: tuple[Known, ...] = (),
    trace: Trace | None = None,
) -> Decision:
    """The most severe finding wins; patches apply if it goes ahead; effects are joined, once each,
    in order. What is written down of a refusal is without what skipped guards would have hidden; no
    `readings`, where that is not wanted."""
    trace = plan.lineup.trace if trace is None else trace
    if not found:
        name = moment.events[0].id
        return Decision(
            name, Action.ALLOW, plan.policy, (), (), (), (), (), held, inputs, plan.passes, wrote,
            None, trace,
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
        tuple([placed.id for placed in plan.guards[cut + 1 :]]),
        tuple([finding for _, finding in ordered if finding.shadow]),
        patches_of(ordered) if action <= PROCEEDS else (),
        effects,
        held,
        inputs,
        _passed(plan, ordered, cut, bool(inputs.lost)) if plan.passes else (),
        wrote,
        moment.events[0].stage if action > PROCEEDS and has_happened(moment.events[0]) else None,
        _veiled(plan, readings[0], real, cut, trace) if cut < plan.end and readings else trace,
    )


def _veiled(
    plan: Plan, reading: Reading, said: tuple[Finding, ...], cut: int, trace: Trace
) -> Trace:
    """A trace with what the guards behind a stop would have hidden in the first event: its content
    is written down all the same, unless it was too large to be read."""
    if unread(said):
        return trace
    hides: list[Patch] = []
    kept: list[Patch] = []
    for pos, judge, index in plan.redactors:
        if index or pos <= cut:
            continue
        try:
            finding = sound_or_none(judge(reading))
            wanted = () if finding is None else (*finding.patches, *finding.hides)
        except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
            wanted = (BROKEN,)
        kept += wanted
        hides += () if plan.guards[pos].shadow else wanted
    return Trace(trace.chain, trace.took_ns, _whole(hides), _whole(kept))


def _whole(patches: list[Patch]) -> tuple[Patch, ...]:
    """Patches, or the one that withholds everything."""
    return (BROKEN,) if BROKEN in patches else tuple(patches)


def _passed(plan: Plan, found: Found, cut: int, lost: bool) -> tuple[str, ...]:
    """The guards that were asked and found nothing, of those that want it written down."""
    loud = {finding.guard for _, finding in found}
    asked = plan.guards[: cut + 1]
    quiet = [
        placed.id for placed in asked if placed.log_pass and not (lost and placed.kind in COUNTING)
    ]
    return tuple(dict.fromkeys([guard for guard in quiet if guard not in loud]))
