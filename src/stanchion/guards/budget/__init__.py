"""Budget: what a run, task, agent, tenant or the whole fleet may spend, reserved before and settled after."""

from __future__ import annotations

from stanchion.guards.budget.guard import CODES, HOLD_MS, SPENDS, Budget, Grant, Requests, grant_key, grants
from stanchion.guards.budget.measures import ACTS, MEASURES, phrase, shown

__all__ = [
    "ACTS",
    "CODES",
    "HOLD_MS",
    "MEASURES",
    "SPENDS",
    "Budget",
    "Grant",
    "Requests",
    "grant_key",
    "grants",
    "phrase",
    "shown",
]
