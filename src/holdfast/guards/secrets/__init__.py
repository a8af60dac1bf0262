"""Secrets: credentials in calls, results, replies and requests, found by how they look and by what they are called."""

from __future__ import annotations

from holdfast.guards.secrets.codes import CODES
from holdfast.guards.secrets.guard import Secrets

__all__ = ["CODES", "Secrets"]
