"""SQL: statements in tool calls, parsed, and judged by what they would do."""

from __future__ import annotations

from stanchion.guards.sql.guard import CODES, Sql
from stanchion.readings.sql.statement import Does, Effect, Statement

__all__ = ["CODES", "Does", "Effect", "Sql", "Statement"]
