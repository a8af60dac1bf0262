"""The tables and functions of the records, and how a schema of an earlier version becomes one of
this version."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, Final

import psycopg
from psycopg import errors, sql

from stanchion.audit.errors import NoRecords, TrailError

Connection = psycopg.Connection[tuple[Any, ...]]
Migration = tuple[str, ...]

MIGRATIONS: Final[tuple[Migration, ...]] = (
    ("tables.sql", "keeping.sql", "months.sql", "incidents.sql"),
    ("macs.sql",),
    ("erasing.sql",),
    ("experience.sql",),
)
"""Migrations in order, each the files whose statements it is made of. They run in one
transaction."""

PATIENCE_S: Final = 30.0
"""How long whoever begins waits for another process that brings the schema up to date."""

# Asked of the tables themselves: what is looked up by name may be older than a lock that was waited
# for.
_FOUND: Final = (
    "SELECT count(*) > 0, count(c.oid) FILTER (WHERE c.relname = 'trail_version') > 0 "
    "FROM pg_namespace AS n "
    "LEFT JOIN pg_class AS c ON c.relnamespace = n.oid WHERE n.nspname = %s"
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' audit schema', 0))"
_VERSION: Final = sql.SQL("SELECT coalesce(max(version), 0) FROM {schema}.trail_version")
_NOTE: Final = sql.SQL("INSERT INTO {schema}.trail_version (version) VALUES (%s)")
_TABLE: Final = sql.SQL(
    "CREATE TABLE {schema}.trail_version (version integer PRIMARY KEY, at timestamptz NOT NULL "
    "DEFAULT now())"
)


class Schema:
    """A schema of a database, seen through one connection. `where` names both for people."""

    def __init__(
        self, db: Connection, name: str, server: str, migrations: tuple[Migration, ...] = MIGRATIONS
    ) -> None:
        self._db: Final = db
        self._name: Final = name
        self._own: Final = sql.Identifier(name)
        self._where: Final = f"the schema `{name}` on `{server}`"
        self._migrations: Final = migrations

    def bring_up_to_date(self) -> None:
        """Make the schema where there is none, and take it to this version, once however many begin
        to.

        `TrailError` where it is newer than we know, or this role may not.
        """
        try:
            if self.version() < len(self._migrations):
                with self._db.transaction():
                    self._migrate()
        except errors.InsufficientPrivilege as error:
            raise TrailError(
                f"this role may not create or use {self._where} ({error.diag.message_primary}): "
                f"grant it CREATE on the "
                "database, or have an owner create the schema and grant this role the rights "
                "listed in "
                "docs/how-to/audit-in-postgres.md"
            ) from None

    def check(self) -> None:
        """Make sure that there are records to read, of this version; `TrailError` where there are
        not."""
        version = self.version()
        if version == 0:
            raise NoRecords(
                f"{self._where} holds no records: give the schema that a trail was shipped to"
            )
        if version < len(self._migrations):
            raise TrailError(
                f"{self._where} was created by an earlier Stanchion (version {version}, this one "
                f"reads {len(self._migrations)}): ship a trail to it once, which brings it up to "
                f"date"
            )

    def version(self) -> int:
        """Its version, 0 where there is none; `TrailError` where it is newer than we know."""
        _, ours = one(self._db.execute(_FOUND, (self._name,)))
        if not ours:
            return 0
        version = int(one(self._db.execute(_VERSION.format(schema=self._own)))[0])
        if version > len(self._migrations):
            raise TrailError(
                f"{self._where} was created by a newer Stanchion (version {version}, this one "
                f"knows {len(self._migrations)}): upgrade Stanchion, or use another schema"
            )
        return version

    def _migrate(self) -> None:
        # Whoever waits for the lock must see what the one before it has done.
        self._db.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self._db.execute(
            sql.SQL("SET LOCAL statement_timeout = {}").format(sql.Literal(int(PATIENCE_S * 1000)))
        )
        self._db.execute(_LOCK, (self._name,))
        version = self.version()
        if version == 0:
            if not one(self._db.execute(_FOUND, (self._name,)))[0]:
                self._db.execute(sql.SQL("CREATE SCHEMA {}").format(self._own))
            self._db.execute(_TABLE.format(schema=self._own))
        for number in range(version, len(self._migrations)):
            for file in self._migrations[number]:
                self._db.execute(statements(self._name, file))
            self._db.execute(_NOTE.format(schema=self._own), (number + 1,))


def statements(schema: str, file: str) -> sql.Composed:
    """The statements of a file, for a schema."""
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    return sql.SQL(text).format(schema=sql.Identifier(schema), name=sql.Literal(schema))


def checked(schema: str) -> str:
    """The name of a schema; `TrailError` where it would have to be quoted."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise TrailError(
            f"the schema `{schema}` cannot be used: use at most 63 characters (a-z, 0-9 and _), "
            f"and do not begin "
            "with pg_"
        )
    return schema


def one(cursor: psycopg.Cursor[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The row of a statement that gives one."""
    row = cursor.fetchone()
    assert row is not None
    return row
