"""Dialects: which there are, which one a tool's name says, and how each writes comments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, get_args

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

DialectName = Literal[
    "bigquery", "clickhouse", "databricks", "duckdb", "hive", "mysql", "oracle", "postgres",
    "presto", "redshift", "snowflake", "spark", "sqlite", "trino", "tsql"
]  # fmt: skip

DIALECTS: Final[tuple[DialectName, ...]] = get_args(DialectName)

TRIED: Final[tuple[DialectName, ...]] = ("postgres", "mysql", "sqlite", "tsql")
"""What a text is read as where its dialect is not known."""

RARER: Final[tuple[DialectName, ...]] = ("bigquery", "snowflake", "duckdb", "oracle")
"""What it is read as besides, where none of those can read it."""

HASH: Final = frozenset({"mysql", "bigquery", "clickhouse"})
SLASHES: Final = frozenset({"snowflake"})
"""Dialects that also begin a comment like this."""

NESTING: Final = listed("postgres redshift tsql duckdb")
FLAT: Final = listed("mysql sqlite oracle snowflake bigquery trino presto")
"""Dialects in which comments stand in each other, and those in which they do not. Of others nobody
knows."""

_SAID: Final[dict[str, DialectName]] = {
    **{name: name for name in DIALECTS},
    "bq": "bigquery",
    "mariadb": "mysql",
    **dict.fromkeys(("pg", "postgresql", "psql", "supabase"), "postgres"),
    "sqlite3": "sqlite",
    "athena": "trino",
    **dict.fromkeys(("mssql", "sqlserver"), "tsql"),
}
"""Words in the names of tools, and the dialects that they say."""
PRODUCTS: Final = frozenset(_SAID)

_WORD: Final = regex(
    r"(?i:postgresql|postgres|mysql|mariadb|bigquery|sqlite|duckdb|clickhouse|sqlserver)|"
    r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]?|[0-9]+"
)


@lru_cache(1024)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a tool's name, in small letters: `runSqlQuery` and `run_sql_query` have the
    same."""
    return tuple([word.lower() for word in _WORD.findall(name[:200])])


@lru_cache(1024)
def dialect_said_by(tool: str) -> DialectName | None:
    """The dialect that a tool's name says, if it says exactly one."""
    said = {_SAID[word] for word in (*words_of(tool), tool.lower()) if word in _SAID}
    return said.pop() if len(said) == 1 else None


_BEGINNINGS: Final[dict[DialectName, re.Pattern[str]]] = {
    "tsql": regex(
        r"(?i)\s*(?:declare\s+@|begin\s+(?:try|tran)\b|if\s+(?:not\s+)?(?:exists\s*\(|"
        r"object_id\s*\()|if\s+@|set\s+(?:nocount|xact_abort|identity_insert)\b|"
        r"exec\s+(?:sys\.)?sp_|create\s+table\s+#\w)"
    ),
    "postgres": regex(
        r"(?i)\s*(?:do\s+\$|create\s+(?:or\s+replace\s+)?(?:function|procedure)\b[^'\"`#]*?"
        r"\b(?:returns\s+(?:trigger|void|setof)\b|as\s+\$))"
    ),
}


def dialect_begun_by(text: str) -> DialectName | None:
    """The dialect that a text is in by how its first statement begins: no other server gets beyond
    that."""
    return next((dialect for dialect, begins in _BEGINNINGS.items() if begins.match(text)), None)
