"""Words about data: names, paths and types, short and without any value, because values may be
secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from stanchion.readings.shortened import shorten

LONGEST_NAME: Final = 60
"""How much of a name or a text from a definition is shown."""
SHOWN: Final = 8
"""How many names are listed."""
COMPARED: Final = 500
"""How many names are compared to find the nearest."""


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def is_of(value: Any, name: str) -> bool:
    """Whether a value has a JSON type; a number without a fraction is an integer."""
    own = type_of(value)
    if own == name:
        return True
    if name == "number":
        return own == "integer"
    return name == "integer" and own == "number" and float(value).is_integer()


def short(text: str) -> str:
    """A name as it is shown: on one line, without what a terminal would act on, and not longer than
    needed."""
    return shorten(text, LONGEST_NAME)


def path_of(steps: Sequence[str | int]) -> str:
    """Where a value is, such as `items[3].name`."""
    shown = ""
    for step in steps[:SHOWN]:
        shown += (
            f"[{step}]" if isinstance(step, int) else f".{short(step)}" if shown else short(step)
        )
    return shown + ("…" if len(steps) > SHOWN else "")


def listed(names: Sequence[str]) -> str:
    """Some of the names, in order, and how many more there are."""
    shown = ", ".join([f"`{short(name)}`" for name in names[:SHOWN]])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def either(names: Iterable[str]) -> str:
    """One of several words."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a mistaken one most likely meant; `None` where none is near."""
    if len(word) > LONGEST_NAME:
        return None
    from difflib import get_close_matches

    plain = {_plain(name): name for name in sorted(names)[:COMPARED] if len(name) <= LONGEST_NAME}
    near = get_close_matches(_plain(word), plain, 1, 0.6)
    return plain[near[0]] if near else None


def _plain(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
