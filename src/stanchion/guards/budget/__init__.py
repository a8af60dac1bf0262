"""Budget: what a run, task, agent, tenant or the whole fleet may spend, reserved before and settled
after."""

from __future__ import annotations

from stanchion.guards.budget.allotment import (
    ALLOTTED,
    HOLD_MS,
    SPENDS,
    Allotment,
    allotment_key,
    allotments,
)
from stanchion.guards.budget.entry import ACTS, MEASURES, phrase, shown
from stanchion.guards.budget.guard import CODES, Budget, Requests

__all__ = [
    "ACTS",
    "ALLOTTED",
    "CODES",
    "HOLD_MS",
    "MEASURES",
    "SPENDS",
    "Allotment",
    "Budget",
    "Requests",
    "allotment_key",
    "allotments",
    "phrase",
    "shown",
]
