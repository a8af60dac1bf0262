"""Schema: arguments and structured results are held against the definitions of their tools."""

from __future__ import annotations

from holdfast.guards.schema.codes import CODES
from holdfast.guards.schema.guard import Schema

__all__ = ["CODES", "Schema"]
