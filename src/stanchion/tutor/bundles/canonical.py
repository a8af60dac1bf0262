"""JSON in one form, that of RFC 8785: equal data gives equal bytes, whoever writes it and in
whichever language."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

EXACT: Final = 2**53 - 1
"""Whole numbers beyond this are not the same everywhere."""
DEEPEST: Final = 64
PREFIX: Final = "sha256:"
WHOLE_DIGITS: Final = 21
"""Up to how many digits before the point a number is written out."""
SMALL_ZEROS: Final = 6
"""How many zeros may follow the point before a number is written with an exponent."""


class NotCanonical(ValueError):
    """Why data has no canonical form."""


def canonical(value: Any) -> bytes:
    """The canonical JSON of plain data; raises `NotCanonical` for what has none."""
    try:
        return _written(value, 0).encode()
    except UnicodeEncodeError:
        raise NotCanonical("a text has half of a surrogate pair") from None


def digest(value: Any) -> str:
    """The hash of plain data."""
    return PREFIX + sha256(canonical(value)).hexdigest()


def _written(value: Any, depth: int) -> str:
    if depth > DEEPEST:
        raise NotCanonical(f"it is more than {DEEPEST} levels deep")
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return _number(value)
        case Mapping():
            if not all(isinstance(name, str) for name in value):
                raise NotCanonical("a key is no text")
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            pairs = (
                f"{_written(name, depth)}:{_written(value[name], depth + 1)}" for name in names
            )
            return f"{{{','.join(pairs)}}}"
        case list() | tuple():
            return f"[{','.join(_written(one, depth + 1) for one in value)}]"
        case _:
            raise NotCanonical(f"`{type(value).__name__}` is not of JSON")


def _number(value: float) -> str:
    """A number as ECMAScript writes it."""
    if isinstance(value, int):
        if abs(value) > EXACT:
            raise NotCanonical(f"a whole number is beyond {EXACT}: write it as a text")
        return str(value)
    if not math.isfinite(value):
        raise NotCanonical(f"`{value}` is no finite number")
    if value == 0:
        return "0"
    sign, figures, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)  # it is finite
    digits = "".join(map(str, figures))
    return ("-" if sign else "") + _placed(digits, len(digits) + exponent)


def _placed(digits: str, point: int) -> str:
    """Digits with the point behind as many of them as `point` says."""
    if len(digits) <= point <= WHOLE_DIGITS:
        return digits + "0" * (point - len(digits))
    if 0 < point <= WHOLE_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if -SMALL_ZEROS < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if digits[1:] else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"
