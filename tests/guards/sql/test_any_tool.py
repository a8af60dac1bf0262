"""SQL is known by its text, whatever the tool is called; what is not known to be a read is none.

Statements are drawn: dialect, kind, case, quotes, comments, and others before and behind them.
"""

from __future__ import annotations

import logging
from itertools import count

import pytest
from hypothesis import given, strategies as st

from stanchion.testing import shield_for
from tests.properties.examples import sample

TOOLS = ["helper", "duckdb_query", "db_query", "runTask", "mcp__x__go", "lookup"]
ARGUMENTS = ["q", "query", "input", "payload", "text"]

DATABASE = shield_for({"name": "d", "extends": "database"})
CLERKS = count()
"""An agent for each call: one alone may ask a person thirty times a minute, and tests are fast."""
READERS = shield_for({"name": "r", "guards": [{"use": "sql", "level": "read_only"}]})


def judged(shield: object, tool: str, argument: str, text: str) -> str:
    """The code with which a call is refused; empty where it goes ahead."""
    decision = shield.run(f"clerk-{next(CLERKS)}").check(tool, {argument: text})  # type: ignore[attr-defined]  # a shield of either kind
    return "" if decision.proceeds else decision.code


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "text",
    [
        "TRUNCATE TABLE t RESTRICT", "TRUNCATE ONLY t", "DROP NAMESPACE a.b",
        "truncate table only a, b cascade", "DROP MATERIALIZED VIEW IF EXISTS v",
        "/* x */ drop\ntable\nt", "ALTER TABLE t DROP COLUMN a", "DROP TABLE IF EXISTS `t`",
        "DELETE FROM t", "GRANT ALL ON t TO public", "CREATE ROLE x SUPERUSER",
        "COPY t TO PROGRAM 'sh'", "SELECT pg_read_file('/etc/passwd')", "ALTER SYSTEM SET a = 1",
        "EXEC xp_cmdshell 'dir'", "SELECT 1; DROP TABLE t",
    ],
)  # fmt: skip
def test_what_destroys_is_refused_whatever_the_tool_is_called(tool: str, text: str) -> None:
    assert judged(DATABASE, tool, "query", text).startswith("sql.")


def test_a_merge_by_columns_is_judged_and_does_not_break_the_guard() -> None:
    text = (
        "MERGE INTO p USING (SELECT 1 AS id, 2 AS x) AS s USING (id) WHEN MATCHED THEN UPDATE "
        "SET x = s.x"
    )
    assert judged(DATABASE, "duckdb_query", "query", text) == ""
    assert judged(READERS, "duckdb_query", "query", text) == "sql.write"
    whole = "MERGE INTO p USING s ON true WHEN MATCHED THEN DELETE"
    assert judged(DATABASE, "duckdb_query", "query", whole) == "sql.unbounded"


KINDS = {
    "write": ["INSERT INTO {t} VALUES (1)", ("UPDATE {t} SET a = "
                                            "1 WHERE id = 1"), "DELETE FROM {t} WHERE id = 2",
              "SELECT * INTO copy FROM {t}", ("MERGE INTO {t} USING s ON {t}.id = s.id WHEN "
                                              "MATCHED "
                                             "THEN DELETE")],
    "ddl": ["CREATE TABLE {t} (a INT)", "ALTER TABLE {t} ADD COLUMN b INT", ("CREATE VIEW v AS "
                                                                            "SELECT * FROM {t}")],
    "destroys": ["DROP TABLE {t}", "TRUNCATE TABLE {t}", "TRUNCATE {t}", "DROP SCHEMA {t} CASCADE", "DROP VIEW {t}"],  # noqa: E501
    "rights": ["GRANT SELECT ON {t} TO bob", "REVOKE ALL ON {t} FROM bob", "SET ROLE {t}",
               "SET SESSION AUTHORIZATION x",
               "SET session_authorization = 'x'", 'SET "role" = x', "RESET ROLE",
               "RESET SESSION AUTHORIZATION",
               "ALTER ROLE x SUPERUSER", "USE ROLE admin"],
    "settings": ["SET search_path = {t}", "SET a.b = 1", "RESET ALL", ("SET "
                                                                      "TRANSACTION READ WRITE"), "DISCARD ALL",  # noqa: E501
                 "ALTER SYSTEM SET a = 1", "SET GLOBAL a = 1", "SET row_security = off"],
    "functions": ["SELECT {f}(1)", "SELECT a, {f}(a) FROM {t}", "SELECT * FROM {f}(1)",
                  "SELECT * FROM {t} WHERE {f}(a)",
                  "WITH x AS (SELECT {f}(1)) SELECT * FROM x", "VALUES ({f}(1))",
                  "SELECT app.{f}(1)",
                  "SELECT public.lower(a) FROM {t}", "EXPLAIN ANALYZE SELECT {f}(1)"],
    "others": ["CALL tidy()", "COPY {t} FROM '/x'", ("COPY {t} TO "
                                                    "PROGRAM 'x'"), "VACUUM", "LOCK TABLE {t}",
               "SELECT NEXT VALUE FOR ids", "SELECT * FROM {t} FOR UPDATE", "ATTACH 'x.db' AS y",
               "LOAD 'x'",
               "HANDLER {t} OPEN", "DO $$ BEGIN DELETE FROM t; END $$"],
}  # fmt: skip
FUNCTIONS = [
    "pg_read_file", "lo_import", "dblink", "pg_terminate_backend", "load_extension", "nextval",
    "setval", "pg_sleep", "set_config", "my_function", "audit_and_fix", "sys_exec", "xp_cmdshell",
    "query_to_xml",
]  # fmt: skip
NAMES = ["t", "shop.orders", '"T"', "t_1", '"a b"."c"']


def mixed(text: str, how: str) -> str:
    """A statement in another spelling: words in small or mixed letters, other spaces, comments
    between."""
    if "'" in text or '"' in text or "$" in text:
        return f"/* x */ {text}" if how == "comment" else text
    match how:
        case "lower":
            return text.lower()
        case "mixed":
            return "".join(
                [char.upper() if at % 2 else char.lower() for at, char in enumerate(text)]
            )
        case "comment":
            return text.replace(" ", " /* ; */ ")
        case "lines":
            return text.replace(" ", "\n\t")
        case _:
            return text


@st.composite
def changes(draw: st.DrawFn) -> str:
    """Statements that are no reads."""
    text = draw(st.sampled_from([line for lines in KINDS.values() for line in lines]))
    text = text.replace("{t}", draw(st.sampled_from(NAMES))).replace(
        "{f}", draw(st.sampled_from(FUNCTIONS))
    )
    text = mixed(text, draw(st.sampled_from(["", "lower", "mixed", "comment", "lines"])))
    match draw(st.integers(0, 4)):
        case 0:
            return f"SELECT 1; {text}"
        case 1:
            return f"{text}; SELECT 2;"
        case 2:
            return f"-- so\n{text}"
        case _:
            return text


@sample(75)
@given(
    text=changes(),
    tool=st.sampled_from(["run_sql", "postgres_query", "duckdb_query", "mysql_query", "tsql_run"]),
)
def test_where_only_reads_are_allowed_nothing_else_passes(text: str, tool: str) -> None:
    code = judged(READERS, tool, "query", text)
    assert code.startswith("sql."), text


@sample(50)
@given(
    text=st.sampled_from(KINDS["destroys"]),
    name=st.sampled_from(NAMES),
    how=st.sampled_from(["", "lower", "mixed", "comment", "lines"]),
    tool=st.sampled_from(TOOLS),
    argument=st.sampled_from(ARGUMENTS),
)
def test_what_destroys_is_known_in_any_argument(
    text: str, name: str, how: str, tool: str, argument: str
) -> None:
    text = mixed(text.replace("{t}", name), how)
    if len(text.split()) == 2 and not text.split()[0].isupper():
        return  # `truncate t` may be a sentence
    assert judged(DATABASE, tool, argument, text) == "sql.destructive", text


@pytest.mark.parametrize(
    "text",
    [
        "drop everything and come here", "truncate only the first line", "Truncate the description",
        "grant access to Bob",
        "Set role to admin", "create a table for the kids", "Create user account for Bob Smith",
        "update the record", "Delete the file", "call me (maybe)", "merge into main using squash",
        "show me the money", "alter the plan", "Select the best option (b) of all",
        "Use it; drop it", "Load data for the 'x' report", "shutdown", "restart",
        "insert into slot A the values", "with love (from me)", "Replace the battery.",
        "Add 5 items (red)", "commit", "Explain the theory of sets", "kill 5 birds with 1 stone",
        "Do not delete anything!", "execute the plan", "Select shoes (size 42) for running",
        "table for two", "from here to there", "revoke",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shield", [DATABASE, READERS], ids=["database", "read_only"])
def test_sentences_are_no_sql(shield: object, text: str) -> None:
    assert judged(shield, "helper", "note", text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "SELECT lower(a), count(*) FROM t GROUP BY 1", "SELECT jsonb_agg(a) FROM t",
        "SELECT strftime('%Y', d) FROM t", "SELECT date_trunc('day', d), pg_typeof(a) FROM t",
        "SELECT DATE_FORMAT(d, '%Y'), IFNULL(a, 0) FROM t",
        "SELECT DATEADD(day, 1, d), ISNULL(a, 0), LEN(b) FROM t",
        "SELECT * FROM generate_series(1, 5)",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t", "SHOW TABLES",
        "SET statement_timeout = 5",
        "SELECT current_setting('x'), pg_size_pretty(pg_total_relation_size('t'))",
        "EXPLAIN SELECT 1", "DESCRIBE t", "WITH x (a) AS (VALUES (1)) SELECT * FROM x AS y (b)",
        "SELECT a::numeric(10, 2) FROM t WHERE b IN (1, 2)",
    ],
)  # fmt: skip
def test_reads_stay_reads(text: str) -> None:
    assert judged(READERS, "run_sql", "query", text) == ""


@pytest.mark.parametrize(
    "text", ["FROBNICATE t", "SELECT FROM WHERE", "-- so\nUPSIDE down", "EXECUTE IMMEDIATE x"]
)
def test_what_nobody_knows_is_no_read(text: str) -> None:
    assert judged(READERS, "run_sql", "query", text) == "sql.unclear"


def test_a_function_can_be_allowed() -> None:
    policy = {
        "name": "r",
        "guards": [{"use": "sql", "level": "read_only", "allow_functions": ["score_*"]}],
    }
    shield = shield_for(policy)
    assert judged(shield, "run_sql", "query", "SELECT score_of(a) FROM t") == ""
    assert judged(shield, "run_sql", "query", "SELECT rank_of(a) FROM t") == "sql.unclear"


def test_no_text_of_a_call_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        judged(DATABASE, "helper", "note", "drop the secret 4711 at once")
    assert "4711" not in caplog.text


HIDDEN = [
    "USE x DROP TABLE t", "USE x EXEC xp_cmdshell 'id'", "PRINT 1 EXEC xp_cmdshell 'id'",
    "PRINT 'x' DELETE FROM t", "SET NOCOUNT ON DELETE FROM t", "SET @x=1 DELETE FROM t",
    "SET LOCK_TIMEOUT 5 DROP TABLE t", "DECLARE @x int DELETE FROM t",
    "BEGIN TRAN DELETE FROM t COMMIT", "COMMIT DELETE FROM t", "ROLLBACK DROP TABLE t",
    "FETCH NEXT FROM c DELETE FROM t", "CLOSE c DELETE FROM t", "DEALLOCATE x DELETE FROM t",
    "EXEC ('SELECT 1') DROP TABLE t", "EXEC foo DROP TABLE t",
    "SET NOCOUNT ON WITH a AS (SELECT 1 b) DELETE FROM a",
    "PRINT 1 BEGIN TRY DELETE FROM t END TRY", "USE x SELECT 1 DROP TABLE t",
    "SET @x=1 SET @y=2 DELETE FROM t", "EXEC sp_executesql N'SELECT 1', N'@x int' DROP TABLE t",
    "USE x UPDATE exclusive SET a=1", "CREATE TABLE x (a int) DROP TABLE t",
    "ALTER TABLE t ADD c int EXEC xp_cmdshell 'x'",
]  # fmt: skip


@pytest.mark.parametrize(
    "tool", ["execute_sql", "mysql_query", "sqlserver", "run_query", "tsql_run"]
)
@pytest.mark.parametrize("text", HIDDEN)
def test_a_statement_that_begins_inside_another_is_judged(tool: str, text: str) -> None:
    assert judged(READERS, tool, "query", text).startswith("sql.")
    assert judged(DATABASE, tool, "query", text).startswith("sql.")


@pytest.mark.parametrize(
    "text",
    [
        "SET NOCOUNT ON", "SET NAMES utf8", "SET CHARACTER SET utf8", "SHOW CREATE TABLE t",
        "USE backup", "SET NOCOUNT ON SELECT 1", "PRINT 'DELETE FROM t' SELECT a FROM t",
        "DECLARE @x int = 5 SELECT @x", "USE x SELECT TOP 5 a FROM t", "FETCH NEXT FROM c INTO @x",
        "DECLARE @t TABLE (id int) SELECT 1", "SET @x = '; DROP TABLE t'", "USE [drop]",
        "XA RECOVER", "SELECT * FROM t (NOLOCK)",
    ],
)  # fmt: skip
def test_reads_behind_another_statement_stay_reads(text: str) -> None:
    assert (
        judged(
            READERS, "sqlserver" if "[" in text or "NOLOCK" in text else "run_sql", "query", text
        )
        == ""
    )


@pytest.mark.parametrize("shield", [DATABASE, READERS], ids=["database", "read_only"])
@pytest.mark.parametrize(
    "tool", ["execute_sql", "run_sql", "mysql_query", "postgres_query", "sqlite"]
)
@pytest.mark.parametrize(
    "text",
    [
        "# c\nDROP TABLE users", "IF 1=1 DROP TABLE t", "IF EXISTS(SELECT 1) UPDATE t SET a=1",
        "label: DELETE FROM t", "\\! rm -rf /", ".shell rm x", "\\o |sh", "if 1=1 drop table t",
        "!sh", "GO\nDROP TABLE t", "while 1 is null delete t",
    ],
)  # fmt: skip
def test_what_is_no_sentence_is_judged_where_a_tool_surely_runs_sql(
    shield: object, tool: str, text: str
) -> None:
    assert judged(shield, tool, "query", text).startswith("sql.")


@pytest.mark.parametrize(
    "text", ["how many users are there?", "top customers by revenue, last month", "hello"]
)
def test_sentences_are_let_be_by_tools_that_surely_run_sql(text: str) -> None:
    assert judged(READERS, "sql_query", "query", text) == ""


@pytest.mark.parametrize("tool", ["run_query", "query_database"])
@pytest.mark.parametrize(
    "text",
    [
        'SELECT U&"\\0073etval"(\'s\',1)', "SELECT a DROP TABLE t", "WHILE 1=1 DELETE FROM t",
        "BEGIN TRY DELETE FROM t END TRY BEGIN CATCH END CATCH", "EXECUTE x", "INSTALL httpfs",
        "DELIMITER //\nDROP TABLE t//", "while 1=1 delete from t", "select a drop table t",
        "PREPARE TRANSACTION 'x'", "COMMIT PREPARED 'x'", "ROLLBACK PREPARED 'x'", "XA COMMIT 'x'",
        "SELECT * FROM file('x')", "SELECT * FROM a.b('x')",
    ],
)  # fmt: skip
def test_what_begins_as_sql_is_judged_where_a_tool_may_run_it(tool: str, text: str) -> None:
    assert judged(READERS, tool, "query", text).startswith("sql.")


@pytest.mark.parametrize(
    "text",
    ["how to delete from a list in python", "what does drop table do", "NASA budget of 2024"],
)
def test_questions_are_let_be_by_tools_that_may_run_sql(text: str) -> None:
    assert judged(READERS, "query_docs", "query", text) == ""
