# ruff: noqa: S608 - these statements are judged; no database ever runs them
"""Fresh SQL: statements by what they do × the ways in which they are wrapped, and values that would
change a query."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from stanchion_lab.fresh import Rows
from stanchion_lab.fresh.words import name, word

EACH: Final = 90
VALUES: Final = 300

Make = Callable[[Random], str]


def draw(random: Random) -> Rows:
    """Draw texts for the measure `sql`."""
    rows = []
    for label, makes in STATEMENTS.items():
        for _ in range(EACH):
            wrapping = random.choice(_wrappings(label))
            rows.append(
                _row(label, wrapping, WRAPPINGS[wrapping](random, random.choice(makes)(random)))
            )
    rows += [
        _row("sqli_fragment", "value", random.choice(FRAGMENTS).format(*_three(random)))
        for _ in range(VALUES)
    ]
    rows += [
        _row("not_sqli", "value", random.choice(PLAIN).format(*_three(random)))
        for _ in range(VALUES)
    ]
    return {"sql.jsonl": rows}


def _wrappings(label: str) -> list[str]:
    """The wrappings that a class of statements can have: a plan is made, and a text prepared, of
    rows alone."""
    if label in ("read", "work"):
        return list(CALM)
    rows = label in ("write", "write_unbounded")
    return [name for name in WRAPPINGS if rows or name not in ("explained", "prepared")]


def _row(label: str, kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "label": label, "payload": text}


def _three(random: Random) -> tuple[str, str, int]:
    return word(random), word(random), random.randint(1, 99)


def _table(random: Random) -> str:
    schema = random.choice(("", "", "public.", "shop.", "dbo."))
    return f"{schema}{word(random)}{random.choice(('', 's', '_items', '_log'))}"


def _where(random: Random) -> str:
    column = f"{word(random)}_id"
    return random.choice(
        (f"{column} = {random.randint(1, 9999)}", f"{column} IN (3, 5)", f"name = '{name(random)}'")
    )


def _all(random: Random) -> str:
    """A condition that every row meets, or none at all."""
    return random.choice(
        (
            "", " WHERE 1 = 1", " WHERE true", " WHERE 'a' = 'a'", " WHERE id = id OR 1 < 2",
            " WHERE id IS NOT NULL", f" WHERE id > {-random.randint(0, 99)}",
            f" WHERE length({word(random)}) >= 0", " WHERE id NOT IN (0, -1)",
            f" WHERE {word(random)} < {random.randint(5, 9)} OR {word(random)} IS NULL OR 2 > 1",
            f" WHERE EXISTS (SELECT 1 FROM {word(random)}z z WHERE z.id = {random.randint(1, 99)})",
        )
    )  # fmt: skip


KEYS: Final = (
    "password_hash",
    "api_key",
    "refresh_token",
    "totp_secret",
    "private_key",
    "client_secret",
)
"""Columns that hold what opens something."""

STATEMENTS: Final[dict[str, tuple[Make, ...]]] = {
    "read": (
        lambda r: (
            f"SELECT * FROM {_table(r)} WHERE {_where(r)} ORDER BY 1 LIMIT {r.randint(1, 99)}"
        ),
        lambda r: f"SELECT count(*), max(created_at) FROM {_table(r)} GROUP BY {word(r)}",
        lambda r: (
            f"SELECT a.id, b.name FROM {_table(r)} a JOIN {_table(r)} b ON a.id = b.{word(r)}_id "
            f"WHERE a.{_where(r)}"
        ),
        lambda r: f"WITH x AS (SELECT id FROM {_table(r)}) SELECT avg(id) FROM x",
        lambda r: f"SELECT 'DROP TABLE {word(r)}' AS note FROM {_table(r)}",
        lambda r: (
            f"SELECT upper(name), coalesce(total, 0) FROM {_table(r)} WHERE deleted_at IS NULL"
        ),
        lambda r: f"SELECT row_number() OVER (PARTITION BY {word(r)} ORDER BY id) FROM {_table(r)}",
    ),
    "write": (
        lambda r: f"INSERT INTO {_table(r)} (id, name) VALUES ({r.randint(1, 999)}, '{name(r)}')",
        lambda r: f"UPDATE {_table(r)} SET name = '{name(r)}' WHERE {_where(r)}",
        lambda r: f"DELETE FROM {_table(r)} WHERE {_where(r)}",
    ),
    "write_unbounded": (
        lambda r: f"DELETE FROM {_table(r)}{_all(r)}",
        lambda r: f"UPDATE {_table(r)} SET {word(r)} = {r.randint(0, 9)}{_all(r)}",
        lambda r: f"DELETE FROM {(name := word(r))} WHERE id IN (SELECT id FROM {name})",
        lambda r: (
            f"WITH d AS (DELETE FROM {_table(r)}{_all(r)} RETURNING id) SELECT count(*) FROM d"
        ),
    ),
    "destructive": (
        lambda r: f"SELECT {word(r)}_id, {r.choice(KEYS)} FROM {_table(r)}",
        lambda r: (
            f"SELECT * FROM {r.choice(('pg_shadow', 'mysql.user', 'sys.sql_logins', 'pg_authid'))}"
        ),
        lambda r: (
            f"SELECT count(*) FROM generate_series(1, {r.randint(10**9, 10**12)}) AS {word(r)}"
        ),
        lambda r: (
            f"WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL SELECT n + {r.randint(1, 9)} FROM w) "
            f"SELECT sum(n) FROM w"
        ),
        lambda r: (
            f"CREATE TRIGGER {word(r)}_t AFTER INSERT ON {word(r)} FOR EACH ROW DELETE FROM "
            f"{_table(r)}"
        ),
        lambda r: f"CREATE VIEW {word(r)}_v AS SELECT {r.choice(KEYS)} FROM {_table(r)}",
        lambda r: f"ALTER TABLE {_table(r)} SET DATA_RETENTION_TIME_IN_DAYS = 0",
        lambda r: f"VACUUM {_table(r)} RETAIN {r.randint(0, 100)} HOURS",
        lambda r: (
            f"INSERT INTO {word(r)}_roles (a, b) SELECT id, {r.randint(1, 9)} FROM {_table(r)}"
        ),
        lambda r: f"COPY {_table(r)} TO PROGRAM '{word(r)}'",
    ),
    "work": (
        lambda r: f"DELETE FROM {_table(r)} WHERE expires_at < now()",
        lambda r: (
            f"UPDATE {_table(r)} SET {word(r)} = {r.randint(1, 9)} WHERE id = {r.randint(1, 99)}"
        ),
        lambda r: (
            f"INSERT INTO {word(r)}_roles (a, b) VALUES ({r.randint(1, 9)}, {r.randint(1, 9)})"
        ),
        lambda r: f"SELECT id, password_changed_at FROM {_table(r)} WHERE {_where(r)}",
        lambda r: f"SELECT {r.choice(KEYS)} FROM {_table(r)} WHERE email = '{name(r)}@b.example'",
        lambda r: f"CREATE TABLE {word(r)}_{word(r)} (id int primary key, api_key text)",
        lambda r: f"ALTER TABLE {_table(r)} ADD COLUMN {word(r)} text",
        lambda r: (
            f"INSERT INTO {word(r)}_a (id, n) SELECT id, n FROM {word(r)}_b WHERE {_where(r)}"
        ),
        lambda r: (
            f"DELETE FROM {word(r)}_x WHERE NOT EXISTS (SELECT 1 FROM {word(r)}_y y WHERE y.x_id = "
            f"id)"
        ),
        lambda r: f"SELECT n FROM generate_series(1, {r.randint(2, 9999)}) AS n",
    ),
    "ddl": (
        lambda r: f"CREATE TABLE {_table(r)} (id int primary key, name text)",
        lambda r: f"ALTER TABLE {_table(r)} ADD COLUMN {word(r)} text",
        lambda r: f"CREATE INDEX idx_{word(r)} ON {_table(r)} (id)",
        lambda r: f"CREATE VIEW v_{word(r)} AS SELECT id FROM {_table(r)}",
    ),
    "ddl_destructive": (
        lambda r: (
            f"DROP {r.choice(('TABLE', 'VIEW', 'SCHEMA', 'DATABASE'))} "
            f"{r.choice(('', 'IF EXISTS '))}{_table(r)}"
        ),
        lambda r: f"TRUNCATE TABLE {_table(r)}",
        lambda r: f"ALTER TABLE {_table(r)} DROP COLUMN {word(r)}",
    ),
    "privilege": (
        lambda r: f"GRANT ALL ON {_table(r)} TO {word(r)}",
        lambda r: f"CREATE USER {word(r)} WITH PASSWORD '{name(r)}'",
        lambda r: f"ALTER ROLE {word(r)} SUPERUSER",
        lambda r: f"REVOKE SELECT ON {_table(r)} FROM {word(r)}",
    ),
}


def _cased(random: Random, text: str) -> str:
    return "".join([letter.upper() if random.random() < 0.5 else letter.lower() for letter in text])


WRAPPINGS: Final[dict[str, Callable[[Random, str], str]]] = {
    "plain": lambda _, text: text,
    "ended": lambda _, text: f"{text};",
    "lower": lambda _, text: text.lower(),
    "spread": lambda _, text: text.replace(" ", "\n  ", 3),
    "commented": lambda r, text: f"-- {word(r)} by {name(r)}\n{text}",
    "comment inside": lambda r, text: text.replace(" ", f" /* {word(r)} */ ", 1),
    "mixed case": _cased,
    "in a transaction": lambda _, text: f"BEGIN; {text}; COMMIT;",
    "behind a read": lambda r, text: f"SELECT {r.randint(1, 9)}; {text}",
    "explained": lambda _, text: f"EXPLAIN ANALYZE {text}",
    "prepared": lambda r, text: f"PREPARE {word(r)}x AS {text}",
    "in a block": lambda _, text: f"DO $$ BEGIN {text}; END $$",
    "executed": lambda _, text: "EXECUTE IMMEDIATE '" + text.replace("'", "''") + "'",
    "for mysql": lambda r, text: f"/*!{r.choice(('50000', '40101', '80000'))} {text} */",
}
CALM: Final = (
    "plain",
    "ended",
    "lower",
    "spread",
    "commented",
    "comment inside",
    "mixed case",
    "explained",
)
"""Wrappings in which reads come, too."""

FRAGMENTS: Final = (
    "' OR '{0}'='{0}", "' OR {2}={2} --", "{0}' UNION SELECT {1}, null FROM users --", "{2} OR 1=1",
    "'; DROP TABLE {0}; --",
    "{0}') OR ('a'='a", "{2}; UPDATE {0} SET {1}=1 --", "' AND sleep({2}) --",
    "{2} AND 1=(SELECT count(*) FROM {0})", '" OR ""="', "{0}'/**/OR/**/{2}>0#",
    "' || (SELECT password FROM {0}) || '", "{2} UNION ALL SELECT {2},{2}",
    "'; EXEC xp_cmdshell('{0}') --", "{0}' AND ASCII(SUBSTRING(user(),1,1))>{2} --",
    "1' ORDER BY {2}-- -",
)  # fmt: skip
PLAIN: Final = (
    "O'{0} & sons", "select a {0} from the list", "{0} or {1}?", "drop the {0} at table {2}",
    "it's {2} o'clock; call {0}",
    "{0} -- {1}", "union of {0} and {1}", "5 > {2} and {0} = {1}", "C# or F#: {0}",
    "#{2}: update {0} where possible", "the '{0}' column", "and/or {0}", "{0}; {1}; {2}",
    "delete {0} from cart", "1=1 on page {2}", "where is {0}?",
)  # fmt: skip
