"""What is given to the dialect: each value is checked where it comes in, and what is wrong is said in the dialect's own
words."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.kernel.regex import regex
from stanchion.kernel.units import LARGEST, MICRO
from stanchion.policy.nearest import hint

MOST: Final = LARGEST - 1
MOST_USD: Final = LARGEST // MICRO
_METHOD: Final = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")


class Named:
    """What is made of arguments that have names: one that it does not have is refused with the nearest."""

    __slots__ = ()

    def __new__(cls, *args: Any, **named: Any) -> Any:
        kind: Any = cls
        known = _parameters(kind)
        unknown = next((name for name in named if name not in known), None)
        if unknown is not None:
            raise DialectError(f"`{cls.__name__}` has no field `{unknown}`: {hint(unknown, known)}")
        if len(args) > len(known):
            raise DialectError(f"`{cls.__name__}` is given {len(args)} values and has {len(known)}: give them by name")
        return super().__new__(cls)


@functools.cache
def _parameters(kind: type[Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(kind.__init__).parameters)[1:]


def several(name: str, given: Any, wanted: str) -> tuple[Any, ...]:
    """The items of a list, or of anything else that has items and is neither a text nor a mapping."""
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise DialectError(f"`{name}` is of the type `{type(given).__name__}`: give {wanted}")
    return tuple(given)


def whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """A whole number between two."""
    if type(value) is not int or value < least:
        raise DialectError(f"`{name}` is `{value!r}`: give a whole number, {least} or more")
    if value > most:
        raise DialectError(f"`{name}` is more than can be counted: give a whole number, {most:,} or less")
    return value


def amount(name: str, value: Any, most: float = math.inf) -> float:
    """A finite number that is not negative, and not larger than another."""
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise DialectError(f"`{name}` is `{value!r}`: give a finite number that is not negative")
    if value > most:
        raise DialectError(f"`{name}` is `{value!r}`: give a number, {most:,} or less")
    return float(value)


def text(name: str, value: Any, least: int = 0) -> str:
    """A text of so many characters or more."""
    if not isinstance(value, str) or len(value) < least:
        raise DialectError(f"`{name}` is `{value!r}`: give a text{' that is not empty' if least else ''}")
    return value


def function(value: Any) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise DialectError(f"`fn` is `{value!r}`, which cannot be called: give the function itself")
    return value  # type: ignore[no-any-return] # callable, as was just seen


def dollars(name: str, value: Any) -> float:
    """An amount of dollars that can be counted exactly; `name` stands in backticks where it is a word of the code."""
    if type(value) not in (int, float) or not 0 <= value < MOST_USD:
        raise DialectError(f"{name} is `{value!r}`: give a finite amount that is not negative and below {MOST_USD:,}")
    return float(value)


def limit(name: str, value: Any) -> float:
    """An amount of dollars that bounds others: nothing, or a millionth and more."""
    if 0 < (most := dollars(f"`{name}`", value)) < 1 / MICRO:
        raise DialectError(f"`{name}` is `{value!r}`, less than a millionth: give more, or 0 for nothing")
    return most


def seconds(name: str, value: Any) -> float:
    """A time that is longer than nothing."""
    if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
        raise DialectError(f"`{name}` is `{value!r}`: give a finite number of seconds above 0")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Yes or no, and nothing that only counts as one of them."""
    if type(value) is not bool:
        raise DialectError(f"`{name}` is `{value!r}`: give `True` or `False`")
    return value


def http_method(value: Any) -> str:
    """The name of an HTTP method."""
    if not isinstance(value, str) or _METHOD.fullmatch(value) is None:
        raise DialectError(f"`method` is `{value!r}`: give the name of an HTTP method, as `GET`")
    return value
