"""What statements do, by what they say: each kind, and what stands in front of another
statement."""

from __future__ import annotations

import pytest

from stanchion.guards.sql import Does, Statement
from stanchion.readings.sql.recognise import classify

READS = """
SELECT a FROM t
(SELECT 1) UNION ALL (SELECT 2)
WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b
VALUES (1), (2)
SHOW TABLES
DESCRIBE users
EXPLAIN DELETE FROM t
EXPLAIN (FORMAT JSON) SELECT 1
PRAGMA table_info(users)
COPY t TO STDOUT
FETCH NEXT FROM c
SELECT REPLACE(a, 'x', 'y'), TRUNCATE(b, 2), t.update FROM t
SELECT COUNT(*) INTO @n FROM t
EXEC sp_help 'orders'
EXEC sp_columns @table_name = 'orders'
"""

KINDS: dict[Does, str] = {
    Does.READ: READS,
    Does.TRANSACTION: (
        "BEGIN\nSTART TRANSACTION\nCOMMIT\nROLLBACK TO s\nSET TRANSACTION READ ONLY\nEND"
    ),
    Does.SESSION: """
SET statement_timeout = 5
USE shop
RESET timezone
SET @a = 1
SET NAMES utf8
DECLARE @n INT = 5
DEALLOCATE p
""",
    Does.UPKEEP: """
SET search_path = x
RESET ALL
SET a.b = 1
SET TRANSACTION READ WRITE
VACUUM
ANALYZE t
LOCK TABLE t
SELECT * FROM t FOR UPDATE
REINDEX TABLE t
UPDATE STATISTICS t
PRAGMA foreign_keys = 1
PRAGMA journal_mode = 'wal'
PRAGMA synchronous = 2
PRAGMA trusted_schema = 0
""",
    Does.CALL: """
CALL tidy(1)
EXEC tidy 1
EXEC mine.sp_help 1
EXEC @a = sp_help
EXEC @sp_help 'dir'
EXECUTE p
WAITFOR DELAY '0:0:5'
DO SLEEP(5)
""",
    Does.WRITE: """
INSERT INTO t VALUES (1)
UPDATE t SET a = 1 WHERE id = 1
DELETE FROM t WHERE id = 1
REPLACE INTO t VALUES (1)
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1
WITH gone AS (DELETE FROM t WHERE id = 1 RETURNING *) SELECT * FROM gone
WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a
SELECT * INTO copy FROM t
EXPLAIN ANALYZE INSERT INTO t VALUES (1)
EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t WHERE id = 1
ANALYZE FORMAT=JSON DELETE FROM t WHERE id = 1
PREPARE p AS INSERT INTO t VALUES ($1)
EXECUTE IMMEDIATE 'INSERT INTO t VALUES (1)'
EXEC('INSERT INTO t VALUES (1)')
EXEC sp_executesql N'INSERT INTO t VALUES (1)'
DECLARE c CURSOR FOR DELETE FROM t WHERE id = 1 RETURNING *
COPY (DELETE FROM t WHERE id = 1 RETURNING *) TO STDOUT
COPY t FROM STDIN
BEGIN DELETE FROM t WHERE id = 1
""",
    Does.DDL: """
CREATE TABLE t (a INT)
CREATE OR REPLACE VIEW v AS SELECT 1
CREATE UNIQUE INDEX i ON t (a)
ALTER TABLE t ADD COLUMN a INT
ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u (a) ON DELETE CASCADE
ALTER TABLE t ALTER COLUMN a DROP NOT NULL
RENAME TABLE a TO b
COMMENT ON TABLE t IS 'x'
WITH a AS (SELECT 1) CREATE TABLE t AS SELECT * FROM a
""",
    Does.ADMIN: """
COPY t FROM PROGRAM 'ls'
COPY t TO '/tmp/x'
COPY (SELECT 1) TO '/tmp/x'
LOAD DATA INFILE '/etc/passwd' INTO TABLE t
SELECT * FROM t INTO OUTFILE '/tmp/x'
INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1
ATTACH DATABASE 'x.db' AS x
CREATE EXTENSION plpython3u
CREATE FUNCTION f() RETURNS INT AS 'x' LANGUAGE C
CREATE FUNCTION sys_exec RETURNS STRING SONAME 'x.so'
CREATE DATABASE LINK l CONNECT TO x
ALTER SYSTEM SET archive_command = 'x'
KILL 5
SHUTDOWN
SET GLOBAL general_log = 1
SET sql_mode = 'ANSI'
SET standard_conforming_strings = off
PRAGMA writable_schema = 1
PRAGMA main.journal_mode = DELETE
PRAGMA trusted_schema = 1
PRAGMA foreign_keys = 0
PRAGMA foreign_keys = 'on or so'
START REPLICA
""",
    Does.PRIVILEGE: """
GRANT SELECT ON t TO bob
REVOKE ALL ON t FROM bob
CREATE USER bob
ALTER ROLE bob SUPERUSER
DROP USER bob
ALTER TABLE t OWNER TO bob
ALTER TABLE t DISABLE ROW LEVEL SECURITY
SET ROLE admin
SET SESSION AUTHORIZATION admin
EXECUTE AS USER = 'dbo'
""",
    Does.DESTRUCTIVE: """
DROP TABLE IF EXISTS a.b, c
DROP DATABASE shop
TRUNCATE TABLE a, b
ALTER TABLE t DROP COLUMN a
ALTER TABLE t DROP PARTITION (a = 1)
CREATE OR REPLACE TABLE t AS SELECT 1
PREPARE p FROM 'DROP TABLE t'
""",
    Does.UNKNOWN: """
hello world
1 UNION SELECT password FROM users
EXECUTE IMMEDIATE plan
EXEC(@text)
SELECT FROM WHERE
SELECT 1 DROP TABLE t
SELECT * FROM t WHERE
""",
}


def worst(text: str, dialect: str | None = None) -> Statement:
    return max(classify(text, dialect), key=lambda one: one.does)


@pytest.mark.parametrize(
    ("does", "text"),
    [(does, line) for does, lines in KINDS.items() for line in lines.splitlines() if line],
)
def test_what_a_statement_does(does: Does, text: str) -> None:
    found = worst(text)
    assert found.does is does
    assert bool(found.why) is (does is Does.UNKNOWN)


@pytest.mark.parametrize("text", [line for line in READS.splitlines() if line])
def test_a_read_is_one_whatever_surrounds_it(text: str) -> None:
    for dressed in (f"  {text} ;", f"/* a; b */ {text}", f"{text} -- done; really", f";;{text};;"):
        (found,) = classify(dressed)
        assert (found.does, found.why) == (Does.READ, "")


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("SELECT * FROM a JOIN b.c USING (id), d", {"a", "b.c", "d"}, set()),
        ("SELECT (SELECT max(x) FROM Inner_T) FROM outer_t", {"inner_t", "outer_t"}, set()),
        ("WITH users AS (SELECT * FROM users) SELECT * FROM users", {"users"}, set()),
        ("WITH users AS (SELECT 1) SELECT * FROM users", set(), set()),
        ("WITH RECURSIVE r AS (SELECT 1 UNION SELECT * FROM r) SELECT * FROM r", set(), set()),
        (
            "WITH x AS (WITH users AS (SELECT 1) SELECT * FROM users) SELECT * FROM users",
            {"users"},
            set(),
        ),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a, b", {"b"}, set()),
        ("WITH users AS (SELECT 1) SELECT * FROM public.users", {"public.users"}, set()),
        ("INSERT INTO a (x) SELECT y FROM b", {"b"}, {"a"}),
        ("UPDATE a SET x = (SELECT max(y) FROM b) WHERE id = 1", {"b"}, {"a"}),
        ("DELETE FROM a USING b WHERE a.id = b.id", {"b"}, {"a"}),
        ("REPLACE INTO a SELECT * FROM b", {"b"}, {"a"}),
        ("SELECT * FROM generate_series(1, 5)", set(), set()),
        ("DROP TABLE IF EXISTS a.b, c CASCADE", set(), {"a.b", "c"}),
        ("ALTER TABLE ONLY a ADD COLUMN x INT", set(), {"a"}),
        ("TRUNCATE a, b", set(), {"a", "b"}),
        ("CREATE TABLE a AS SELECT * FROM b", {"b"}, {"a"}),
        ("GRANT SELECT ON a TO bob", set(), {"a"}),
        ("COPY a TO STDOUT", {"a"}, set()),
    ],
)
def test_which_tables_it_touches(text: str, reads: set[str], writes: set[str]) -> None:
    (found,) = classify(text, "postgres" if "REPLACE" not in text else "mysql")
    assert (set(found.reads), set(found.writes)) == (reads, writes)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT pg_sleep(5), lower(a) FROM t", ["pg_sleep"]),
        ("SELECT \"pg_read_file\" /* x */ ('/etc/passwd')", ["pg_read_file"]),
        ("SELECT utl_http.request('x') FROM dual", ["utl_http.request"]),
        ("SELECT dbms_random.value() FROM dual", []),
        ("SELECT * FROM dblink('host=x', 'DELETE FROM t')", ["dblink"]),
        ("SELECT * FROM t WHERE id = (SELECT setval('s', 1))", ["setval"]),
        ("EXEC master..xp_cmdshell 'dir'", ["xp_cmdshell"]),
        ("EXPLAIN SELECT sleep(5)", ["sleep"]),
        ("SELECT sleep FROM benchmark", []),
        ("SELECT load_extension('x')", ["load_extension"]),
    ],
)
def test_functions_that_do_more_than_compute(text: str, names: list[str]) -> None:
    assert [effect.name for effect in worst(text).effects] == names


def test_what_a_name_means_depends_on_the_dialect() -> None:
    text = "SELECT * FROM url('http://example.org')"
    assert worst(text, "clickhouse").effects
    assert not worst(text, "postgres").effects
    assert worst("SELECT * FROM '/etc/passwd'", "duckdb").effects


def test_statements_are_numbered() -> None:
    found = classify("SELECT 1; ; DELETE FROM t WHERE id = 1; -- end")
    assert [(one.at, one.does) for one in found] == [(1, Does.READ), (2, Does.WRITE)]
    assert classify(" ; -- nothing") == ()


KNOWN_FUNCTIONS = """
mysql|SELECT WEEKDAY(created_at), ST_Distance_Sphere(a, b), INET6_NTOA(ip) FROM t
clickhouse|SELECT toUInt8(a), toStartOfWeek(at), uniqExact(b), multiIf(a > 1, 2, 3) FROM t
clickhouse|SELECT domain(url), JSONExtractInt(j, 'a'), arrayJoin(xs) FROM t
postgres|SELECT date_part('year', at), pg_blocking_pids(1), st_dwithin(a, b, 5), unaccent(n) FROM t
tsql|SELECT CHECKSUM(a), STDEVP(b) FROM t
oracle|SELECT FROM_TZ(a, 'UTC'), TO_CLOB(b) FROM t
snowflake|SELECT OBJECT_PICK(a, 'b'), AS_INTEGER(c), HAVERSINE(1, 2, 3, 4) FROM t
bigquery|SELECT NET.IP_FROM_STRING(ip), ST_GEOGPOINT(a, b) FROM t
duckdb|SELECT list_sum(a), strip_accents(b), epoch_us(c) FROM t
spark|SELECT percentile_approx(a, 0.5), monotonically_increasing_id() FROM t
trino|SELECT url_extract_host(u), map_agg(a, b) FROM t
redshift|SELECT json_extract_array_element_text(j, 0) FROM t
"""


@pytest.mark.parametrize("line", KNOWN_FUNCTIONS.split("\n")[1:-1])
def test_functions_of_each_dialect_are_known(line: str) -> None:
    dialect, _, text = line.partition("|")
    assert [one.unknown for one in classify(text, dialect)] == [()]
    assert [one.unknown for one in classify(text)] == [()]


@pytest.mark.parametrize(
    "call",
    [
        "ts_rewrite(a, b)",
        "get_raw_page(a)",
        "dictGet(a)",
        "crypt(a, b)",
        "my_own(a)",
        "shop.weekday(a)",
    ],
)
def test_what_a_function_does_is_unknown(call: str) -> None:
    name = call.partition("(")[0].lower()
    assert classify(f"VALUES ({call})", "postgres")[0].unknown == (name,)
