"""Flow: a call is stopped where a text that somebody else wrote explains it, and the user does
not."""

from __future__ import annotations

from stanchion.guards.flow.codes import CODES
from stanchion.guards.flow.guard import Flow
from stanchion.guards.flow.settings import RULES, Thresholds

__all__ = ["CODES", "RULES", "Flow", "Thresholds"]
