"""Fragments: the commands in a text of a language that is not known, by where they begin and what
closes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.known import named
from stanchion.readings.shell.outputs import unescape

DOERS: Final = named("does")
"""Programs by whose names a command is known among the words of another: those that do something,
or start others."""
NAMED: Final = named("does", "known")
"""Those by whose names a command is known in a text: a lone word of these may be another program's
own."""

CLOSING: Final = {"(": ")", "{": "}", "[": "]"}
QUOTES: Final = "\"'`"
MANY: Final = 24
"""How many fragments of one text are followed."""
LONGEST: Final = 16_384
DEEPEST: Final = 2
"""How deep quotes in quotes are looked into."""

_WORD: Final = regex(r"(?<![\w.$@%/-])/?[\w.-]++(?:/[\w.-]++)*+(?![=:/])")
"""What may be the name of a program, or its path."""


def may_hold(text: str) -> bool:
    """Whether a text names a program that does something."""
    return next(_begun(text), -1) >= 0


def _begun(text: str) -> Iterator[int]:
    """Where in a text the name of such a program stands."""
    for found in _WORD.finditer(text):
        word = found[0]
        name = word.rpartition("/")[2] if word[0] == "/" else word
        if name in NAMED or name.startswith("mkfs."):
            yield found.start()


def fragments(text: str) -> Iterator[str]:
    """The pieces of a text that may be commands: what stands in quotes, and what begins with a
    program's name.

    1. A quoted piece is one by itself, its escapes undone; m4 closes a backquote with a quote. So
       is what is quoted in it, and what stands in braces, which quote in Tcl.
    2. Outside of quotes a piece goes from a program's name to the end of its line, or to what
       closes the bracket in which it stands.
    """
    text = text[:LONGEST]
    quoted = dict.fromkeys(islice(_quoted(text, 0), MANY))
    yield from quoted
    yield from [piece for piece in _bare(text, MANY - len(quoted)) if piece not in quoted]


def _quoted(text: str, depth: int) -> Iterator[str]:
    at = 0
    while at < len(text):
        char = text[at]
        end = _closed(text, at) if char in QUOTES else _end(text, at + 1) if char == "{" else -1
        if end < 0:
            at += 1
            continue
        inner = text[at + 1 : end]
        if may_hold(inner):
            inner = unescape(inner) if char == '"' else inner
            yield inner
            if depth < DEEPEST:
                yield from _quoted(inner, depth + 1)
        at = end + 1


def _closed(text: str, at: int) -> int:
    """Where a quote is closed; -1 where it is none, as an apostrophe in a word."""
    char = text[at]
    if char == "'" and at and text[at - 1].isalnum():
        return -1
    if char == "`" and "`" not in text[at + 1 :]:
        return text.find("'", at)
    end = at + 1
    while end < len(text):
        if text[end] == "\\":
            end += 2
            continue
        if text[end] == char:
            return end
        end += 1
    return -1


def _bare(text: str, most: int) -> Iterator[str]:
    done = 0
    for begin in _begun(text):
        if begin < done:
            continue
        if most <= 0:
            return
        most -= 1
        done = _end(text, begin)
        yield text[begin:done]


def _end(text: str, begin: int) -> int:
    """Where a piece ends: with its line, or at a bracket or quote that was opened before it."""
    waiting: list[str] = []
    at = begin
    while at < len(text):
        char = text[at]
        if char == "\n":
            return at
        if char == "\\":
            at += 2
            continue
        if char in QUOTES:
            close = _closed(text, at)
            if close < 0:
                return at
            at = close + 1
            continue
        if char in CLOSING:
            waiting.append(CLOSING[char])
        elif char in CLOSING.values() and (not waiting or waiting.pop() != char):
            return at
        at += 1
    return len(text)
