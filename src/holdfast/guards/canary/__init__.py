"""Canaries: tokens that have no business anywhere but where they were put, so that it shows where they turn up."""

from __future__ import annotations

from holdfast.guards.canary.guard import CODES, Canary
from holdfast.guards.canary.token import LabelError, token

__all__ = ["CODES", "Canary", "LabelError", "token"]
