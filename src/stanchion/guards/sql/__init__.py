"""SQL: statements in tool calls, parsed, and judged by what they would do."""

from __future__ import annotations

from stanchion.guards.sql.guard import CODES, Sql
from stanchion.readings.sql.statement import Does, Effect, Statement


def classify(text: str, dialect: str | None = None) -> tuple[Statement, ...]:
    """What every statement of a text does. Without a dialect it is read as several, and the worst reading counts."""
    from stanchion.readings.sql.classifying import classify as read

    return read(text, dialect)


__all__ = ["CODES", "Does", "Effect", "Sql", "Statement", "classify"]
