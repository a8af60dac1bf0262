"""Evidence: changed code is handed on only when its tests have passed, and nobody says so who has not seen it."""

from __future__ import annotations

from holdfast.guards.evidence.codes import CODES
from holdfast.guards.evidence.guard import Evidence

__all__ = ["CODES", "Evidence"]
