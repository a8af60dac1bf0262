"""Comparing two policies: everything by which the new one may let something through that the old
one would not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.loosening.directions import Direction, Stricter, keeps
from stanchion.policy.loosening.guards import guards_loosened
from stanchion.policy.loosening.said import Loosening, changed
from stanchion.policy.loosening.tables import UNREAD, tables_loosened, told_otherwise

QUORUM: Final = (1, None, *range(2, 65))
"""How many yes-answers a critical action takes, the fewest first; where nothing is said it is 1 or
2."""

WHOLE: Final[dict[str, Stricter]] = {
    "name": Direction.WORDS,
    "version": Direction.WORDS,
    "mode": ("shadow", "enforce"),
    "autonomy": Direction.ON,
    "unread": UNREAD,
    "durations": Direction.WORDS,
    "timezone": Direction.SAME,
    "faults": Direction.SAME,
    "limits.warnings": Direction.LOWER,
    "limits.count_marks": Direction.ON,
    "limits.matches_a_kb": Direction.SAME,
    "escalation.roles": Direction.SHORTER,
    "escalation.timeout_s": Direction.LOWER,
    "escalation.next_after_s": Direction.WORDS,
    "escalation.quorum": QUORUM,
    "escalation.wait_s": Direction.LOWER,
    "escalation.tickets_for_a_run": Direction.LOWER,
    "escalation.tickets_a_minute": Direction.LOWER,
    "escalation.dialogs": Direction.SHORTER,
    "bypass.timeout_s": Direction.LOWER,
    "bypass.emergency_s": Direction.HIGHER,
    "bypass.review_s": Direction.LOWER,
    "bypass.safety_responses": Direction.SHORTER,
    "approved": Direction.SHORTER,
    "deep": Direction.SAME,
    "operators": Direction.SAME,
    "degrade": Direction.SAME,
    "experience.tier": ("persistent", "process", "session", "none"),
    "experience.days": Direction.LOWER,
    "experience.rows": Direction.LOWER,
    "advice": Direction.WORDS,
    "strikes.per": Direction.SAME,
    "strikes.decay_s": Direction.HIGHER,
    "strikes.escalate_at": Direction.LOWER,
    "strikes.quarantine_at": Direction.LOWER,
    "strikes.quarantine_s": Direction.HIGHER,
}
"""Directions of what a policy says for all; `guards` and the tables are compared entry by entry."""


def loosenings(old: CompiledPolicy, new: CompiledPolicy) -> tuple[Loosening, ...]:
    """What the new policy may let through that the old one would not, judging one event on the same
    state.

    Whatever is not known to be the same or stricter is among it. An empty answer means that every
    event which the old policy refuses is refused by the new one.
    """
    told = told_otherwise(old, new)
    return (*_whole(old, new), *guards_loosened(old, new, told), *tables_loosened(old, new))


def _whole(old: CompiledPolicy, new: CompiledPolicy) -> Iterator[Loosening]:
    for path, stricter in WHOLE.items():
        before, after = _said(old.file, path), _said(new.file, path)
        if not keeps(stricter, before, after):
            yield changed("policy", path, before, after, sure=stricter is not Direction.SAME)
    asked, later = old.file.escalation.roles, new.file.escalation.roles
    if (
        set(later) <= set(asked)
        and later != asked
        and (not later or tuple(role for role in asked if role in later) != later)
    ):
        yield changed("policy", "escalation.roles", asked, later)


def _said(file: Any, path: str) -> Any:
    for name in path.split("."):
        file = getattr(file, name)
    if path == "approved":
        # An entry that says something else is another one, whatever it is called.
        return tuple(
            [f"{name} {msgspec.json.encode(entry).decode()}" for name, entry in file.items()]
        )
    return file
