"""Arithmetic and order: 64 bits, no silent overflow, no mixed types."""

from __future__ import annotations

import math
from typing import Any

from stanchion.policy.conditions.costs import Purse, spend
from stanchion.policy.conditions.equality import LISTS, NUMERIC
from stanchion.policy.conditions.errors import EvaluationError
from stanchion.policy.conditions.kinds import Uint, kind_of
from stanchion.policy.conditions.limits import INT_MAX, INT_MIN, UINT_MAX

TEXT_PER_STEP = 64
"""How many characters of a new text cost one step."""


def whole(value: int) -> int:
    """A signed number that fits into 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("the number does not fit into 64 bits")


def natural(value: int) -> Uint:
    """An unsigned number that fits into 64 bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("the number does not fit into 64 bits without a sign")


def no_overload(what: str, *values: Any) -> EvaluationError:
    """An error that names types, never values."""
    return EvaluationError(
        f"{what} does not take {' and '.join(kind_of(value) for value in values)}"
    )


def add(purse: Purse, a: Any, b: Any) -> Any:
    """`a + b` of numbers, texts, bytes or lists."""
    kind = type(a)
    if kind in LISTS and type(b) in LISTS:
        spend(purse, len(a) + len(b))
        return [*a, *b]
    if kind is not type(b):
        raise no_overload("`+`", a, b)
    if kind is int:
        return whole(a + b)
    if kind is float:
        return a + b
    if kind is str or kind is bytes:
        spend(purse, 1 + (len(a) + len(b)) // TEXT_PER_STEP)
        return a + b
    if kind is Uint:
        return natural(int(a) + int(b))
    raise no_overload("`+`", a, b)


def sub(a: Any, b: Any) -> Any:
    """`a - b` of two numbers of one type."""
    kind = type(a)
    if kind is type(b) and kind in NUMERIC:
        if kind is float:
            return a - b
        return whole(a - b) if kind is int else natural(int(a) - int(b))
    raise no_overload("`-`", a, b)


def mul(a: Any, b: Any) -> Any:
    """`a * b` of two numbers of one type."""
    kind = type(a)
    if kind is type(b) and kind in NUMERIC:
        if kind is float:
            return a * b
        return whole(a * b) if kind is int else natural(int(a) * int(b))
    raise no_overload("`*`", a, b)


def div(a: Any, b: Any) -> Any:
    """`a / b`: whole numbers are cut towards zero, doubles know infinity."""
    kind = type(a)
    if kind is not type(b) or kind not in NUMERIC:
        raise no_overload("`/`", a, b)
    if kind is float:
        if b != 0.0:
            return a / b
        return (
            math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
        )
    if b == 0:
        raise EvaluationError("a number was divided by zero")
    quotient = abs(int(a)) // abs(int(b))
    return (
        natural(quotient) if kind is Uint else whole(quotient if (a < 0) == (b < 0) else -quotient)
    )


def mod(a: Any, b: Any) -> Any:
    """`a % b` of whole numbers, with the sign of `a`."""
    kind = type(a)
    if kind is not type(b) or (kind is not int and kind is not Uint):
        raise no_overload("`%`", a, b)
    if b == 0:
        raise EvaluationError("a number was divided by zero")
    rest = abs(int(a)) % abs(int(b))
    return natural(rest) if kind is Uint else -rest if a < 0 else rest


def neg(a: Any) -> Any:
    """`-a` of an int or a double."""
    if type(a) is int:
        return whole(-a)
    if type(a) is float:
        return -a
    raise no_overload("`-`", a)


def compared(a: Any, b: Any) -> int | None:
    """-1, 0 or 1 as `a` is less than, equal to or greater than `b`; `None` where one is null or not
    a number.

    A double and a whole number are compared as doubles, as CEL does it.
    """
    kind, other = type(a), type(b)
    if kind is not other and kind in NUMERIC and other in NUMERIC:
        if kind is float or other is float:
            a, b = float(a), float(b)
    elif kind is not other or (
        kind not in NUMERIC and kind is not str and kind is not bytes and kind is not bool
    ):
        if a is None or b is None:
            return None
        raise no_overload("a comparison", a, b)
    return -1 if a < b else 1 if a > b else 0 if a == b else None


def lt(a: Any, b: Any) -> bool:
    """`a < b`; false where one is null."""
    return compared(a, b) == -1


def le(a: Any, b: Any) -> bool:
    """`a <= b`; false where one is null."""
    return compared(a, b) in (-1, 0)


def gt(a: Any, b: Any) -> bool:
    """`a > b`; false where one is null."""
    return compared(a, b) == 1


def ge(a: Any, b: Any) -> bool:
    """`a >= b`; false where one is null."""
    return compared(a, b) in (0, 1)
