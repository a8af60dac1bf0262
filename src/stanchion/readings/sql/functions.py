"""Functions: which ones the words of a statement call, and what those do besides computing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.dialect import DIALECTS
from stanchion.readings.sql.lexer import Piece, is_name
from stanchion.readings.sql.statement import CHANGES, NUMBER, TEXT
from stanchion.readings.word_lists import in_order, listed

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


def calls_at(piece: Piece) -> Iterator[tuple[str, int]]:
    """The names before brackets, in small letters, with the package before them where there is one,
    and the places of the brackets. Words of the language are among them: they are no functions, and
    do no harm here."""
    words, tokens = piece.words, piece.tokens
    for at, (before, word) in enumerate(pairwise(words), 1):
        if word == "(" and is_name(before):
            name = tokens[at - 1].text.lower()
            dotted = at > 2 and words[at - 2] == "."
            yield (f"{tokens[at - 3].text.lower()}.{name}" if dotted else name), at


def calls_in(piece: Piece) -> list[str]:
    """The same without the places, and with the pseudo-columns that take the next number of a
    sequence."""
    numbers = ["nextval" for pair in pairwise(piece.words) if pair == (".", "NEXTVAL")]
    return [*[name for name, _ in calls_at(piece)], *numbers]


def is_narrow(name: str, piece: Piece) -> bool:
    """Whether every call of a function that reaches further reaches what is near: data of the
    project's, or one query that is named by its number."""
    places = [at + 1 for called, at in calls_at(piece) if called == name]
    if name in _FILES:
        return all(_all_data(piece, at) for at in places)
    return name in _ONE_SESSION and all(piece.words[at : at + 2] == [NUMBER, ")"] for at in places)


def unprotects(piece: Piece) -> bool:
    """Whether a function sets what protects data, or who one is."""
    return any(
        name.rpartition(".")[2] == "set_config" and _text_at(piece, at + 1).upper() in _GUARDING
        for name, at in calls_at(piece)
    )


def reads_file(piece: Piece) -> bool:
    """Whether it has a text where a table belongs, a file to some databases, that is no data of the
    project's."""
    return any(
        word in ("FROM", "JOIN") and after == TEXT and not _is_data(_text_at(piece, at))
        for at, (word, after) in enumerate(pairwise(piece.words), 1)
    )


def copies_data(piece: Piece) -> bool:
    """Whether a COPY writes a file with data, in the folder that is worked in or below."""
    words = piece.words
    to = len(words) - 1 - words[::-1].index("TO") if "TO" in words else len(words)
    return _is_data(_text_at(piece, to + 1))


def _text_at(piece: Piece, at: int) -> str:
    """The text that stands there; empty where none does."""
    return str(piece.tokens[at].text) if piece.words[at : at + 1] == [TEXT] else ""


def _all_data(piece: Piece, at: int) -> bool:
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
