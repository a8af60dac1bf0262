"""Evidence: changed code is handed on only when its tests have passed, and nobody says so who has
not seen it."""

from __future__ import annotations

from stanchion.guards.evidence.codes import CODES
from stanchion.guards.evidence.guard import Evidence

__all__ = ["CODES", "Evidence"]
