"""Recognising: whether a text is SQL, whoever it is given to.

The parser decides: plain language that begins with a word of SQL is no statement to it. Where it
does not know a kind of statement, the first words have to be a pair that only SQL has, and the rest
has to be written as SQL is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.readings.sql.calls import spelled
from stanchion.readings.sql.comments import Unread
from stanchion.readings.sql.dialect import RARER, TRIED
from stanchion.readings.sql.lexer import TEXT, Piece, Reader, pieces_of, reader_of
from stanchion.readings.sql.limits import readings_of
from stanchion.readings.sql.places import begins_as_sql, first_word
from stanchion.readings.sql.verbs import BEYOND, KNOWN, OBJECTS, PARSED, RIGHTS
from stanchion.readings.word_lists import listed

if TYPE_CHECKING:
    from sqlglot import exp


_MODIFYING: Final = listed(
    "OR REPLACE TEMP TEMPORARY UNIQUE MATERIALIZED EXTERNAL FOREIGN GLOBAL LOCAL PUBLIC UNLOGGED "
    "RECURSIVE FULLTEXT"
)
"""Words between a verb and what it makes, changes or drops."""

_PAIRS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("DROP", "CREATE", "ALTER"), OBJECTS | RIGHTS | BEYOND),
    "SET": frozenset({"ROLE", "SESSION", "GLOBAL", "PERSIST", "LOCAL", "SESSION_AUTHORIZATION"}),
    "RESET": frozenset({"ROLE", "SESSION", "ALL", "MASTER"}),
    "BULK": frozenset({"INSERT"}),
    "DO": frozenset({TEXT, "LANGUAGE"}),
    "ATTACH": frozenset({TEXT, "DATABASE"}),
    "EXECUTE": frozenset({"IMMEDIATE", "AS"}),
    **dict.fromkeys(("BACKUP", "RESTORE"), frozenset({"DATABASE", "LOG"})),
}
"""Pairs of words with which only SQL begins, for what the parser does not know."""
_JOINED: Final[dict[str, frozenset[str]]] = {
    "GRANT": frozenset({"ON", "TO"}),
    "REVOKE": frozenset({"ON", "FROM"}),
    "COPY": frozenset({"STDIN", "STDOUT", "PROGRAM"}),
    "MERGE": frozenset({"INTO"}),
    "REASSIGN": frozenset({"OWNED"}),
    "LOAD": frozenset({"INFILE", "INPATH", "EXTENSION"}),
}
"""The same for words that stand further on."""
_COPIED: Final = frozenset({TEXT, "STDIN", "STDOUT", "PROGRAM"})
"""What a COPY has that is no sentence."""
_ANYTHING: Final = listed("TRUNCATE EXEC PRAGMA VACUUM REINDEX DETACH")
"""First words that need no second one."""

_WRITTEN: Final = regex(r"[\"'`;=(@$_\[]|\w\.\w|^\W*(?:[A-Z]{4,}\s|[A-Z]{3,}\s+[A-Z]{2,}\b)")
"""How SQL is written and sentences are not: quotes, signs, underscores, dotted names, or its words
in capitals."""

_CAPITALS: Final = ("SELECT ", "SELECT\n", "VALUES", "WITH ", "TABLE ")
"""How a query begins that reads no table: in small letters it may be a sentence."""


_BY_SECOND: Final = listed("SELECT WITH UPDATE DELETE INSERT CREATE DROP ALTER GRANT REVOKE")
"""First words with which sentences begin, too: what else such a statement has tells."""
_RARE: Final = regex(r"(?i)\b(?:pool|sink|source|streamlit|tag|format|key)\b")
"""What else the parser knows to be made and dropped."""


_PROGRAM: Final = regex(r"(?i)\s*truncate\s+-[a-z]")
"""A program of that name, with an option."""


@lru_cache(512)
def is_sql(text: str, limits: Limits = LIMITS) -> bool:
    """Whether a text is nothing but SQL in some dialect."""
    if len(text) > limits.query_chars or not _may_be_sql(text):
        return False
    tried = (*TRIED, *RARER)[: readings_of(text, limits)]
    return any(_reads_as_sql(text, reader_of(dialect, limits), dialect) for dialect in tried)


def _may_be_sql(text: str) -> bool:
    """Whether the parser has to decide about a text. It is not even loaded for one that cannot be
    SQL by its first word, or by what is missing behind it."""
    first = first_word(text)
    if first not in KNOWN or _PROGRAM.match(text) is not None:
        return False
    if first in _BY_SECOND:
        capitals = text.lstrip(" (").startswith(_CAPITALS)
        return begins_as_sql(text, False) or capitals or _RARE.search(text) is not None
    if first in PARSED or first in ("COPY", "TRUNCATE") or "select" in text.lower():
        return True
    known = first in _PAIRS or first in _JOINED or first in _ANYTHING
    return known and _WRITTEN.search(text) is not None


def _reads_as_sql(text: str, reader: Reader, dialect: str) -> bool:
    try:
        pieces, text = pieces_of(text, reader, dialect)
    except Unread:
        return False
    return bool(pieces) and all(_is_statement(piece, reader, text) for piece in pieces)


def _is_statement(piece: Piece, reader: Reader, whole: str) -> bool:
    from sqlglot import exp

    if piece.words[0] == "DELETE" and piece.words[1:2] != ["FROM"] and "WHERE" not in piece.words:
        return False
    if piece.words[0] == "FROM" or (piece.words[0] == "COPY" and _COPIED.isdisjoint(piece.words)):
        return False
    words, text = spelled(piece), whole[piece.tokens[0].start : piece.tokens[-1].end + 1]
    first = words[0].partition(" ")[0]
    try:
        tree: exp.Expr | None = reader.tree(piece.tokens, whole)
    except (Unread, RecursionError):
        tree = None
    statements = (
        exp.Query
        | exp.DML
        | exp.DDL
        | exp.Drop
        | exp.TruncateTable
        | exp.Merge
        | exp.Grant
        | exp.Alter
    )
    if isinstance(tree, statements) and not isinstance(tree, exp.Command):
        if isinstance(tree, exp.Query) and tree.find(exp.From) is None:
            return text.lstrip(" (").startswith(_CAPITALS)
        if first != "SELECT" and not begins_as_sql(text):
            return False
        return len(words) > 2 or _WRITTEN.search(text) is not None
    pair = _PAIRS.get(first)
    second = next((word for word in words[1:6] if word not in _MODIFYING), "")
    known = first in _ANYTHING or (pair is not None and second in pair)
    known = known or (pair is None and not _JOINED.get(first, frozenset()).isdisjoint(words))
    return known and _WRITTEN.search(text) is not None
