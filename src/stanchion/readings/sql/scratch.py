"""Scratch tables: those that only the session has, so that nothing is lost with them."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.statement import NAME, NUMBER, TEXT, Does, Statement
from stanchion.readings.sql.verbs import first_word
from stanchion.readings.word_lists import listed

_TEMPORARY: Final = frozenset({"TEMP", "TEMPORARY"})
_SKIPPED: Final = listed("IF NOT EXISTS ONLY")
_BEGINNINGS: Final = ("#", "@", "pg_temp.", "temp.", "tempdb.")
"""How the names of such tables begin."""


def made_in(piece: Piece) -> tuple[str, ...]:
    """The tables that a statement makes for its session alone."""
    words = piece.words
    first = first_word(words)
    if first == "DECLARE" and words[1:2] == ["@"] and words[3:4] == ["TABLE"]:
        return (f"@{piece.tokens[2].text.lower()}",)
    for at, word in enumerate(words[:-1]):
        if word in _TEMPORARY and words[at + 1] == "TABLE" and first == "CREATE":
            return _named(piece, at + 2)
        if word == "INTO" and words[at + 1] in _TEMPORARY and first in ("SELECT", "WITH"):
            return _named(piece, at + 2 + (words[at + 2 : at + 3] == ["TABLE"]))
    return ()


def spared(one: Statement, piece: Piece, made: set[str]) -> Statement:
    """The same statement; where it drops, empties or changes nothing but scratch tables, it loses
    nothing."""
    if one.does is not Does.DESTRUCTIVE and one.bounded:
        return one
    names = _changed(piece)
    if not names or not all(_is_scratch(name, made) for name in names):
        return one
    does = Does.UPKEEP if one.does is Does.DESTRUCTIVE else one.does
    return msgspec.structs.replace(one, does=does, bounded=True)


def _is_scratch(name: str, made: set[str]) -> bool:
    return name in made or name.startswith(_BEGINNINGS)


def _changed(piece: Piece) -> tuple[str, ...]:
    """The tables that a statement drops, empties or changes; none where its words do not say so
    plainly."""
    words = piece.words
    first = first_word(words)
    if first == "DROP":
        if words[1:3] == ["TEMPORARY", "TABLE"]:
            return ("#",)
        return _named(piece, 2) if words[1:2] == ["TABLE"] else ()
    if first == "TRUNCATE":
        return _named(piece, 1 + (words[1:2] == ["TABLE"]))
    if first == "DELETE":
        return (
            _named(piece, 1 + (words[1:2] == ["FROM"]))
            if "JOIN" not in words and "USING" not in words
            else ()
        )
    return _named(piece, 1) if first == "UPDATE" and "FROM" not in words else ()


def _named(piece: Piece, at: int) -> tuple[str, ...]:
    """The names that stand here, between commas, in small letters."""
    words = piece.words
    found: list[str] = []
    while at < len(words):
        while at < len(words) and words[at] in _SKIPPED:
            at += 1
        name, at = _name(piece, at)
        if not name:
            return ()
        found.append(name)
        if words[at : at + 1] != [","]:
            break
        at += 1
    return tuple(found)


def _name(piece: Piece, at: int) -> tuple[str, int]:
    words = piece.words
    parts: list[str] = []
    while at < len(words):
        if (
            words[at] in ("#", "@", "##", ".", "..")
            or words[at] == NAME
            or words[at].isidentifier()
        ):
            plain = words[at] == NAME or words[at].isidentifier()
            if plain and parts and parts[-1] not in ("#", "@", "##", ".", ".."):
                break
            parts.append(piece.tokens[at].text.lower())
            at += 1
            continue
        break
    name = "".join(parts)
    return name.removeprefix("##"), at


EXPIRING: Final = WORDS["expiring"]
"""Settings of a table after which its rows go by themselves."""
RETAINING: Final = WORDS["retaining words"]
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
