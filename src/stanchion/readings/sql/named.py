"""Names: the functions that the words of a statement call, and what those do besides computing; and
the tables that its words name, for what is understood by its first words alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Final

import msgspec
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import SqlPiece, is_name
from stanchion.readings.sql.statement import (
    CHANGES,
    DIALECTS,
    NUMBER,
    TEXT,
    Does,
    Statement,
    first_word,
)
from stanchion.readings.word_lists import Strings, in_order, listed

REACHES: Final = "reaches files, programs, the network or other sessions"
_DOES: Final = {
    "reach": REACHES,
    "wait": "makes the server wait",
    "change": CHANGES,
    "run": "runs SQL that is in a text",
}
_EVERYWHERE: Final = {
    name: what for does, what in _DOES.items() for name in WORDS[f"functions that {does}"]
}
_ONLY: Final[dict[str, frozenset[str]]] = {
    dialect: WORDS.get(f"functions that reach in {dialect}", frozenset()) for dialect in DIALECTS
}
"""Names that are dangerous in one dialect; elsewhere they are like any other."""

_FAMILIES: Final = in_order("dblink xp_ sp_oa pg_ls_ utl_ dbms_ system$")
"""How the names of functions and packages begin that reach further."""
_HARMLESS: Final = listed(
    "dbms_random dbms_lob dbms_utility dbms_metadata utl_raw utl_match dbms_stats dbms_output "
    "dbms_application_info dbms_xplan dbms_session dbms_assert utl_i18n dbms_crypto dbms_mview"
)  # fmt: skip
"""Packages of these families that compute, tell or tidy up."""
_SERVERS: Final = listed("pg_catalog safe net hll_count dbms_random dbms_lob utl_raw utl_match")
"""Schemas and packages that are the server's own; a function in another one is somebody's, whatever
its name is."""
_REACHING: Final = in_order(
    "ai_ a_i_ ml_ generate_text generate_embedding generate_table to_file try_to_file"
)
"""How names begin of functions that the parser knows, and that ask a model or make a file."""

_FILES: Final = WORDS["files"]
"""Functions that read the rows of a file."""
_ONE_SESSION: Final = frozenset({"pg_cancel_backend"})
"""Functions that stop what one session does, and nothing else."""
_GUARDING: Final = WORDS["protecting settings"] | WORDS["personal settings"]
_DATA: Final = regex(
    r"(?i)(?:\./)?[\w*][\w .*?=@{},/-]*\.(?:csv|tsv|parquet|json|jsonl|ndjson|arrow|xlsx)"
    r"(?:\.(?:gz|zst))?"
)


def effect_of(name: str, dialect: str) -> str:
    """What a function does besides computing, by its name in small letters (`package.name` where it
    has one); empty where it is not known to do anything."""
    package, _, last = name.rpartition(".")
    known = _EVERYWHERE.get(last)
    if known is not None:
        return known
    reaches = last in _ONLY.get(dialect, ()) or any(
        part.startswith(_FAMILIES) and part not in _HARMLESS
        for part in (last, package.rpartition(".")[2])
    )
    return REACHES if reaches else ""


def is_pure(name: str) -> bool:
    """Whether a function is known to only compute, by its name in small letters (`schema.name`
    where it has one)."""
    schema, _, last = name.rpartition(".")
    return (not schema or schema in _SERVERS) and last in _pure()


@cache
def _pure() -> frozenset[str]:
    """What is listed here, and what the parser knows as a function of some dialect."""
    known: list[Iterable[str]] = [exp.FUNCTION_BY_NAME]
    known += [words for title, words in WORDS.items() if title.startswith("pure functions")]
    known += [Dialect.get_or_raise(dialect).parser_class.FUNCTIONS for dialect in DIALECTS]
    names = {name.lower() for each in known for name in each}
    return frozenset(
        [name for name in names if not name.startswith(_REACHING) and not effect_of(name, "")]
    )


def calls_at(piece: SqlPiece) -> Iterator[tuple[str, int]]:
    """The names before brackets, in small letters, with the package before them where there is one,
    and the places of the brackets. Words of the language are among them: they are no functions, and
    do no harm here."""
    words, tokens = piece.words, piece.tokens
    for at, (before, word) in enumerate(pairwise(words), 1):
        if word == "(" and is_name(before):
            name = tokens[at - 1].text.lower()
            dotted = at > 2 and words[at - 2] == "."
            yield (f"{tokens[at - 3].text.lower()}.{name}" if dotted else name), at


def calls_in(piece: SqlPiece) -> list[str]:
    """The same without the places, and with the pseudo-columns that take the next number of a
    sequence."""
    numbers = ["nextval" for pair in pairwise(piece.words) if pair == (".", "NEXTVAL")]
    return [*[name for name, _ in calls_at(piece)], *numbers]


def is_narrow(name: str, piece: SqlPiece) -> bool:
    """Whether every call of a function that reaches further reaches what is near: data of the
    project's, or one query that is named by its number."""
    places = [at + 1 for called, at in calls_at(piece) if called == name]
    if name in _FILES:
        return all(_all_data(piece, at) for at in places)
    return name in _ONE_SESSION and all(piece.words[at : at + 2] == [NUMBER, ")"] for at in places)


def unprotects(piece: SqlPiece) -> bool:
    """Whether a function sets what protects data, or who one is."""
    return any(
        name.rpartition(".")[2] == "set_config" and _text_at(piece, at + 1).upper() in _GUARDING
        for name, at in calls_at(piece)
    )


def reads_file(piece: SqlPiece) -> bool:
    """Whether it has a text where a table belongs, a file to some databases, that is no data of the
    project's."""
    return any(
        word in ("FROM", "JOIN") and after == TEXT and not _is_data(_text_at(piece, at))
        for at, (word, after) in enumerate(pairwise(piece.words), 1)
    )


def copies_data(piece: SqlPiece) -> bool:
    """Whether a COPY writes a file with data, in the folder that is worked in or below."""
    words = piece.words
    to = len(words) - 1 - words[::-1].index("TO") if "TO" in words else len(words)
    return _is_data(_text_at(piece, to + 1))


def _text_at(piece: SqlPiece, at: int) -> str:
    """The text that stands there; empty where none does."""
    return str(piece.tokens[at].text) if piece.words[at : at + 1] == [TEXT] else ""


def _all_data(piece: SqlPiece, at: int) -> bool:
    """Whether a text here, or every one of a list of texts, is a file with data."""
    words = piece.words
    if words[at : at + 1] != ["["]:
        return _is_data(_text_at(piece, at))
    end = words.index("]", at) if "]" in words[at:] else at
    items = [place for place in range(at + 1, end) if words[place] != ","]
    return bool(items) and all(_is_data(_text_at(piece, place)) for place in items)


def _is_data(path: str) -> bool:
    """Whether a file is one with rows, in the folder that is worked in or below."""
    return _DATA.fullmatch(path) is not None and ".." not in path


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


def named_tables(piece: SqlPiece) -> Strings:
    """The tables that a statement names behind words such as TABLE, INTO and ON."""
    return tables_after(piece, *_LEADING)


def tables_after(piece: SqlPiece, *leading: str) -> Strings:
    """The names behind these words, and those behind commas that follow them."""
    found: list[str] = []
    at = 0
    while at < len(piece.words):
        names, behind = _names(piece, at + 1, _DOTS) if piece.words[at] in leading else ([], at + 1)
        found += names
        at = behind
    return tuple(dict.fromkeys([name for name in found if name]))


def _names(piece: SqlPiece, at: int, marks: frozenset[str]) -> tuple[list[str], int]:
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


def _name(piece: SqlPiece, at: int, marks: frozenset[str]) -> tuple[str, int]:
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


def made_in(piece: SqlPiece) -> list[str]:
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


def spared(one: Statement, piece: SqlPiece, made: set[str]) -> Statement:
    """The same statement; where it drops, empties or changes nothing but scratch tables, it loses
    nothing."""
    if one.does is not Does.DESTRUCTIVE and one.bounded:
        return one
    names = _changed(piece)
    if not names or not all(name in made or name.startswith(_SCRATCH) for name in names):
        return one
    does = Does.UPKEEP if one.does is Does.DESTRUCTIVE else one.does
    return msgspec.structs.replace(one, does=does, bounded=True)


def _changed(piece: SqlPiece) -> list[str]:
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


def forgets(piece: SqlPiece) -> bool:
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


def _names_short(piece: SqlPiece, at: int) -> bool:
    """Whether a setting that is written as a text is followed by a value that is no time at all."""
    name = str(piece.tokens[at].text).upper().rpartition(".")[2]
    return name in _RETAINING and _is_short(piece, at, name)


def _is_short(piece: SqlPiece, at: int, word: str) -> bool:
    """Whether the value behind a setting is no time at all, or less than lakes keep files for."""
    for place in range(at + 1, min(at + _FAR, len(piece.words))):
        value = str(piece.tokens[place].text)
        if piece.words[place] == NUMBER:
            hours = word == "RETAIN" and piece.words[place + 1 : place + 2] in (["HOURS"], ["HOUR"])
            return float(value) < (_KEPT_H if hours else 0.0) or float(value) == 0
        if piece.words[place] == TEXT:
            return _SHORT.fullmatch(value) is not None
    return False
