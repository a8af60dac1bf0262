"""Where the members of JSON objects stand in a text that may have comments and last commas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex

_TOKEN: Final = regex(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/|[{}\[\]:,]|[^\s{}\[\]:,"/]+')
_SPACE: Final = regex(r"[ \t]*")


class Span(NamedTuple):
    """Where a value begins and ends, and what its line begins with."""

    begins: int
    ends: int
    margin: str


class _Token(NamedTuple):
    text: str
    begins: int
    ends: int


def places(text: str, depth: int) -> dict[tuple[str, ...], Span]:
    """The places of values by the names that lead to them, of objects within objects down to a
    depth. The text is one that was read as JSON already; of two members of one name the later one
    counts, as it does there."""
    return {
        path: _place(text, begins, ends) for path, begins, ends in _members(_tokens(text), depth)
    }


def _tokens(text: str) -> list[_Token]:
    found = [_Token(hit[0], hit.start(), hit.end()) for hit in _TOKEN.finditer(text)]
    return [token for token in found if not token.text.startswith(("//", "/*"))]


def _members(tokens: list[_Token], depth: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Every member of an object, with where its value begins and ends. What is open is on a stack:
    the token that opened it, and the name of the member that it is the value of."""
    opened: list[tuple[_Token, str | None]] = []
    for at, token in enumerate(tokens):
        name = _name(tokens, at)
        if token.text in ("{", "["):
            opened.append((token, name))
        elif token.text in ("}", "]"):
            first, owner = opened.pop()
            yield from _member(opened, owner, first.begins, token.ends, depth)
        elif name is not None:
            yield from _member(opened, name, token.begins, token.ends, depth)


def _member(
    opened: list[tuple[_Token, str | None]], name: str | None, begins: int, ends: int, depth: int
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    path = [owner for _, owner in opened[1:]] + [name]
    names = tuple([one for one in path if one is not None])
    if len(names) == len(path) <= depth:
        yield names, begins, ends


def _name(tokens: list[_Token], at: int) -> str | None:
    """The name of the member whose value begins here; nothing where no such value does."""
    return str(json.loads(tokens[at - 2].text)) if at >= 2 and tokens[at - 1].text == ":" else None


def _place(text: str, begins: int, ends: int) -> Span:
    line = text.rfind("\n", 0, begins) + 1
    margin = _SPACE.match(text, line)
    return Span(begins, ends, "" if margin is None else margin[0])
