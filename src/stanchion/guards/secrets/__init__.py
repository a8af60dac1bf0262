"""Secrets: credentials in calls, results, replies and requests, found by how they look and by what
they are called."""

from __future__ import annotations

from stanchion.guards.secrets.codes import CODES
from stanchion.guards.secrets.guard import Secrets

__all__ = ["CODES", "Secrets"]
