"""Flow: calls are held against what the user asked for and where each of their values comes from."""

from __future__ import annotations

from stanchion.guards.flow.codes import CODES
from stanchion.guards.flow.guard import Flow

__all__ = ["CODES", "Flow"]
