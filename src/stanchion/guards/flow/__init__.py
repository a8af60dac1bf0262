"""Flow: a person is asked about a call whose values nobody gave but a text that was read."""

from __future__ import annotations

from stanchion.guards.flow.codes import CODES
from stanchion.guards.flow.guard import Flow

__all__ = ["CODES", "Flow"]
