"""Keeping: statements by which a table deletes itself, or after which nothing that was deleted can
be brought back."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import NUMBER, TEXT, Piece
from stanchion.readings.word_lists import listed

EXPIRING: Final = listed(
    """
    EXPIRATION_TIMESTAMP PARTITION_EXPIRATION_DAYS DEFAULT_TABLE_EXPIRATION_DAYS
    DEFAULT_PARTITION_EXPIRATION_DAYS TTL
    """
)
"""Settings of a table after which its rows go by themselves."""
RETAINING: Final = listed(WORDS["retaining words"])
"""Settings that say how long what was deleted is kept."""
_SHORT: Final = regex(
    r"(?i)\s*(?:interval\s+)?'?0(?:\.0*)?\s*(?:s|m|h|d|seconds?|minutes?|hours?|days?|weeks?)?'?\s*"
)
_KEPT_H: Final = 168.0
"""The hours that lakes keep deleted files for, unless told otherwise."""
_FAR: Final = 5
_OFF: Final = listed("NULL NONE DROP REMOVE")


def forgets(piece: Piece) -> bool:
    """Whether a statement lets rows go by themselves, or keeps what was deleted for no time."""
    words = (
        [part for word in piece.words for part in word.split(".")]
        if _dotted(piece)
        else piece.words
    )
    if "DRY" in words:
        return False
    for at, word in enumerate(words):
        behind = words[at + 1 : at + _FAR]
        if (
            word in EXPIRING
            and words[0] == "ALTER"
            and _OFF.isdisjoint([*behind, *words[max(0, at - 1) : at]])
        ):
            return "SET" in words[:at] or "MODIFY" in words[:at]
        if word in RETAINING and words is piece.words and _is_short(piece, at, word):
            return True
    return any(_names_short(piece, at) for at, word in enumerate(piece.words) if word == TEXT)


def _dotted(piece: Piece) -> bool:
    return any("." in word and len(word) > 1 for word in piece.words)


def _is_short(piece: Piece, at: int, word: str) -> bool:
    """Whether the value behind a setting is no time at all, or less than lakes keep files for."""
    for place in range(at + 1, min(at + _FAR, len(piece.words))):
        value = str(piece.tokens[place].text)
        if piece.words[place] == NUMBER:
            hours = word == "RETAIN" and piece.words[place + 1 : place + 2] in (["HOURS"], ["HOUR"])
            return float(value) < _KEPT_H if hours else float(value) == 0
        if piece.words[place] == TEXT:
            return _SHORT.fullmatch(value) is not None
    return False


def _names_short(piece: Piece, at: int) -> bool:
    """Whether a setting that is written as a text is followed by a value that is no time at all."""
    name = str(piece.tokens[at].text).upper().rpartition(".")[2]
    return name in RETAINING and _is_short(piece, at, name)
