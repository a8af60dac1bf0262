"""Connections to the database of the records, with the schema as it must be; nobody waits for one
for ever."""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from importlib import resources
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from stanchion.audit.errors import NoRecords, TrailError

# Where the database is: a URL read once, its secrets kept out of every text.

SECRET: Final = ("password", "sslpassword")
FORM: Final = (
    "write `postgresql://user:password@host:5432/database`, with `%40` for an @ in the "
    "password and so on"
)

_SAYS: Final = {
    "25006": "accepts no writes, so it is a standby: put the primary server into the URL",
    "42501": "does not let this role do that ({reason}): grant it the rights listed in "
    "docs/how-to/audit-in-postgres.md",
    "53100": "has a full disk: free some space on it",
    "53300": "accepts no more connections: raise its max_connections",
    "55P03": "has locked tables: find the session that holds the locks (pg_locks)",
    "57014": "did not answer in time: find out what slows it down",
}


class RecordsAddress:
    """A database's URL. What people read of it is its name: host, port and database."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Read a URL. What it leaves open gets Stanchion's value: the name of the application, and
        limits of time."""
        try:
            given = conninfo_to_dict(url)
            defaults = {
                "application_name": "stanchion-audit",
                "connect_timeout": str(max(2, math.ceil(timeout_s))),
                "tcp_user_timeout": str(math.ceil(timeout_s * 1000)),
                "keepalives_idle": str(math.ceil(timeout_s)),
                "keepalives_interval": str(math.ceil(timeout_s)),
                "keepalives_count": "3",
                "client_encoding": "utf8",
            }
            self.conninfo: Final = make_conninfo("", **{**defaults, **given})
        except (psycopg.Error, UnicodeError):
            # The driver's words can have a part of the password in them.
            raise TrailError(f"the URL of the PostgreSQL records cannot be read: {FORM}") from None
        self._secrets: Final = [str(given[name]) for name in SECRET if given.get(name)]
        host = given.get("hostaddr", given.get("host", "localhost"))
        self.name: Final = (
            f"{host}:{given.get('port', 5432)}/{given.get('dbname', given.get('user', ''))}"
        )

    def __repr__(self) -> str:
        return f"Address({self.name})"

    def trouble(self, error: psycopg.Error) -> str:
        """What is wrong with the server, in words: which one, what, and what to do. No word of a
        password."""
        reason = re.sub(
            r"^.*failed: |FATAL: +|^error: ", "", str(error).strip().partition("\n")[0]
        ).strip()
        if not reason or any(secret in reason for secret in self._secrets):
            reason = "no reason given"
        if error.sqlstate is not None:
            says = _SAYS.get(error.sqlstate, "failed ({reason}, code {code}): look at its log")
            said = says.format(reason=reason, code=error.sqlstate)
        elif isinstance(error, psycopg.OperationalError):
            said = (
                f"cannot be reached ({reason}): check that it is running, accepts connections "
                f"and knows this role"
            )
        else:
            said = f"could not be used ({reason}): look at its log"
        return f"the PostgreSQL server `{self.name}` {said}"


# The tables and functions of the records.

Connection = psycopg.Connection[tuple[Any, ...]]

VERSION: Final = 4
"""Of the tables and functions: records of another version are for the Stanchion that made them."""
FILES: Final = ("tables.sql", "keeping.sql", "months.sql", "incidents.sql", "experience.sql")

PATIENCE_S: Final = 30.0
"""How long whoever begins waits for another process that makes the schema."""

# Asked of the tables themselves: what is looked up by name may be older than a lock that was waited
# for.
_FOUND: Final = (
    "SELECT count(*) > 0, count(c.oid) FILTER (WHERE c.relname = 'trail_version') > 0 FROM "
    "pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid WHERE n.nspname = %s"
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' audit schema', 0))"
_VERSION: Final = sql.SQL("SELECT coalesce(max(version), 0) FROM {schema}.trail_version")
_NOTE: Final = sql.SQL("INSERT INTO {schema}.trail_version (version) VALUES (%s)")
_TABLE: Final = sql.SQL(
    "CREATE TABLE {schema}.trail_version (version integer PRIMARY KEY, at timestamptz NOT NULL "
    "DEFAULT now())"
)


class RecordsSchema:
    """A schema of a database, seen through one connection. `where` names both for people."""

    def __init__(self, db: Connection, name: str, server: str) -> None:
        self._db: Final = db
        self._name: Final = name
        self._own: Final = sql.Identifier(name)
        self._where: Final = f"the schema `{name}` on `{server}`"

    def make(self) -> None:
        """Make the schema where there is none, once however many begin to; `TrailError` where it is
        of another version, or this role may not."""
        try:
            if not self.is_there():
                with self._db.transaction():
                    self._make()
        except errors.InsufficientPrivilege as error:
            raise TrailError(
                f"this role may not create or use {self._where} ({error.diag.message_primary}): "
                "grant it CREATE on the database, or have an owner create the schema and grant "
                "this role the rights listed in docs/how-to/audit-in-postgres.md"
            ) from None

    def check(self) -> None:
        """Make sure that there are records to read, of this version; `TrailError` where there are
        not."""
        if not self.is_there():
            raise NoRecords(
                f"{self._where} holds no records: give the schema that a trail was shipped to"
            )

    def is_there(self) -> bool:
        """Whether it holds records; `TrailError` where they are of another version."""
        _, ours = one(self._db.execute(_FOUND, (self._name,)))
        if not ours:
            return False
        version = one(self._db.execute(_VERSION.format(schema=self._own)))[0]
        if version != VERSION:
            raise TrailError(
                f"{self._where} was created by another Stanchion (version {version}, this one "
                f"reads {VERSION}): use another schema, and read that one with the Stanchion that "
                f"wrote it"
            )
        return True

    def _make(self) -> None:
        # Whoever waits for the lock must see what the one before it has done.
        self._db.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self._db.execute(
            sql.SQL("SET LOCAL statement_timeout = {}").format(sql.Literal(int(PATIENCE_S * 1000)))
        )
        self._db.execute(_LOCK, (self._name,))
        if self.is_there():
            return
        if not one(self._db.execute(_FOUND, (self._name,)))[0]:
            self._db.execute(sql.SQL("CREATE SCHEMA {}").format(self._own))
        self._db.execute(_TABLE.format(schema=self._own))
        for file in FILES:
            self._db.execute(statements(self._name, file))
        self._db.execute(_NOTE.format(schema=self._own), (VERSION,))


def statements(schema: str, file: str) -> sql.Composed:
    """The statements of a file, for a schema."""
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    return sql.SQL(text).format(schema=sql.Identifier(schema), name=sql.Literal(schema))


def checked(schema: str) -> str:
    """The name of a schema; `TrailError` where it would have to be quoted."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise TrailError(
            f"the schema `{schema}` cannot be used: use at most 63 characters (a-z, 0-9 and _), "
            "and do not begin with pg_"
        )
    return schema


def one(cursor: psycopg.Cursor[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The row of a statement that gives one."""
    row = cursor.fetchone()
    assert row is not None
    return row


OLDEST: Final = 140_000
"""The oldest PostgreSQL that the functions are written for: 14."""

GRACE: Final = 1.5
"""How much longer than the server we wait for its answer, so that it can still say that it gives
up."""

_SETTINGS: Final[dict[str, Any]] = {
    "search_path": "pg_catalog",
    "default_transaction_isolation": "read committed",
    "timezone": "UTC",
    "jit": "off",
}


class Limited(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is closed where the server has not answered in time, however silent it
    is."""

    limit_s = float("inf")

    def wait(self, gen: Any, *args: Any, **more: Any) -> Any:
        """Go through with an exchange; `OperationalError` where it takes too long."""
        try:
            return super().wait(_until(gen, monotonic() + self.limit_s), *args, **more)
        except _Late:
            self.close()
            raise psycopg.OperationalError(f"no answer within {self.limit_s:g} s") from None


class _Late(Exception):
    pass


def _until(gen: Generator[Any, Any, Any], until: float) -> Generator[Any, Any, Any]:
    """An exchange that is given up at some time: the driver asks now and then, with nothing,
    whether it goes on."""
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready and monotonic() >= until:
                raise _Late
            state = gen.send(ready)
    except StopIteration as stop:
        return stop.value


def connected(
    address: RecordsAddress, schema: str, timeout_s: float, reading: bool = False
) -> Connection:
    """A connection, every statement a transaction of its own. The schema is made, unless it is
    only to be read; `TrailError` where it is not to be used."""
    db = Limited.connect(address.conninfo, autocommit=True, prepare_threshold=None)
    try:
        version, encoding = db.info.server_version, db.info.parameter_status("server_encoding")
        if version < OLDEST or encoding != "UTF8":
            raise TrailError(
                f"the PostgreSQL server `{address.name}` has version {version // 10_000} and a "
                f"database in {encoding}: "
                f"use version {OLDEST // 10_000} or later with a UTF8 database"
            )
        made = RecordsSchema(db, schema, address.name)
        if reading:
            _set(db, 0)
            made.check()
        else:
            db.limit_s = GRACE * max(timeout_s, PATIENCE_S)
            _set(db, timeout_s)
            made.make()
            db.limit_s = GRACE * timeout_s
    except BaseException:
        db.close()
        raise
    return db


def _set(db: Connection, limit_s: float) -> None:
    """Make settings. One that hangs in the middle of a batch would keep its chain from everybody
    else."""
    limit = int(limit_s * 1000)
    settings = {
        **_SETTINGS,
        "statement_timeout": limit,
        "idle_in_transaction_session_timeout": limit,
    }
    made = [
        sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(to))
        for name, to in settings.items()
    ]
    db.execute(sql.SQL("; ").join(made))
