"""Swaps: what an edit takes out of a file, and what it puts there instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.names import plain
from stanchion.readings.word_lists import listed

MOST: Final = 64
OLD: Final = listed("oldstring oldstr oldtext old search find searchtext pattern before")
NEW: Final = listed(
    "newstring newstr newtext new replace replacement replacewith replacetext after"
)
SCRIPTS: Final = listed("expression expressions expr sed substitution")
_SED: Final = regex(
    r"(?:\A|[;\n{]|\A[^;]*?[\d/$])\s*s([^\w\s\\;])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1"
)


class Swap(NamedTuple):
    """A text, and what comes in its place."""

    old: str
    new: str


def swaps_in(args: Mapping[str, Any]) -> Iterator[Swap]:
    """The swaps that a call makes: by the names of its arguments, in lists too, and in expressions
    of `sed`."""
    waiting: list[Any] = [args]
    seen = 0
    while waiting and seen < MOST:
        value = waiting.pop()
        if type(value) is list:
            waiting += value
            continue
        if type(value) is not dict and not isinstance(value, Mapping):
            continue
        seen += 1
        texts = {plain(str(key)): each for key, each in value.items() if type(each) is str}
        old = next((texts[key] for key in texts if key in OLD), None)
        new = next((texts[key] for key in texts if key in NEW), None)
        if old is not None and new is not None:
            yield Swap(old, new)
        for key in texts:
            if key in SCRIPTS:
                yield from swapped(texts[key])
        waiting += [each for each in value.values() if type(each) in (list, dict)]


def swapped(expression: str) -> Iterator[Swap]:
    """The swaps of an expression of `sed`."""
    for found in list(_SED.finditer(expression[:4_096]))[:MOST]:
        yield Swap(found[2], found[3])
