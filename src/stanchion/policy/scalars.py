"""What the scalars of a policy file mean: the core schema of YAML 1.2, and none of YAML 1.1's
surprises.

- `true` and `false` are booleans; `yes`, `no`, `on` and `off` are text.
- `null`, `~` and nothing are null. Dates and `12:30` are text.
- Whole numbers are decimal, `0o17` or `0x1f`. `010` (eight or ten?) and `1_000` are text, so a
  field that takes
  a number refuses them. Numbers are finite and exact: whole ones at most 2**53 - 1 either way.
"""

from __future__ import annotations

import math
from typing import Final

from stanchion.kernel.regex import regex

MAX_NUMBER: Final = 2**53 - 1
CORE: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INT: Final = regex(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = regex(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|"
    r"INF))"
    r"|\.(?:nan|NaN|NAN)"
)
_UNSTORABLE: Final = regex("[\0\ud800-\udfff]")


def scalar(
    text: str, tag: str | None = None, plain: bool = True
) -> tuple[bool | int | float | str | None, str]:
    """What a scalar means by its text and tag, and what is wrong with it, if anything."""
    kind = None if tag is None else "str" if tag == "!" else tag.removeprefix(CORE)
    if kind == "str" or (kind is None and not plain):
        return text, ""
    if kind in {None, "null"} and text in _NULLS:
        return None, ""
    if kind in {None, "bool"} and text in _BOOLS:
        return _BOOLS[text], ""
    if kind in {None, "int"} and _INT.fullmatch(text):
        number = int(text, 0) if len(text) <= 32 else MAX_NUMBER + 1
        return number, number_trouble(number)
    if kind in {None, "float"} and _FLOAT.fullmatch(text):
        real = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return real, number_trouble(real)
    return (
        text,
        "" if kind is None else f"is not of its type `!!{kind}`: correct it, or leave the tag out",
    )


def number_trouble(number: float) -> str:
    """Why a number cannot stand in a policy; empty if it can."""
    if isinstance(number, float) and not math.isfinite(number):
        return "is not a finite number: give a number, or put it in quotes if text is meant"
    if isinstance(number, int) and abs(number) > MAX_NUMBER:
        return f"is too big: give a number up to {MAX_NUMBER}, or put it in quotes if text is meant"
    return ""


def text_trouble(text: str) -> str:
    """Why a text cannot stand in a policy; empty if it can."""
    wrong = _UNSTORABLE.search(text)
    return f"the character U+{ord(wrong[0]):04X} has no place in text: remove it" if wrong else ""
