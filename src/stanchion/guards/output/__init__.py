"""Output: results and final answers say something, and have the form that was asked for."""

from __future__ import annotations

from stanchion.guards.output.guard import CODES, Output

__all__ = ["CODES", "Output"]
