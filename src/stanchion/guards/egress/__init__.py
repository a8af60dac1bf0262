"""Egress: where requests and the URLs in calls may go; nothing internal unless the policy says
so."""

from __future__ import annotations

from stanchion.guards.egress.codes import CODES
from stanchion.guards.egress.guard import EgressGuard

__all__ = ["CODES", "EgressGuard"]
