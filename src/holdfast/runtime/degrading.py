"""Degrading: the lesser request that takes an action's place."""

from __future__ import annotations

from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Event
from holdfast.runtime.desk import Desk


def lesser(desk: Desk, event: Event, decision: Decision) -> Event:
    """The same action as a lesser one, for a new judgement; `event` has the decision's patches already."""
    return desk.renewed(event)
