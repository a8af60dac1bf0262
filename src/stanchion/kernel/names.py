"""Matching names: exact unless a glob is written, and an empty list matches nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec


class Names(msgspec.Struct, frozen=True, gc=False):
    """A set of names, some of them patterns: `*` stands for any characters, `?` for one."""

    exact: frozenset[str] = frozenset()
    globs: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.exact or (
            bool(self.globs) and any(glob(pattern, name) for pattern in self.globs)
        )


NOBODY: Final = Names()


def names(patterns: Iterable[str]) -> Names:
    """The set of these names and patterns."""
    given = tuple(dict.fromkeys(patterns))
    if not given:
        return NOBODY
    globs = tuple(pattern for pattern in given if is_glob(pattern))
    return Names(frozenset(given) - frozenset(globs), globs)


def require_texts(**given: object) -> None:
    """Raise `ValueError` for a name that is no text; each is given under what its caller calls
    it."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise ValueError(f"`{name}` is of the type `{type(value).__name__}`: give a text")


def texts_in(name: str, given: object) -> tuple[str, ...]:
    """The texts in a list of them; `ValueError` for what is none, a text alone included."""
    if isinstance(given, Iterable) and not isinstance(given, str):
        listed = tuple(given)
        if all(isinstance(one, str) for one in listed):
            return listed
    raise ValueError(f"`{name}` is no list of texts: give one, as in `{name}=[...]`")


def is_glob(pattern: str) -> bool:
    """Whether a name was written as a pattern."""
    return "*" in pattern or "?" in pattern


def glob(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern, in at most len(pattern) × len(name) steps."""
    at = place = mark = 0
    star = -1
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(char == "*" for char in pattern[at:])
