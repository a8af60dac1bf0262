"""What is decided where no store answers for state: it is lost, or it has lost what it held."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import BLIND_MS, Plan, Plans, Watch
from stanchion.kernel.declared import READ
from stanchion.kernel.epoch import takes_over
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import Gate, pass_gates
from stanchion.kernel.happened import has_happened
from stanchion.kernel.judgement import Found
from stanchion.kernel.state import ABSENT, EPOCH, STANDING, Crowded, Records, Reply, StoreLost

UNSETTLED: Final = "kernel.done_unsettled"
"""What is said where the store is lost and it has happened already: nothing can be refused any
more."""


def gate_of(plans: Plans, watch: Watch, event: Event, now: int) -> Gate:
    """What the gates say of an event, as they are known."""
    return pass_gates([known[1] for _, known in watch[0][: len(plans.gates)]], event, now)


def store_lost(
    plans: Plans, plan: Plan, event: Event, found: Found, cut: int, lost: StoreLost
) -> tuple[Found, int]:
    """Without the store nothing can be counted: refuse, unless every guard that needs it may fail
    open. Nothing opens because many came at once: whoever floods the store would open it.

    The gates stand before that. What was closed when they were last confirmed stays closed; and
    nothing opens where that is too long ago, because somebody may have closed a gate since.
    """
    code, said = (UNSETTLED, (lost.why,)) if has_happened(event) else (lost.code, lost.said)
    if plans.watch[3] and cut >= 0 and plans.confirmed >= 0:
        finding = gate_of(plans, plans.watch, event, plans.told).finding
        if finding is not None:
            found, cut = [(-1, finding)], -1
    if cut < 0:
        return [*found, (-1, refused(code, said, plan))], -1
    counting: list[tuple[Any, ...]] = [*plan.meters, *plan.records]
    needing = [plan.guards[pos] for pos, *_ in counting if pos <= cut]
    enforced = [placed.fail_open for placed in needing if not placed.shadow]
    recent = plans.confirmed >= 0 and 0 <= event.at - plans.confirmed <= BLIND_MS
    opens = (
        recent
        and event.risk < Risk.CRITICAL
        and not isinstance(lost, Crowded)
        and bool(enforced)
        and all(enforced)
    )
    return _opened(code, said, plan, found, cut, opens)


def forgot(watch: Watch, records: Records, reply: Reply) -> str:
    """The record that shows that a store has lost what it held: its epoch is another, or it or a
    state is older than the batch knew it to be. Empty where all is well, or an operator has said to
    go on: then nothing is known of the store but its new epoch.

    What the process knows by now says nothing of that: another decision may have learned more
    meanwhile.
    """
    before = dict(watch[0])
    for fresh in reply.fresh:
        if fresh.key == EPOCH:
            if not takes_over(before[EPOCH], fresh):
                return EPOCH
            records.clear()
            return ""
    older = [fresh.key for fresh in reply.fresh if fresh.number < before.get(fresh.key, ABSENT)[0]]
    return next((name for name in older if name.endswith(STANDING)), "")


def store_forgot(plan: Plan, moment: Moment, found: Found, cut: int) -> tuple[Found, int]:
    """A store that lost what it held knows of no halt, no budget and no approval: refuse everything
    but reads."""
    first = moment.events[0]
    if cut < 0:
        return [*found, (-1, refused("kernel.store_forgot", (), plan))], -1
    reads = READ in first.traits and first.risk < Risk.HIGH
    return _opened("kernel.store_forgot", (), plan, found, cut, reads and not moment.stakes)


def refused(code: str, args: tuple[str | int, ...], plan: Plan) -> Finding:
    """A refusal by the engine itself; under a policy that only watches it is one of those that
    change nothing."""
    return Finding(Action.BLOCK, code, args, guard="kernel", shadow=plan.shadow)


def _opened(
    code: str, args: tuple[str, ...], plan: Plan, found: Found, cut: int, opens: bool
) -> tuple[Found, int]:
    """What is found where there is no state: what was known without it where the action may go
    ahead all the same, and nothing but the refusal where not."""
    if opens:
        return [
            (-1, Finding(Action.ALLOW, code, args, guard="kernel", shadow=plan.shadow)),
            *found,
        ], cut
    if plan.shadow:
        return [(-1, refused(code, args, plan)), *found], cut
    return [(-1, refused(code, args, plan))], -1
