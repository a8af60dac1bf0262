"""Reading data without stumbling over what is missing."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.names import Names
from stanchion.policy.conditions.arithmetic import no_overload
from stanchion.policy.conditions.equality import LISTS, has_key
from stanchion.policy.conditions.errors import EvaluationError
from stanchion.policy.conditions.kinds import Uint


def get(data: Any, name: str) -> Any:
    """A field; null where it or what it is read from is missing."""
    if type(data) is dict:
        return data.get(name)
    if data is None:
        return None
    raise no_overload(f"the field `{name}`", data)


def at(data: Any, key: Any) -> Any:
    """An element; null where there is none."""
    if type(data) is dict:
        if type(key) is str:
            return data.get(key)
        if type(key) not in (int, float, bool, Uint):
            raise no_overload("a key", key)
        return data[key] if has_key(data, key) else None
    if data is None:
        return None
    if type(data) not in LISTS:
        raise no_overload("`[…]`", data)
    if type(key) is float and key.is_integer():
        key = int(key)
    if type(key) is not int and type(key) is not Uint:
        raise no_overload("an element's number", key)
    return data[key] if 0 <= key < len(data) else None


def has(data: Any, name: str) -> bool:
    """Whether a map has a field."""
    if type(data) is dict:
        return name in data
    if data is None:
        return False
    raise no_overload(f"the field `{name}`", data)


def given(value: Any, arguments: Any) -> Any:
    """What is made of a call's arguments, for what needs a value; null stays null only where the
    event is of no call."""
    if value is None and arguments is not None:
        raise EvaluationError("an argument is missing or null")
    return value


def size(data: Any) -> int | None:
    """How many characters, bytes, elements or keys there are; null has no size."""
    if type(data) in (str, bytes, list, tuple, dict):
        return len(data)
    if data is None:
        return None
    raise no_overload("`size`", data)


def true(value: Any) -> bool:
    """A truth value; null counts as false."""
    if value is True or value is False:
        return bool(value)
    if value is None:
        return False
    raise no_overload("a truth value", value)


def in_names(value: Any, names: Names | None) -> bool:
    """Whether a set of names has a name."""
    return names is not None and type(value) is str and (value in names.exact or value in names)


def mapped(*pairs: tuple[Any, Any]) -> dict[Any, Any]:
    """A map of pairs whose keys are all different."""
    made: dict[Any, Any] = {}
    for key, value in pairs:
        if type(key) not in (str, int, bool, Uint):
            raise no_overload("a key", key)
        if key in made:
            raise no_overload("a map with that key twice", key)
        made[key] = value
    return made
