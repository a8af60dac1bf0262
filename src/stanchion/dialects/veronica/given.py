"""What is given to the dialect: each value is checked where it comes in, and what is wrong is said in the dialect's own
words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.kernel.regex import regex
from stanchion.kernel.units import LARGEST, MICRO

MOST_USD: Final = LARGEST // MICRO
_METHOD: Final = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")


def whole(name: str, value: Any, least: int) -> int:
    """A whole number, so large or larger."""
    if type(value) is not int or value < least:
        raise DialectError(f"`{name}` is `{value!r}`: give a whole number, {least} or more")
    return value


def amount(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise DialectError(f"`{name}` is `{value!r}`: give a finite number that is not negative")
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
