"""What a pattern is made of: sets of characters, one after the other, one or the other, again and
again."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

NEWLINE: Final = 0x1E
"""The byte that stands for the end of a line, so that the byte for it can stand for the end of a
text."""
BORDER: Final = 0x0A
"""The byte that stands between two texts that are scanned together. No pattern has it."""

ANY: Final = (1 << 256) - 1 & ~(1 << BORDER)
"""Every character."""


class Chars(NamedTuple):
    """One character of a set: bit N is set where the character N is in it."""

    mask: int


class Edge(NamedTuple):
    """A place between two characters: the beginning or the end of the text, or of a word."""

    kind: Literal["start", "end", "word"]


class Seq(NamedTuple):
    """One after the other."""

    items: tuple[Node, ...]


class Or(NamedTuple):
    """One or the other, the first that fits."""

    items: tuple[Node, ...]


class Repeat(NamedTuple):
    """Again and again: from `low` to `high` times (`None`: without an end), as few times as fit
    where it is `lazy`."""

    item: Node
    low: int
    high: int | None
    lazy: bool


class Group(NamedTuple):
    """The part that counts."""

    item: Node


Node = Chars | Edge | Seq | Or | Repeat | Group

EMPTY: Final = Seq(())


def chars(text: str) -> int:
    """The set of these characters."""
    mask = 0
    for char in text:
        mask |= 1 << byte(char)
    return mask


def byte(char: str) -> int:
    """The byte that stands for a character."""
    return NEWLINE if char == "\n" else ord(char)


def span(first: int, last: int) -> int:
    """The set of all characters from one to another."""
    mask = (1 << (last + 1)) - (1 << first)
    return (mask | 1 << NEWLINE) & ANY if first <= BORDER <= last else mask


DIGITS: Final = chars("0123456789")
LETTERS: Final = span(ord("a"), ord("z")) | span(ord("A"), ord("Z"))
WORD: Final = DIGITS | LETTERS | chars("_")
SPACE: Final = chars(" \t\n\r\f")
LINE: Final = ANY & ~(1 << NEWLINE)
UPPER: Final = span(ord("A"), ord("Z"))
LOWER: Final = span(ord("a"), ord("z"))


def caseless(mask: int) -> int:
    """A set with both cases of its letters."""
    return mask | (mask & UPPER) << 32 | (mask & LOWER) >> 32


def inverse(mask: int) -> int:
    """All other characters."""
    return ANY & ~mask
