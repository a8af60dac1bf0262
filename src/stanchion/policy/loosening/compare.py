"""Comparing two policies: everything by which the new one may let something through that the old
one would not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.option import Stricter, Strictness
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.loosening.directions import keeps
from stanchion.policy.loosening.guards import guards_loosened
from stanchion.policy.loosening.said import Loosening, changed
from stanchion.policy.loosening.tables import UNREAD, tables_loosened, told_otherwise

QUORUM: Final = (1, None, *range(2, 65))
"""How many yes-answers a critical action takes, the fewest first; where nothing is said it is 1 or
2."""

WHOLE: Final[dict[str, Strictness]] = {
    "name": Stricter.WORDS,
    "version": Stricter.WORDS,
    "mode": ("shadow", "enforce"),
    "autonomy": Stricter.ON,
    "unread": UNREAD,
    "durations": Stricter.WORDS,
    "timezone": Stricter.SAME,
    "faults": Stricter.SAME,
    "limits.warnings": Stricter.LOWER,
    "limits.count_marks": Stricter.ON,
    "limits.matches_a_kb": Stricter.SAME,
    "limits.command_chars": Stricter.SAME,
    "limits.command_steps": Stricter.SAME,
    "limits.command_depth": Stricter.SAME,
    "limits.query_chars": Stricter.SAME,
    "limits.query_steps": Stricter.SAME,
    "limits.query_depth": Stricter.SAME,
    "escalation.roles": Stricter.SHORTER,
    "escalation.timeout_s": Stricter.LOWER,
    "escalation.next_after_s": Stricter.WORDS,
    "escalation.quorum": QUORUM,
    "escalation.wait_s": Stricter.LOWER,
    "escalation.tickets_for_a_run": Stricter.LOWER,
    "escalation.tickets_a_minute": Stricter.LOWER,
    "escalation.dialogs": Stricter.SHORTER,
    "bypass.timeout_s": Stricter.LOWER,
    "bypass.emergency_s": Stricter.HIGHER,
    "bypass.review_s": Stricter.LOWER,
    "bypass.safety_responses": Stricter.SHORTER,
    "approved": Stricter.SHORTER,
    "deep": Stricter.SAME,
    "operators": Stricter.SAME,
    "degrade": Stricter.SAME,
    "experience.tier": ("persistent", "process", "session", "none"),
    "experience.days": Stricter.LOWER,
    "experience.rows": Stricter.LOWER,
    "advice": Stricter.WORDS,
    "strikes.per": Stricter.SAME,
    "strikes.decay_s": Stricter.HIGHER,
    "strikes.escalate_at": Stricter.LOWER,
    "strikes.quarantine_at": Stricter.LOWER,
    "strikes.quarantine_s": Stricter.HIGHER,
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
            yield changed("policy", path, before, after, sure=stricter is not Stricter.SAME)
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
