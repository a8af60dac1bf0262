"""What can go wrong with a condition: at load, or on one event."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.guard import Unjudged
from stanchion.kernel.shown import StanchionError


class ConditionError(StanchionError, ValueError):
    """A condition cannot be used; `start` and `end` are the offsets of the characters at fault."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


class EvaluationError(Unjudged):
    """A condition has no answer for this event; the caller fails closed."""


class TooCostly(EvaluationError):
    """An evaluation took more steps than it may; nothing absorbs this."""


FAILURES: Final = (
    EvaluationError,
    TypeError,
    ValueError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""What compiled code can raise: its own errors, and Python's where a view holds what its type does
not say."""
