"""How large a condition may be, how much one evaluation may cost, and what goes wrong with
either."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.guard import Unjudged
from stanchion.kernel.shown import StanchionError

TEXT: Final = 10_000
"""Characters of a condition."""

NESTING: Final = 40
"""Brackets, calls and branches inside each other."""

DEPTH: Final = 64
"""Height of the tree, chains of operators included."""

NODES: Final = 2_000
"""Parts of a condition: literals, names, operators, calls."""

ITEMS: Final = 1_000
"""Elements of one list or map that is written out."""

STEPS: Final = 10_000
"""Steps of one evaluation: elements visited, elements compared, and what is charged for long
texts."""

PATTERN: Final = 1_000
"""Characters of a regular expression."""

PROGRAM: Final = 2_000
"""Instructions of a compiled regular expression, repetitions written out."""

GLOB: Final = 500
"""Characters of a glob."""

PATH: Final = 8_192
"""Characters of a text that is matched as a path."""

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1


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


Purse = list[int]
"""The steps that an evaluation has left, in a list so that all its code shares them."""


def spend(purse: Purse, steps: int) -> None:
    """Take steps; raises `TooCostly` where there are not enough."""
    left = purse[0] - steps
    purse[0] = left
    if left < 0:
        raise TooCostly(
            f"the condition needs more than {STEPS:,} steps: use shorter lists and texts"
        )


def weigh(purse: Purse, value: Any, weight: int) -> Any:
    """Pay for looking through a text: `weight` steps for every 1,024 characters."""
    if type(value) is str or type(value) is bytes:
        spend(purse, len(value) * weight >> 10)
    return value
