"""Tables that words name: for statements that are understood by their first words."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.statement import NAME, Does, Statement
from stanchion.readings.word_lists import listed

_LEADING: Final = listed(
    "INTO TABLE TABLES VIEW INDEX UPDATE TRUNCATE ON COPY DESCRIBE DESC ANALYZE VACUUM"
)
_BETWEEN: Final = listed("IF NOT EXISTS ONLY TABLE CONCURRENTLY FULL VERBOSE")
_NO_TABLE: Final = listed(
    "SELECT WITH VALUES LATERAL UNNEST SET DEFAULT ALL STDIN STDOUT PROGRAM DELETE UPDATE CONFLICT "
    "DUPLICATE"
)


def named_tables(piece: Piece) -> tuple[str, ...]:
    """The tables that a statement names behind words such as TABLE, INTO and ON."""
    return tables_after(piece, *_LEADING)


def tables_after(piece: Piece, *leading: str) -> tuple[str, ...]:
    """The names behind these words, and those behind commas that follow them."""
    words = piece.words
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        if words[at] not in leading:
            at += 1
            continue
        at += 1
        while at < len(words):
            while at < len(words) and words[at] in _BETWEEN:
                at += 1
            name, at = _name(piece, at)
            if not name:
                break
            found[name] = None
            if at < len(words) and words[at] == "AS":
                at += 1
            if (
                at + 1 < len(words)
                and words[at + 1] == ","
                and (words[at] == NAME or words[at].isidentifier())
            ):
                at += 1
            if at >= len(words) or words[at] != ",":
                break
            at += 1
    return tuple(found)


def _name(piece: Piece, at: int) -> tuple[str, int]:
    """The name that begins here with its schema before it, and where it ends."""
    words = piece.words
    parts: list[str] = []
    while (
        at < len(words)
        and (words[at] == NAME or words[at].isidentifier())
        and words[at] not in _NO_TABLE
    ):
        parts.append(piece.tokens[at].text.lower())
        at += 1
        if at >= len(words) or words[at] != ".":
            break
        at += 1
    return ".".join(parts), at


_OWN: Final = regex(
    r"(?:.*\.)?(?:pg_catalog|mysql|sys|information_schema|performance_schema|system|snowflake)"
    r"\.[^.]+"
    r"|pg_(?:class|proc|attribute|authid|auth_members|roles|user|database|trigger|policy|namespace|"
    r"type|index|depend"
    r"|constraint|rewrite|shadow|settings|hba_file_rules)"
    r"|(?:.*\.)?sqlite_(?:master|schema|sequence_master|temp_master)"
)
"""Tables of servers, which nobody changes by rows."""


def is_own(name: str) -> bool:
    """Whether a table is the server's own."""
    return _OWN.fullmatch(name) is not None


def changes_own(one: Statement) -> bool:
    """Whether a statement changes rows of a table that is the server's own: rights, or what tables
    there are."""
    return one.does is Does.WRITE and any(is_own(name) for name in one.writes)
