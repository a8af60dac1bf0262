"""Conversions between scalars; null stays null."""

from __future__ import annotations

import math
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.arithmetic import TEXT_PER_STEP, natural, no_overload, whole
from stanchion.policy.conditions.costs import Purse, spend
from stanchion.policy.conditions.equality import NUMERIC
from stanchion.policy.conditions.errors import EvaluationError
from stanchion.policy.conditions.kinds import Uint
from stanchion.policy.conditions.limits import INT_MAX, INT_MIN, UINT_MAX

_INT: Final = regex(r"[-+]?[0-9]{1,20}")
_DOUBLE: Final = regex(
    r"[-+]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,4})?"
)
_SPECIAL: Final = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "+Infinity": math.inf,
    "-Infinity": -math.inf,
}
_TRUTHS: Final = {
    **dict.fromkeys(("1", "t", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "false", "FALSE", "False"), False),
}


def to_int(value: Any) -> int | None:
    """A number or digits as a signed number."""
    kind = type(value)
    if value is None or kind is int:
        return value  # type: ignore[no-any-return]  # None or int, as just tested
    if kind is Uint:
        return whole(int(value))
    if kind is float and INT_MIN < value < INT_MAX:
        return int(value)
    if kind is str and _INT.fullmatch(value):
        return whole(int(value))
    raise no_overload("`int`, which needs a number in range,", value)


def to_uint(value: Any) -> Uint | None:
    """A number or digits as an unsigned number."""
    kind = type(value)
    if value is None or kind is Uint:
        return value  # type: ignore[no-any-return]  # None or Uint, as just tested
    if kind is int:
        return natural(value)
    if kind is float and 0 <= value < UINT_MAX:
        return natural(int(value))
    if kind is str and _INT.fullmatch(value):
        return natural(int(value))
    raise no_overload("`uint`, which needs a number in range,", value)


def to_double(value: Any) -> float | None:
    """A number or its text as a double."""
    if value is None:
        return None
    if type(value) in NUMERIC:
        return float(value)
    if type(value) is str:
        if _DOUBLE.fullmatch(value):
            return float(value)
        if value in _SPECIAL:
            return _SPECIAL[value]
    raise no_overload("`double`, which needs a number,", value)


def to_string(purse: Purse, value: Any) -> str | None:
    """A scalar as text."""
    kind = type(value)
    if value is None or kind is str:
        return value  # type: ignore[no-any-return]  # None or str, as just tested
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Uint:
        return str(int(value))
    if kind is float:
        if not math.isfinite(value):
            return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if kind is bytes:
        spend(purse, 1 + len(value) // TEXT_PER_STEP)
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise EvaluationError("the bytes are not UTF-8") from None
    raise no_overload("`string`", value)


def to_bytes(purse: Purse, value: Any) -> bytes | None:
    """A text as UTF-8."""
    if value is None or type(value) is bytes:
        return value
    if type(value) is str:
        spend(purse, 1 + len(value) // TEXT_PER_STEP)
        return value.encode()
    raise no_overload("`bytes`", value)


def to_bool(value: Any) -> bool | None:
    """A truth value, or the text of one."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str and value in _TRUTHS:
        return _TRUTHS[value]
    raise no_overload("`bool`, which needs true or false,", value)


def dyn(value: Any) -> Any:
    """The value itself."""
    return value
