"""Tables that words name: for statements that are understood by their first words, and for those
that change nothing but what only the session has."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import Piece, is_name
from stanchion.readings.sql.statement import NUMBER, TEXT, Does, Statement
from stanchion.readings.sql.verbs import first_word
from stanchion.readings.word_lists import in_order, listed

_LEADING: Final = listed(
    "INTO TABLE TABLES VIEW INDEX UPDATE TRUNCATE ON COPY DESCRIBE DESC ANALYZE VACUUM"
)
_BETWEEN: Final = listed("IF NOT EXISTS ONLY TABLE CONCURRENTLY FULL VERBOSE")
_NO_TABLE: Final = listed(
    "SELECT WITH VALUES LATERAL UNNEST SET DEFAULT ALL STDIN STDOUT PROGRAM DELETE UPDATE CONFLICT "
    "DUPLICATE"
)
_DOTS: Final = frozenset({"."})
_MARKS: Final = listed("# ## @ . ..")
"""Signs in the names of tables, and in those of the session's own."""
_OWN: Final = regex(
    r"(?:.*\.)?(?:pg_catalog|mysql|sys|information_schema|performance_schema|system|snowflake)"
    r"\.[^.]+"
    r"|pg_(?:class|proc|attribute|authid|auth_members|roles|user|database|trigger|policy|namespace|"
    r"type|index|depend"
    r"|constraint|rewrite|shadow|settings|hba_file_rules)"
    r"|(?:.*\.)?sqlite_(?:master|schema|sequence_master|temp_master)"
)
"""Tables of servers, which nobody changes by rows."""

_TEMPORARY: Final = frozenset({"TEMP", "TEMPORARY"})
_SCRATCH: Final = in_order("# @ pg_temp. temp. tempdb.")
"""How the names of tables begin that only the session has."""
_EXPIRING: Final = WORDS["expiring"]
"""Settings of a table after which its rows go by themselves."""
_RETAINING: Final = WORDS["retaining words"]
"""Settings that say how long what was deleted is kept."""
_SHORT: Final = regex(
    r"(?i)\s*(?:interval\s+)?'?0(?:\.0*)?\s*(?:s|m|h|d|seconds?|minutes?|hours?|days?|weeks?)?'?\s*"
)
_KEPT_H: Final = 168.0
"""The hours that lakes keep deleted files for, unless told otherwise."""
_FAR: Final = 5
_OFF: Final = listed("NULL NONE DROP REMOVE")


def named_tables(piece: Piece) -> tuple[str, ...]:
    """The tables that a statement names behind words such as TABLE, INTO and ON."""
    return tables_after(piece, *_LEADING)


def tables_after(piece: Piece, *leading: str) -> tuple[str, ...]:
    """The names behind these words, and those behind commas that follow them."""
    found: list[str] = []
    at = 0
    while at < len(piece.words):
        names, behind = _names(piece, at + 1, _DOTS) if piece.words[at] in leading else ([], at + 1)
        found += names
        at = behind
    return tuple(dict.fromkeys([name for name in found if name]))


def _names(piece: Piece, at: int, marks: frozenset[str]) -> tuple[list[str], int]:
    """The names that stand here, between commas, and where they end; the last is empty where no
    name follows."""
    words = piece.words
    found: list[str] = []
    while at <= len(words):
        while words[at : at + 1] and words[at] in _BETWEEN:
            at += 1
        name, at = _name(piece, at, marks)
        found.append(name)
        at += bool(name) and words[at : at + 1] == ["AS"]
        at += bool(name) and words[at + 1 : at + 2] == [","] and is_name(words[at])
        if not name or words[at : at + 1] != [","]:
            break
        at += 1
    return found, at


def _name(piece: Piece, at: int, marks: frozenset[str]) -> tuple[str, int]:
    """The name that begins here with its schema before it, and where it ends."""
    words = piece.words
    parts: list[str] = []
    while at < len(words):
        plain = is_name(words[at]) and words[at] not in _NO_TABLE
        follows = not parts or parts[-1] in marks
        sign = words[at] in marks and (bool(parts) or "." not in words[at])
        if not sign and not (plain and follows):
            break
        parts.append(piece.tokens[at].text.lower())
        at += 1
    return "".join(parts).removeprefix("##").strip("."), at


def changes_own(one: Statement) -> bool:
    """Whether a statement changes rows of a table that is the server's own: rights, or what tables
    there are."""
    own = (_OWN.fullmatch(name) is not None for name in one.writes)
    return one.does is Does.WRITE and any(own)


def made_in(piece: Piece) -> list[str]:
    """The tables that a statement makes for its session alone."""
    words = piece.words
    first = first_word(words)
    if first == "DECLARE" and words[1:2] == ["@"] and words[3:4] == ["TABLE"]:
        return [f"@{piece.tokens[2].text.lower()}"]
    for at, word in enumerate(words[:-1]):
        made = word in _TEMPORARY and words[at + 1] == "TABLE" and first == "CREATE"
        into = word == "INTO" and words[at + 1] in _TEMPORARY and first in ("SELECT", "WITH")
        if made or into:
            return [name for name in _names(piece, at + 2, _MARKS)[0] if name]
    return []


def spared(one: Statement, piece: Piece, made: set[str]) -> Statement:
    """The same statement; where it drops, empties or changes nothing but scratch tables, it loses
    nothing."""
    if one.does is not Does.DESTRUCTIVE and one.bounded:
        return one
    names = _changed(piece)
    if not names or not all(name in made or name.startswith(_SCRATCH) for name in names):
        return one
    does = Does.UPKEEP if one.does is Does.DESTRUCTIVE else one.does
    return msgspec.structs.replace(one, does=does, bounded=True)


def _changed(piece: Piece) -> list[str]:
    """The tables that a statement drops, empties or changes; none where its words do not say so
    plainly."""
    words = piece.words
    first, second = first_word(words), "".join(words[1:2])
    if words[:3] == ["DROP", "TEMPORARY", "TABLE"]:
        return ["#"]
    more = {"DROP": (), "TRUNCATE": (), "DELETE": ("JOIN", "USING"), "UPDATE": ("FROM",)}.get(first)
    if more is None or not {*more}.isdisjoint(words) or (first == "DROP" and second != "TABLE"):
        return []
    return _names(piece, 1 + (second in ("TABLE", "FROM")), _MARKS)[0]


def forgets(piece: Piece) -> bool:
    """Whether a statement lets rows go by themselves, or keeps what was deleted for no time."""
    words = [part for word in piece.words for part in (word.split(".") if word != "." else ".")]
    dotted = len(words) > len(piece.words)
    if "DRY" in words:
        return False
    for at, word in enumerate(words):
        around = words[max(0, at - 1) : at] + words[at + 1 : at + _FAR]
        if word in _EXPIRING and words[0] == "ALTER" and _OFF.isdisjoint(around):
            return "SET" in words[:at] or "MODIFY" in words[:at]
        if word in _RETAINING and not dotted and _is_short(piece, at, word):
            return True
    return any(_names_short(piece, at) for at, word in enumerate(piece.words) if word == TEXT)


def _names_short(piece: Piece, at: int) -> bool:
    """Whether a setting that is written as a text is followed by a value that is no time at all."""
    name = str(piece.tokens[at].text).upper().rpartition(".")[2]
    return name in _RETAINING and _is_short(piece, at, name)


def _is_short(piece: Piece, at: int, word: str) -> bool:
    """Whether the value behind a setting is no time at all, or less than lakes keep files for."""
    for place in range(at + 1, min(at + _FAR, len(piece.words))):
        value = str(piece.tokens[place].text)
        if piece.words[place] == NUMBER:
            hours = word == "RETAIN" and piece.words[place + 1 : place + 2] in (["HOURS"], ["HOUR"])
            return float(value) < (_KEPT_H if hours else 0.0) or float(value) == 0
        if piece.words[place] == TEXT:
            return _SHORT.fullmatch(value) is not None
    return False
