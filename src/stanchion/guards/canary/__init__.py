"""Canaries: tokens that have no business anywhere but where they were put, so that it shows where
they turn up."""

from __future__ import annotations

from stanchion.guards.canary.guard import CODES, Canary
from stanchion.guards.canary.token import LabelError, token

__all__ = ["CODES", "Canary", "LabelError", "token"]
