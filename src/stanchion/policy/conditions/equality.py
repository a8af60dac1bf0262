"""Equality across types: numbers by value, everything else by kind, never `true == 1`."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.names import Names
from stanchion.policy.conditions.costs import Purse, spend
from stanchion.policy.conditions.errors import EvaluationError
from stanchion.policy.conditions.kinds import Uint, kind_of

NUMERIC: Final = frozenset({int, float, Uint})
LISTS: Final = (list, tuple)


def equal(purse: Purse, left: Any, right: Any) -> bool:
    """Whether two values are equal, all they contain included."""
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        kind, other = type(a), type(b)
        spend(purse, 1)
        if kind is other and (kind is str or kind is bytes):
            spend(purse, len(a) >> 10)
            if a != b:
                return False
        elif kind in NUMERIC and other in NUMERIC:
            if kind is not other and (kind is float or other is float):
                a, b = float(a), float(b)
            if a != b:
                return False
        elif kind in LISTS and other in LISTS:
            if len(a) != len(b):
                return False
            spend(purse, len(a))
            waiting += zip(a, b, strict=True)
        elif kind is dict and other is dict:
            if len(a) != len(b):
                return False
            spend(purse, len(a))
            for key, value in a.items():
                if not has_key(b, key):
                    return False
                waiting.append((value, b[key]))
        elif kind is not other or (a is not b and a != b):
            return False
    return True


def has_key(data: dict[Any, Any], key: Any) -> bool:
    """Whether a map has a key; `true` and `1` are different ones, although Python keeps them as
    one."""
    kind = type(key)
    if kind is str:
        return key in data
    if kind is bool:
        return key in data and any(each is key for each in data)
    if kind in NUMERIC:
        return key in data and (
            key not in (0, 1) or not any(each is True or each is False for each in data)
        )
    return False


def within(purse: Purse, value: Any, data: Any) -> bool:
    """Whether a list has an element, a map a key, a set of names a name; nothing is in null."""
    kind = type(data)
    if kind is dict:
        return has_key(data, value)
    if kind in LISTS:
        return any(equal(purse, value, each) for each in data)
    if data is None:
        return False
    if kind is Names:
        return type(value) is str and value in data
    raise EvaluationError(f"nothing is in a {kind_of(data)}")
