"""Calls and changes: which words of a statement call something, and which change something."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.pure import FILES, ONE_SESSION
from stanchion.readings.sql.statement import NAME, NUMBER, TEXT

_DATA: Final = regex(
    r"(?i)(?:\./)?[\w*][\w .*?=@{},/-]*\.(?:csv|tsv|parquet|json|jsonl|ndjson|arrow|xlsx)"
    r"(?:\.(?:gz|zst))?"
)
_GUARDING: Final = WORDS["protecting settings"] | WORDS["personal settings"]
CHANGING: Final = WORDS["changing"]
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
    """The names before brackets, in small letters, with the package before them where there is one.
    Words of the language are among them: they are no functions, and do no harm here."""
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
    return [
        token.text.upper() if word == NAME else word
        for token, word in zip(piece.tokens, piece.words, strict=True)
    ]


def reads_file(piece: Piece) -> bool:
    """Whether it has a text where a table belongs, a file to some databases, that is no data of the
    project's."""
    return any(
        word in ("FROM", "JOIN") and after == TEXT and not _is_data(str(token.text))
        for (word, after), token in zip(pairwise(piece.words), piece.tokens[1:], strict=False)
    )


def is_narrow(name: str, piece: Piece) -> bool:
    """Whether every call of a function that reaches further reaches what is near: data of the
    project's, or one query that is named by its number."""
    if name not in FILES and name not in ONE_SESSION:
        return False
    for called, at in calls_at(piece):
        if called != name:
            continue
        given = piece.words[at + 1 : at + 2]
        data = name in FILES and _all_data(piece, at + 1)
        if not data and not (
            given == [NUMBER] and name in ONE_SESSION and piece.words[at + 2 : at + 3] == [")"]
        ):
            return False
    return True


def unprotects(piece: Piece) -> bool:
    """Whether a function sets what protects data, or who one is."""
    return any(
        name.rpartition(".")[2] == "set_config"
        and piece.words[at + 1 : at + 2] == [TEXT]
        and str(piece.tokens[at + 1].text).upper() in _GUARDING
        for name, at in calls_at(piece)
    )


def _all_data(piece: Piece, at: int) -> bool:
    """Whether a text here, or every one of a list of texts, is a file with data."""
    words = piece.words
    if words[at : at + 1] != ["["]:
        return words[at : at + 1] == [TEXT] and _is_data(str(piece.tokens[at].text))
    end = words.index("]", at) if "]" in words[at:] else at
    items = [place for place in range(at + 1, end) if words[place] != ","]
    return bool(items) and all(
        words[place] == TEXT and _is_data(str(piece.tokens[place].text)) for place in items
    )


def copies_data(piece: Piece) -> bool:
    """Whether a COPY writes a file with data, in the folder that is worked in or below."""
    words = piece.words
    to = len(words) - 1 - words[::-1].index("TO") if "TO" in words else len(words)
    return words[to + 1 : to + 2] == [TEXT] and _is_data(str(piece.tokens[to + 1].text))


def _is_data(path: str) -> bool:
    """Whether a file is one with rows, in the folder that is worked in or below."""
    return _DATA.fullmatch(path) is not None and ".." not in path


def _dotted(tokens: list[Any], words: list[str], last: int) -> str:
    """The name that ends with that token, with the package before it."""
    name: str = tokens[last].text.lower()
    if last > 1 and words[last - 1] == ".":
        name = f"{tokens[last - 2].text.lower()}.{name}"
    return name
