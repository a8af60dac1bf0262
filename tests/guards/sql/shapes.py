"""Shapes of texts that a parser could be slow on: nested, long, and pieces to draw others from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Shape = Callable[[int], str]


def nested(before: str, opening: str, middle: str, closing: str = "") -> Shape:
    """So many pieces inside each other."""
    return lambda n: before + opening * n + middle + closing * n


def long(before: str, piece: str, glue: str = "", after: str = "") -> Shape:
    """So many pieces in a row; `%` is each one's number."""
    return lambda n: (
        before + glue.join([piece.replace("%", str(number)) for number in range(n)]) + after
    )


NESTED: Final[dict[str, Shape]] = {
    "brackets": nested("SELECT ", "(", "1", ")"),
    "open brackets": nested("SELECT ", "(", ""),
    "functions": nested("SELECT ", "f(", "1", ")"),
    "types": nested("SELECT ", "DATE(", "1", ")"),
    "arrays": nested("SELECT ", "ARRAY[", "1", "]"),
    "structs": nested("SELECT ", "STRUCT(", "1", ")"),
    "conversions": nested("SELECT ", "CONVERT(INT, ", "1", ")"),
    "generic types": nested("SELECT CAST(x AS ", "ARRAY<", "INT", ">"),
    "queries": nested("SELECT * FROM ", "(SELECT * FROM ", "t", ")"),
    "names for queries": nested("", "WITH a AS (", "SELECT 1", ") SELECT 1"),
    "cases": nested("SELECT ", "CASE WHEN 1 THEN ", "1", " END"),
    "negations": nested("SELECT ", "NOT ", "1"),
    "signs": nested("SELECT ", "- ", "1"),
    "sources": nested("", "FROM ", "t"),
    "explanations": nested("", "EXPLAIN ", "SELECT 1"),
    "blocks": nested("", "BEGIN ", "SELECT 1"),
    "preparations": nested("", "PREPARE p AS ", "SELECT 1"),
    "copies": nested("", "COPY (", "SELECT 1", ") TO STDOUT"),
    "texts in texts": nested("", "EXECUTE IMMEDIATE '", ""),
    "comments": nested("", "/*", "SELECT 1", "*/"),
    "indices": nested("SELECT a", "[1]", ""),
}

LONG: Final[dict[str, Shape]] = {
    "conditions": long("DELETE FROM t WHERE ", "a = 1", " AND "),
    "alternatives": long("DELETE FROM t WHERE ", "a = %", " OR "),
    "queries in conditions": long("SELECT 1 WHERE ", "a IN (SELECT 1 FROM t)", " AND "),
    "columns": long("SELECT ", "a", ", ", " FROM t"),
    "statements": long("", "SELECT 1;"),
    "queries with names": long("WITH ", "a% AS (SELECT 1)", ", ", " SELECT * FROM a0"),
    "tables": long("SELECT * FROM ", "t%", ", "),
    "dropped tables": long("DROP TABLE ", "t%", ", "),
    "rows": long("INSERT INTO t VALUES ", "(1, 'x')", ", "),
    "joins": long("SELECT * FROM t ", "JOIN u ON t.id = u.id "),
    "comments": long("SELECT 1 ", "/* x */ "),
    "a string": long("SELECT '", "x;", "", "'"),
}

BEGINNINGS: Final = (
    "SELECT",
    "SELECT",
    "SELECT * FROM",
    "SELECT a FROM t WHERE",
    "INSERT INTO t",
    "WITH a AS (",
    "VALUES",
)

PIECES: Final = (
    ("(", ")"),
    ("f(", ")"),
    ("DATE(", ")"),
    ("STRUCT(", ")"),
    ("(SELECT ", " FROM t)"),
    ("CASE WHEN ", " THEN 1 END"),
    ("CAST(", " AS INT)"),
    ("a IN (", ")"),
    ("ARRAY[", "]"),
    ("a[", "]"),
    ("NOT ", ""),
    ("- ", ""),
    ("f(x -> ", ")"),
    ("EXISTS(SELECT ", ")"),
    ("DECIMAL(", ")"),
    ("INTERVAL ", ""),
    ("IF(", ", 1, 2)"),
    ("SUM(", ") OVER (PARTITION BY a ORDER BY b)"),
    ("(1, ", ")"),
    ("{'a': ", "}"),
    ("MAP(", ")"),
    ("TRIM(BOTH 'x' FROM ", ")"),
    ("EXTRACT(YEAR FROM ", ")"),
    ("COALESCE(a, ", ")"),
    ("x BETWEEN 1 AND ", ""),
    ("TIMESTAMP ", ""),
    ("ROW(", ")"),
    ("(SELECT * FROM (", "))"),
    ("ANY(", ")"),
    ("x::", ""),
    ("CONVERT(", " USING utf8)"),
    ("CONVERT(INT, ", ")"),
    ("JSON_OBJECT('k': ", ")"),
    ("COUNT(DISTINCT ", ")"),
    ("STRING_AGG(a, ',' ORDER BY ", ")"),
    ("UNNEST(", ")"),
    ("VARCHAR(", ")"),
    ("NULLABLE(", ")"),
    ("BINARY(", ")"),
    ("a ? ", ""),
    ("PRIOR ", ""),
    ("CAST(a AS ARRAY<", ">)"),
    ("(a JOIN ", " ON 1 = 1)"),
    ("SELECT * FROM ", ""),
    ("VALUES (", ")"),
    ("LATERAL (", ")"),
    ("t PIVOT (SUM(a) FOR b IN (", "))"),
    ("a.b.", ""),
    ("@", ""),
    (":", ""),
    ("x AS ", ""),
    ("x, ", ""),
    ("UNION SELECT ", ""),
    ("ORDER BY ", ""),
    ("XMLTABLE(", ")"),
    ("MATCH (a) AGAINST (", ")"),
    ("DATE_ADD(a, INTERVAL ", " DAY)"),
    ("GROUP_CONCAT(", " SEPARATOR 'x')"),
    ("TRY_CAST(", " AS DATE)"),
    ("OPENJSON(", ") WITH (a INT)"),
)
