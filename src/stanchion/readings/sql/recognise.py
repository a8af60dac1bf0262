"""Recognising SQL: texts that are statements or parts of one."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import (
    SqlPiece,
    SqlReader,
    UnreadSql,
    pieces_of,
    reader_of,
    readings_of,
)
from stanchion.readings.sql.places import (
    ANYWHERE,
    CAPITALS,
    TELLING,
    WRITTEN,
    begins_as_sql,
    may_be_sql,
)
from stanchion.readings.sql.statement import (
    RARER,
    REMEMBERED_CHARS,
    TEXT,
    TRIED,
    Statement,
    dialect_begun_by,
    severity,
    unclear,
)
from stanchion.readings.sql.view import SqlReading, read
from stanchion.readings.word_lists import listed

_MODIFYING: Final = listed(
    "OR REPLACE TEMP TEMPORARY UNIQUE MATERIALIZED EXTERNAL FOREIGN GLOBAL LOCAL PUBLIC UNLOGGED "
    "RECURSIVE FULLTEXT"
)
"""Words between a verb and what it makes, changes or drops."""
_COPIED: Final = frozenset({TEXT, "STDIN", "STDOUT", "PROGRAM"})
"""What a COPY has that is no sentence."""
_STATEMENTS: Final = (
    exp.Query, exp.DML, exp.DDL, exp.Drop, exp.TruncateTable, exp.Merge, exp.Grant, exp.Alter,
)  # fmt: skip


@lru_cache(512)
def is_sql(text: str, limits: ReadLimits = LIMITS) -> bool:
    """Whether a text is nothing but SQL in some dialect."""
    if len(text) > limits.query_chars or not may_be_sql(text):
        return False
    tried = (*TRIED, *RARER)[: readings_of(text, limits)]
    return any(_reads_as_sql(text, reader_of(dialect, limits), dialect) for dialect in tried)


def _reads_as_sql(text: str, reader: SqlReader, dialect: str) -> bool:
    try:
        pieces, text = pieces_of(text, reader, dialect)
    except UnreadSql:
        return False
    return bool(pieces) and all(
        not _is_sentence(piece.words) and _is_statement(piece, reader, text) for piece in pieces
    )


def _is_sentence(words: list[str]) -> bool:
    """Whether words are a sentence to nobody but the parser."""
    if words[0] == "DELETE":
        return words[1:2] != ["FROM"] and "WHERE" not in words
    return words[0] == "FROM" or (words[0] == "COPY" and _COPIED.isdisjoint(words))


def _is_statement(piece: SqlPiece, reader: SqlReader, whole: str) -> bool:
    words, text = piece.spelled(), whole[piece.tokens[0].start : piece.tokens[-1].end + 1]
    first = words[0].partition(" ")[0]
    try:
        tree: exp.Expr | None = reader.tree(piece.tokens, whole)
    except (UnreadSql, RecursionError):
        tree = None
    if isinstance(tree, _STATEMENTS) and not isinstance(tree, exp.Command):
        if isinstance(tree, exp.Query) and tree.find(exp.From) is None:
            return text.lstrip(" (").startswith(CAPITALS)
        plain = first == "SELECT" or begins_as_sql(text)
        return plain and (len(words) > 2 or WRITTEN.search(text) is not None)
    telling = TELLING.get(first)
    second = [word for word in words[1:6] if word not in _MODIFYING][:1]
    tells = telling is not None and (
        not telling or not telling.isdisjoint(words if first in ANYWHERE else second)
    )
    return tells and WRITTEN.search(text) is not None


_VARYING: Final = regex(r"""(?i)["`\[\]\\#${}@]|--|/\*|&'|(?<![\w'])(?:[benqrux]|nq|_\w+)'""")
"""What dialects cut into words differently; a text without it has the same words in all of them."""

_CHANGING: Final = regex(
    r"(?i)\b(?:"
    rf"{'|'.join(sorted(WORDS['changing']))}|EXECUTE|CALL|COPY|LOAD|REPLACE|ATTACH|PRAGMA)\b"
)


def classify(
    text: str, dialect: str | None = None, limits: ReadLimits = LIMITS
) -> tuple[Statement, ...]:
    """What every statement of a text does. Without a dialect it is read as several, and the worst
    reading counts: one that cannot be read is unclear, and so is a text of which one dialect hides
    what another would do."""
    if len(text) > limits.query_chars:
        return unclear("it is too long to be read")
    return (_remembered if len(text) <= REMEMBERED_CHARS else _classified)(text, dialect, limits)


def _classified(text: str, dialect: str | None, limits: ReadLimits) -> tuple[Statement, ...]:
    dialect = dialect if dialect is not None else dialect_begun_by(text)
    if dialect is not None:
        try:
            return read(text, dialect, limits).statements
        except UnreadSql as error:
            return unclear(str(error))
    return _in_any(text, limits)


_remembered: Final = lru_cache(512)(_classified)


def _in_any(text: str, limits: ReadLimits) -> tuple[Statement, ...]:
    clear: list[SqlReading] = []
    unread: list[SqlReading | str] = []
    same = _VARYING.search(text) is None
    most = readings_of(text, limits)
    for dialect in (*TRIED, *RARER):
        if (same or dialect in RARER) if clear else len(unread) == most:
            break
        try:
            reading = read(text, dialect, limits)
        except UnreadSql as error:
            unread.append(str(error))
        else:
            (clear if reading.clear else unread).append(reading)
    if not clear:
        first = unread[0]
        return unclear(first) if isinstance(first, str) else first.statements
    if any(_may_hide(one, clear, text) for one in unread):
        return unclear("databases read it differently; say which dialect it is in")
    return max([reading.statements for reading in clear], key=severity)


def _may_hide(unread: SqlReading | str, clear: list[SqlReading], text: str) -> bool:
    """Whether a dialect that could not read a text may do what those that could read it do not
    show."""
    if isinstance(unread, str):
        return _CHANGING.search(text) is not None
    return unread.words not in [reading.words for reading in clear]
