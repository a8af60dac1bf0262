"""The model of a refusal: it is shown to every guard that watches for one, in chain order, on full
history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from model.known import cells, chain_of
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Policy
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed, failure_of
from stanchion.readings import read

if TYPE_CHECKING:
    from model.decide import Expected
    from model.history import History


OF_THE_CALL = (
    "kernel.bad_event",
    "kernel.unread",
    "kernel.no_form",
    "kernel.too_large",
    "kernel.no_lesser",
)
"""What the runtime refuses because of what was proposed, and not because of the state of things."""


def entered(
    policy: Policy,
    moment: Moment,
    history: History | None,
    expected: Expected,
    can: tuple[Action, ...],
) -> Expected:
    """A decision with what is said of its refusal, which is written into history; without one,
    nothing is entered."""
    if expected.action not in (Action.RETRY, Action.BLOCK, Action.QUARANTINE):
        return expected
    refusal = next(finding for finding in expected.findings if finding.action == expected.action)
    of_kernel = refusal.guard == "kernel" and refusal.code.split(".")[0] == "kernel"
    if of_kernel and refusal.code not in OF_THE_CALL:
        return expected
    chain = chain_of(policy, moment, expected.mode)
    if not refusal.about and [
        p for p, _ in chain if p.id == refusal.guard and p.kind == Kind.METER
    ]:
        refusal = msgspec.structs.replace(refusal, about=refusal.guard)
    said: list[Finding] = []
    puts: list[tuple[str, Any]] = []
    counted = False
    for placed, event in chain:
        try:
            if placed.kind != Kind.RECORD or not hasattr(placed.guard, "refused"):
                continue
            name = ("~" if placed.shadow else "") + placed.guard.key(event)
        except Exception:  # noqa: BLE001 - a guard without a key has no record
            continue
        try:
            ruling = placed.guard.refused(
                read(event), None if history is None else history.record(name)[1], refusal
            )
            if ruling is None:
                continue
            if ruling.finding is not None:
                if not isinstance(ruling.finding, Finding):
                    raise TypeError("no finding")
                said.append(_placed(placed, event, ruling.finding, expected.action, can))
        except Exception as error:  # noqa: BLE001 - a guard may raise anything
            args = (placed.id, failure_of(error))
            said.append(
                Finding(
                    Action.ALLOW, "kernel.guard_error", args, guard=placed.id, shadow=placed.shadow
                )
            )
            continue
        counted = True
        if ruling.put is not None:
            puts.append((name, ruling.put))
    if counted and history is None:
        return expected
    if history is not None:
        history.puts += puts
    real = [finding for finding in said if not finding.shadow]
    effects = list(expected.effects)
    for finding in real:
        effects += [effect for effect in finding.effects if effect not in effects]
    return expected._replace(
        action=max([expected.action, *[finding.action for finding in real]]),
        findings=(*expected.findings, *real),
        shadow=(*expected.shadow, *[finding for finding in said if finding.shadow]),
        effects=tuple(effects),
    )


def _placed(
    placed: Placed, event: Event, finding: Finding, refused: Action, can: tuple[Action, ...]
) -> Finding:
    """A finding as it stands in a decision: one that says no more than the refusal does is left as
    it is."""
    action = finding.action
    if action > refused:
        action = cells(event.stage, can)[action]
    said = None if action == finding.action else finding.action
    return msgspec.structs.replace(
        finding, action=action, guard=placed.id, shadow=placed.shadow, said=said
    )
