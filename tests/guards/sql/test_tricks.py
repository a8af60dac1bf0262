"""Quotes and comments that hide statements from one reader and show them to another."""

from __future__ import annotations

import pytest

from stanchion.guards.sql import Does
from stanchion.readings.sql.recognise import classify
from stanchion.readings.sql.statement import dialect_said_by

HIDDEN = {
    "mysql": [
        "/*!50000 DROP TABLE t */",
        "SELECT 1 /*! ; DROP TABLE t */",
        "SELECT 1 /*M!100100 ; DROP TABLE t */",
        "SELECT 5 --1; DROP TABLE t",
        "SELECT 1 /* /* */ ; DROP TABLE t -- */",
        "SELECT \"'\" ; DROP TABLE t -- '",
        "SELECT 'a' # it's\n; DROP TABLE t # '",
    ],
    "postgres": [
        "SELECT 'a\\'; DROP TABLE t; -- '",
        "SELECT a$$; DROP TABLE t; SELECT b$$",
        "SELECT $a$ $b$ $a$; DROP TABLE t; --$b$",
        "SHOW 'a;b'; DROP TABLE t; --'",
        "SELECT 1 /* /* */ */ ; DROP TABLE t",
        "SELECT 1 --\rx\n; DROP TABLE t",
    ],
    "sqlite": ["SELECT 1 /* /* */ ; DROP TABLE t; -- */", "SELECT [a'] FROM t; DROP TABLE t; --']"],
    "tsql": ["SELECT [a']]b']; DROP TABLE t; --']"],
    "oracle": ["SELECT q'[']' FROM dual; DROP TABLE t; --'"],
}

SHOWN = {
    "mysql": [
        "SELECT 'a\\'; DROP TABLE t; -- '",
        "SELECT 1 # ; DROP TABLE t",
        'SELECT "; DROP TABLE t"',
    ],
    "postgres": [
        "SELECT $$; DROP TABLE t; $$",
        "SELECT $x$; DROP TABLE t; $$ $x$",
        "SELECT E'a\\'; DROP TABLE t; -- '",
        'SELECT "; DROP TABLE t"',
        "SELECT 1 /*!50000 ; DROP TABLE t */",
        "SELECT 1 /* /* */ ; DROP TABLE t */",
        "SELECT 5 --1; DROP TABLE t",
    ],
    "tsql": ["SELECT [; DROP TABLE t]", "SELECT 1 /* /* */ ; DROP TABLE t */"],
}

UNSURE = {
    "postgres": [
        "SELECT x'1'; SELECT zz'; DROP TABLE t; --'",
        'SELECT * FROM U&"\\0074"',
        "SELECT 1\0; DROP TABLE t",
    ],
    "mysql": ["SELECT 1 --\rDROP TABLE t", "SELECT 1 /*! /*! ; DROP TABLE t */ */"],
    "hive": ["SELECT 1 /* /* */ ; DROP TABLE t -- */"],
    "snowflake": ["SELECT {# ; DROP TABLE t #} 1"],
}


def pairs(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(dialect, text) for dialect, listed in texts.items() for text in listed]


@pytest.mark.parametrize(("dialect", "text"), pairs(HIDDEN))
def test_what_a_database_would_run_is_seen(dialect: str, text: str) -> None:
    assert [one for one in classify(text, dialect) if one.does is Does.DESTRUCTIVE or one.why]


@pytest.mark.parametrize(("dialect", "text"), pairs(HIDDEN))
def test_it_is_seen_or_unclear_where_the_dialect_is_not_known(dialect: str, text: str) -> None:
    assert [one for one in classify(text) if one.does is Does.DESTRUCTIVE or one.why]


@pytest.mark.parametrize(("dialect", "text"), pairs(SHOWN))
def test_what_a_database_would_not_run_is_nothing(dialect: str, text: str) -> None:
    (found,) = classify(text, dialect)
    assert (found.does, found.why) == (Does.READ, "")


@pytest.mark.parametrize(("dialect", "text"), pairs(UNSURE))
def test_what_nobody_can_tell_is_unclear(dialect: str, text: str) -> None:
    assert [one for one in classify(text, dialect) if one.why]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT `name` FROM `t` WHERE a = 'it\\'s'",
        "SELECT \"name\" FROM t WHERE a = 'it''s'",
        "SELECT [name] FROM [t]",
        "SELECT a FROM t # comment",
        "SELECT a::int FROM t",
        "SELECT TOP 5 a FROM t",
        "SELECT * EXCEPT (a) FROM `p.d.t`",
    ],
)
def test_a_read_of_any_dialect_is_one_where_none_is_known(text: str) -> None:
    (found,) = classify(text)
    assert (found.does, found.why) == (Does.READ, "")


def test_a_write_that_only_one_dialect_reads_is_one() -> None:
    (found,) = classify("UPDATE `a` JOIN `b` ON `a`.id = `b`.id SET `a`.x = 1 WHERE `a`.id = 5")
    assert (found.does, found.bounded, found.why) == (Does.WRITE, True, "")


@pytest.mark.parametrize(
    ("tool", "dialect"),
    [
        ("postgres_query", "postgres"),
        ("runMySQLQuery", "mysql"),
        ("sqlite.execute", "sqlite"),
        ("pg", "postgres"),
        ("copy_mysql_to_sqlite", None),
        ("run_sql", None),
        ("upgrade", None),
    ],
)
def test_a_tools_name_says_its_dialect(tool: str, dialect: str | None) -> None:
    assert dialect_said_by(tool) == dialect
