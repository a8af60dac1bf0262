"""PII: personal data that has a shape, found inline and without a model."""

from __future__ import annotations

from stanchion.guards.pii.guard import CODES, Pii

__all__ = ["CODES", "Pii"]
