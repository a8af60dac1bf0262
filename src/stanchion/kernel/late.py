"""Late answers: what an answer that missed its event still does to the run's next one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import FINAL, Finding
from stanchion.kernel.guard import Placed, Reading, failure_of
from stanchion.kernel.soundness import sound_or_none


def in_order(late: Iterable[Finding]) -> list[Finding]:
    """Late answers as they enter the next event: in the same order whichever came first."""
    return sorted(
        late,
        key=lambda finding: (finding.guard, -finding.action, [str(part) for part in finding.args]),
    )


def late_finding(placed: Placed, reading: Reading, value: Any) -> Finding | None:
    """Judge an answer that came too late for its event, as a finding for the next one: by what was
    asked.

    HALT, QUARANTINE and ESCALATE stand, BLOCK becomes ESCALATE, anything milder a warning, and what
    only has effects has them. A judgement that fails now cannot refuse what has already happened,
    so it warns.
    """
    try:
        finding = sound_or_none(placed.guard.judge(reading, value))
    except Exception as error:  # noqa: BLE001 - a user's code may raise anything
        return _entered(placed, Action.WARN, (placed.id, failure_of(error)))
    if finding is None or (finding.action == Action.ALLOW and not finding.effects):
        return None
    action = finding.action
    if action == Action.BLOCK:
        action = Action.ESCALATE
    elif action not in (Action.HALT, Action.QUARANTINE, Action.ESCALATE, Action.ALLOW):
        action = Action.WARN
    said = (placed.id, finding.message, *finding.args)
    text = finding.message if action == Action.HALT and FINAL in finding.effects else ""
    return _entered(placed, action, said, finding.effects, finding.terms, text)


def _entered(
    placed: Placed,
    action: Action,
    said: tuple[Any, ...],
    effects: tuple[str, ...] = (),
    terms: Any = None,
    text: str = "",
) -> Finding:
    """A finding for the next event: the guard, its words, and what it says besides."""
    return Finding(
        action,
        "kernel.late_answer",
        said,
        text,
        effects=effects,
        terms=terms,
        guard=placed.id,
        shadow=placed.shadow,
    )
