"""Blocks, texts that are put together when they run, and tables that only a session has."""

from __future__ import annotations

import pytest

from stanchion.readings.sql.recognise import classify
from stanchion.readings.sql.statement import Does, Statement, severity


def worst(text: str, dialect: str | None) -> Statement:
    return max(classify(text, dialect), key=lambda one: (bool(one.why), severity((one,))))


DESTROYING = [
    ("tsql", "IF EXISTS (SELECT 1 FROM sys.tables WHERE name = 'a') DROP TABLE a"),
    ("tsql", "IF @n > 3 BEGIN PRINT 'x'; TRUNCATE TABLE dbo.a; END"),
    ("tsql", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH DROP TABLE a END CATCH"),
    ("tsql", "WHILE @i < 9 BEGIN SET @i = @i + 1; DROP TABLE a; END"),
    ("tsql", "DECLARE @s nvarchar(max) = N'DROP TABLE ' + QUOTENAME(@t); EXEC sp_executesql @s"),
    ("tsql", "DECLARE @s nvarchar(max); SET @s = 'TRUNC'; SET @s += 'ATE TABLE a'; EXEC (@s)"),
    ("postgres", "DO $$ DECLARE r record; BEGIN FOR r IN SELECT 1 LOOP EXECUTE format('DROP TABLE "
                 "%I', r.t); "
     "END LOOP; END $$"),
    ("postgres", ("DO $x$ BEGIN IF true THEN TRUNCATE a; END IF; EXCEPTION WHEN others THEN NULL; "
                 "END $x$")),
    ("postgres", "DO $$ BEGIN EXECUTE 'DR' || 'OP TABLE ' || quote_ident('m'); END $$"),
    ("postgres", "DO $$ DECLARE q text := 'DROP SCHEMA s'; BEGIN EXECUTE q; END $$"),
    ("oracle", "BEGIN FOR t IN (SELECT n FROM user_tables) LOOP EXECUTE IMMEDIATE 'DROP TABLE \"' "
               "|| t.n || "
     "'\" PURGE'; END LOOP; END;"),
    ("mysql", "SET @s = CONCAT('DROP TABLE ', @t); PREPARE p FROM @s; EXECUTE p"),
    ("bigquery", ("FOR t IN (SELECT n FROM d.tables) DO EXECUTE IMMEDIATE FORMAT('DROP TABLE "
                 "`d.%s`', t.n); END FOR;")),
    ("snowflake", "BEGIN LET n := 1; EXECUTE IMMEDIATE 'DROP TABLE ' || 'a'; END"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text"), DESTROYING)
def test_what_a_block_destroys_is_seen(dialect: str, text: str) -> None:
    found = worst(text, dialect)
    assert (found.does, found.why) == (Does.DESTRUCTIVE, "")


RIGHTS = [
    ("oracle", "BEGIN EXECUTE IMMEDIATE 'gr' || 'ant dba to ' || USER; END;"),
    ("postgres", "DO $$ BEGIN EXECUTE concat('ALTER ROLE ', 'x', ' SUPERUSER'); END $$"),
    ("tsql", "DECLARE @u sysname = 'bob'; EXEC ('GRANT CONTROL TO ' + @u)"),
    ("mysql", "SET @a = 'GRANT ALL ON *.* TO u'; PREPARE s FROM @a; EXECUTE s"),
    ("bigquery", "EXECUTE IMMEDIATE CONCAT('GRANT `r` ON SCHEMA d TO ', \"'user:a'\")"),
]


@pytest.mark.parametrize(("dialect", "text"), RIGHTS)
def test_rights_in_texts_that_are_put_together(dialect: str, text: str) -> None:
    found = worst(text, dialect)
    assert (found.does, found.why) == (Does.PRIVILEGE, "")


HARMLESS = [
    ("tsql", "BEGIN TRY BEGIN TRAN; UPDATE a SET b = 1 WHERE id = 3; IF @@ROWCOUNT <> 1 THROW "
             "50001, 'no', "
     "1; COMMIT; END TRY BEGIN CATCH ROLLBACK; THROW; END CATCH"),
    ("tsql", "IF NOT EXISTS (SELECT 1 FROM a WHERE id = 4) INSERT INTO a (id) VALUES (4) ELSE "
             "UPDATE a SET "
     "b = 2 WHERE id = 4"),
    ("tsql", ("DECLARE @c nvarchar(max) = N'[x]'; DECLARE @q nvarchar(max) = N'SELECT a FROM t'; "
             "EXEC sp_executesql @q")),
    ("postgres", ("DO $$ DECLARE n int := 0; BEGIN SELECT count(*) INTO n FROM a; RAISE NOTICE "
                  "'%', "
                 "n; END $$")),
    ("postgres", ("DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM a) THEN INSERT INTO a VALUES (1); END "
                 "IF; END $$")),
    ("oracle", "DECLARE v NUMBER; BEGIN SELECT count(*) INTO v FROM a; DBMS_LOB.TRIM(x, 1); END;"),
    ("bigquery", ("BEGIN UPDATE d.a SET b = 1 WHERE id = 3; EXCEPTION WHEN ERROR THEN SELECT 1; "
                 "END")),
    ("mysql", ("SET @s = 'SELECT * FROM t WHERE id = ?'; PREPARE p FROM @s; EXECUTE p USING @i; "
              "DEALLOCATE PREPARE p")),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text"), HARMLESS)
def test_honest_blocks_are_understood(dialect: str, text: str) -> None:
    found = worst(text, dialect)
    assert found.does <= Does.WRITE
    assert not found.why
    assert found.bounded


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "SELECT a INTO #x FROM t; DROP TABLE #x"),
        ("tsql", "DECLARE @t TABLE (id int); INSERT @t VALUES (1); DELETE FROM @t"),
        ("mysql", "CREATE TEMPORARY TABLE s (k int); TRUNCATE TABLE s; DROP TEMPORARY TABLE s"),
        ("postgres", "CREATE TEMP TABLE w AS SELECT 1; UPDATE w SET a = 1; DROP TABLE IF EXISTS w"),
        ("postgres", "DROP TABLE pg_temp.w"),
        ("duckdb", "CREATE OR REPLACE TEMP TABLE w AS SELECT 1; DELETE FROM w"),
        (None, "CREATE TEMPORARY TABLE s (k INT); DROP TABLE s"),
    ],
)
def test_scratch_tables_may_go(dialect: str | None, text: str) -> None:
    found = worst(text, dialect)
    assert found.does <= Does.DDL
    assert found.bounded
    assert not found.why


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "CREATE TEMP TABLE w AS SELECT 1; DROP TABLE w, orders"),
        ("postgres", "CREATE TABLE IF NOT EXISTS orders (a int); DROP TABLE orders"),
        ("postgres", "CREATE TEMP TABLE w AS SELECT 1; DELETE FROM orders"),
        ("tsql", "SELECT a INTO #x FROM t; DROP TABLE x"),
        ("mysql", "CREATE TEMPORARY TABLE s (k int); DROP DATABASE s"),
        ("tsql", "DROP TABLE ##shared"),
    ],
)
def test_what_others_have_is_no_scratch_table(dialect: str, text: str) -> None:
    assert any(one.does is Does.DESTRUCTIVE or not one.bounded for one in classify(text, dialect))


@pytest.mark.parametrize(
    ("dialect", "text", "clear"),
    [
        ("mysql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN @@!garbled wipe; END", False),
        (
            "snowflake",
            "CREATE TASK t WAREHOUSE = w SCHEDULE = '1 minute' AS EXECUTE IMMEDIATE $$ frob $$",
            False,
        ),
        ("mysql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM a WHERE t < NOW()", True),
        (
            "mysql",
            "CREATE TRIGGER t BEFORE UPDATE ON a FOR EACH ROW BEGIN SET NEW.u = NOW(); END",
            True,
        ),
        ("sqlite", "CREATE TRIGGER t BEFORE INSERT ON a BEGIN SELECT RAISE(ABORT, 'x'); END", True),
        ("postgres", "CREATE RULE r AS ON INSERT TO a DO INSTEAD NOTHING", True),
        ("mysql", "CREATE PROCEDURE p() BEGIN frob the nob; END", True),
    ],
)
def test_a_body_that_runs_by_itself_is_read_or_a_doubt(
    dialect: str, text: str, clear: bool
) -> None:
    assert (worst(text, dialect).why == "") is clear
