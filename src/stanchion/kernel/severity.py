"""Severity of answers: which may stand in the place of which, and nothing gets through that did
not."""

from __future__ import annotations

from stanchion.kernel.actions import STOPS, Action


def severer(old: Action, new: Action) -> bool:
    """Whether an action lets nothing through that another would not.

    What only records can become anything. A warning counts towards the one that escalates, and what
    is redacted goes ahead without the part that was found: both can only become what refuses, or,
    for a warning, what asks a person.
    """
    if old == new or old == Action.ALLOW:
        return True
    if new >= STOPS:
        return new > old
    return old == Action.WARN and new == Action.ESCALATE
