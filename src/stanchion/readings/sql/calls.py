"""Calls and changes: which words of a statement call something, and which change something."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from stanchion.readings.sql.lexing import NAME, TEXT, Piece
from stanchion.readings.sql.listed import listed

CHANGING: Final = listed(
    """
    DELETE INSERT UPDATE MERGE DROP TRUNCATE ALTER CREATE GRANT REVOKE INTO EXEC SHUTDOWN RECONFIGURE OUTFILE
    DUMPFILE
    """
)
"""Words that change something where they are not a name, a function or part of a lock."""


def changing_words(words: list[str]) -> list[str]:
    """The words of a statement, behind the first, that change something where they stand."""
    return [
        word
        for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False)
        if word in CHANGING
        and after not in ("(", ".")
        and before not in (".", "FOR", "KEY", "AS", "ON")
        and not (word == "INTO" and after == "@")
    ]


def calls_in(piece: Piece) -> Iterator[str]:
    """The names before brackets, in small letters, with the package before them where there is one. Words of the
    language are among them: they are no functions, and do no harm here."""
    return (name for name, _ in calls_at(piece))


def calls_at(piece: Piece) -> Iterator[tuple[str, int]]:
    """The same, each with the place of its bracket."""
    words = piece.words
    for at, word in enumerate(words):
        if word == "(" and at and (words[at - 1] == NAME or words[at - 1].isidentifier()):
            yield _dotted(piece.tokens, words, at - 1), at


def numbers_in(piece: Piece) -> Iterator[str]:
    """The pseudo-columns that take the next number of a sequence."""
    for before, word in pairwise(piece.words):
        if before == "." and word == "NEXTVAL":
            yield "nextval"


def spelled(piece: Piece) -> list[str]:
    """The words of a statement, with names in quotes as if they had none."""
    return [token.text.upper() if word == NAME else word for token, word in zip(piece.tokens, piece.words, strict=True)]


def reads_file(words: list[str]) -> bool:
    """Whether it has a text where a table belongs: a file to some databases."""
    return any(word in ("FROM", "JOIN") and after == TEXT for word, after in pairwise(words))


def _dotted(tokens: list[Any], words: list[str], last: int) -> str:
    """The name that ends with that token, with the package before it."""
    name: str = tokens[last].text.lower()
    if last > 1 and words[last - 1] == ".":
        name = f"{tokens[last - 2].text.lower()}.{name}"
    return name
