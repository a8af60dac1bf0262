"""Schema: arguments and structured results are held against the definitions of their tools."""

from __future__ import annotations

from stanchion.guards.schema.codes import CODES
from stanchion.guards.schema.guard import Schema

__all__ = ["CODES", "Schema"]
