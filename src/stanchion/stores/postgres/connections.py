"""Making connections that are ready for batches: settings made, the schema up to date, the
functions prepared."""

from __future__ import annotations

import re
from importlib import resources
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import sql

from stanchion.kernel.state import StoreLost
from stanchion.stores.postgres.address import (
    STANDBY,
    PostgresAddress,
    explain,
    explain_refusal,
    late,
    unreached,
)
from stanchion.stores.postgres.connection import BrokenLink, Complaint, Late, PostgresLink
from stanchion.stores.postgres.request import TEXT, read_number
from stanchion.stores.protocol import StoreError

# The tables and functions of a store, and how a schema of an earlier version becomes one of this
# version.

Migration = tuple[str, ...]

MIGRATIONS: Final[tuple[Migration, ...]] = (
    ("tables.sql", "carry.sql", "sweep.sql"),
    ("carry.sql",),
)
"""Migrations in order, each the files whose statements it is made of; they run in one transaction.
A function that changes after a release needs another migration, which runs its file again."""

PATIENCE_S: Final = 30.0
"""How long whoever opens a store waits for another process that brings its schema up to date."""

_FOUND: Final = b"""
SELECT count(*) > 0, count(c.oid) > 0, count(c.oid) FILTER (WHERE c.relname = 'stanchion_version') > 0
FROM pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid WHERE n.nspname = $1
"""  # noqa: E501
_LOCK: Final = b"SELECT pg_advisory_xact_lock(hashtextextended('stanchion ' || $1, 0))"
_MAY_READ: Final = b"""
SELECT bool_and(has_table_privilege($1 || '.' || own, 'SELECT')) AND has_sequence_privilege($1 || '.clock', 'SELECT')
FROM unnest(ARRAY['cell', 'batch', 'permit']) AS own
"""  # noqa: E501
_MAY_WRITE: Final = b"""
SELECT bool_and(has_table_privilege($1 || '.' || own, needed)) AND has_sequence_privilege($1 || '.clock', 'UPDATE')
FROM unnest(ARRAY['cell', 'batch', 'permit']) AS own, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS needed
"""  # noqa: E501
_VERSION: Final = sql.SQL(
    "SELECT coalesce(max(version), 0)::bigint FROM {schema}.stanchion_version"
)
_NOTE: Final = sql.SQL("INSERT INTO {schema}.stanchion_version (version) VALUES ({version})")
_TABLE: Final = sql.SQL(
    "CREATE TABLE {schema}.stanchion_version (version integer PRIMARY KEY, at timestamptz NOT NULL "
    "DEFAULT now())"
)


def checked(schema: str) -> str:
    """The name of a schema; `StoreError` where it would have to be quoted."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise StoreError(
            f"the schema `{schema}` cannot be used: use at most 63 characters (a-z, 0-9 and _), "
            "and do not begin with pg_"
        )
    return schema


def statements(schema: str, file: str) -> str:
    """The statements of a file, for a schema."""
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    return sql.SQL(text).format(schema=sql.Identifier(schema)).as_string(None)


class StoreSchema:
    """A schema, seen through one connection."""

    def __init__(
        self,
        link: PostgresLink,
        name: str,
        server: str,
        migrations: tuple[Migration, ...] = MIGRATIONS,
    ) -> None:
        self._link: Final = link
        self._name: Final = name
        self._own: Final = sql.Identifier(name)
        self._where: Final = f"the schema `{name}` on `{server}`"
        self._migrations: Final = migrations
        self._until: Final = monotonic() + PATIENCE_S

    def bring_up_to_date(self) -> None:
        """Make the schema where there is none, and take it to this version, once however many
        processes begin to.

        `StoreError` where it is newer than we know, not ours, or this role may not.
        """
        try:
            if self.version() < len(self._migrations):
                self._migrate()
            if self._ask(_MAY_READ) != [b"\1"] or self._ask(_MAY_WRITE) != [b"\1"]:
                says = (
                    f"this role may not write {self._where}: grant it all rights on its tables "
                    f"and sequences"
                )
                raise StoreError(says)
        except Complaint as complaint:
            if complaint.code != "42501":
                raise
            raise StoreError(
                f"this role may not create or use {self._where} ({complaint.words}): grant it "
                "CREATE on the database, or have an owner open the store once and grant this role "
                "rights on the schema, its tables and its sequence"
            ) from None

    def check(self) -> None:
        """Make sure that the schema can be read as it is."""
        version = self.version()
        if version == 0:
            raise StoreError(f"{self._where} does not exist: give the schema of a store")
        if version < len(self._migrations):
            raise StoreError(
                f"{self._where} was created by an earlier Stanchion (version {version}, this one "
                f"reads {len(self._migrations)}): open it for writing once, which brings it up to "
                f"date"
            )
        if self._ask(_MAY_READ) != [b"\1"]:
            raise StoreError(
                f"this role may not read {self._where}: grant it SELECT on its tables and sequences"
            )

    def version(self) -> int:
        """Its version, 0 where there is none; `StoreError` where it is newer than we know, or not
        ours."""
        _, used, ours = self._ask(_FOUND)
        if ours != b"\1":
            if used == b"\1":
                raise StoreError(
                    f"{self._where} has tables that are not Stanchion's: use another schema"
                )
            return 0
        answer = self._link.wait(
            self._link.ask(_sent(_VERSION.format(schema=self._own)), [], []), self._until
        )
        version = read_number(answer.get_value(0, 0) or b"")
        if version > len(self._migrations):
            raise StoreError(
                f"{self._where} was created by a newer Stanchion (version {version}, this one "
                f"knows {len(self._migrations)}): upgrade Stanchion, or use another schema"
            )
        return version

    def _migrate(self) -> None:
        patience = sql.Literal(int(PATIENCE_S * 1000))
        self._run(sql.SQL("BEGIN; SET LOCAL statement_timeout = {}").format(patience))
        self._ask(_LOCK)
        version = self.version()
        if version == 0:
            if self._ask(_FOUND)[0] != b"\1":
                self._run(sql.SQL("CREATE SCHEMA {}").format(self._own))
            self._run(_TABLE.format(schema=self._own))
        for number in range(version, len(self._migrations)):
            for file in self._migrations[number]:
                self._link.wait(self._link.run(statements(self._name, file).encode()), self._until)
            self._run(_NOTE.format(schema=self._own, version=sql.Literal(number + 1)))
        self._run(sql.SQL("COMMIT"))

    def _ask(self, question: bytes) -> list[bytes | None]:
        answer = self._link.wait(
            self._link.ask(question, [self._name.encode()], [TEXT]), self._until
        )
        return [answer.get_value(0, column) for column in range(answer.nfields)]

    def _run(self, said: sql.Composable) -> None:
        self._link.wait(self._link.run(_sent(said)), self._until)


def _sent(said: sql.Composable) -> bytes:
    return said.as_string(None).encode()


CARRY: Final = b"carry"
SWEEP: Final = b"sweep"

SHARE: Final = 0.9
"""How much of the time for a batch the server has before it gives up by itself, so that it can
still say so."""

OLDEST: Final = 140_000
"""The oldest PostgreSQL that the functions are written for: 14."""

_SETTINGS: Final = {
    "default_transaction_isolation": "read committed",
    "search_path": "pg_catalog",
    # Every statement finds its rows by a key, whatever the planner thinks of tables that were empty
    # a minute ago.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_PREPARED: Final = {
    CARRY: sql.SQL("SELECT {schema}.carry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"),
    SWEEP: sql.SQL("SELECT {schema}.sweep($1, $2, $3, $4)"),
}


class Connecting:
    """Makes connections. The first one finds out whether the schema is as it must be, or makes it
    so."""

    def __init__(
        self, address: PostgresAddress, schema: str, timeout_s: float, reading: bool
    ) -> None:
        self._address: Final = address
        self._schema: Final = schema
        self._timeout_s: Final = timeout_s
        self._reading: Final = reading
        self._ready = False

    def __call__(self) -> PostgresLink:
        """A connection; `StoreLost` where there is none to be had, `StoreError` where the schema is
        not to be used."""
        link = PostgresLink(self._connected())
        try:
            self._prepare(link)
        except (BrokenLink, Late, Complaint) as trouble:
            link.close()
            raise StoreLost(words_for(trouble, self._address, self._timeout_s)) from None
        except BaseException:
            link.close()
            raise
        return link

    def _connected(self) -> psycopg.Connection[Any]:
        try:
            connection = psycopg.connect(self._address.conninfo, autocommit=True)
        except psycopg.Error as error:
            raise StoreLost(
                explain_refusal(self._address.reason(str(error)), self._address.name)
            ) from None
        version, encoding = (
            connection.info.server_version,
            connection.info.parameter_status("server_encoding"),
        )
        if version < OLDEST or encoding != "UTF8":
            connection.close()
            raise StoreError(
                f"the PostgreSQL server `{self._address.name}` has version {version // 10_000} and "
                f"a database in {encoding}: use version {OLDEST // 10_000} or later with a UTF8 "
                f"database"
            )
        return connection

    def _prepare(self, link: PostgresLink) -> None:
        until = monotonic() + self._timeout_s
        settings = {
            **_SETTINGS,
            "statement_timeout": str(max(1, int(self._timeout_s * SHARE * 1000))),
        }
        if self._reading:
            settings["default_transaction_read_only"] = "on"
        made = [
            sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(to))
            for name, to in settings.items()
        ]
        link.wait(link.run(sql.SQL("; ").join(made).as_string(None).encode()), until)
        if not self._ready:
            schema = StoreSchema(link, self._schema, self._address.name)
            if self._reading:
                schema.check()
            else:
                schema.bring_up_to_date()
            self._ready = True
            until = monotonic() + self._timeout_s
        for name, said in _PREPARED.items():
            if not self._reading:
                own = said.format(schema=sql.Identifier(self._schema))
                link.wait(link.prepare(name, own.as_string(None).encode()), until)


def words_for(
    trouble: BrokenLink | Late | Complaint, address: PostgresAddress, timeout_s: float
) -> str:
    """What went wrong on a connection, for people."""
    if isinstance(trouble, Late):
        return late(address.name, timeout_s)
    if isinstance(trouble, BrokenLink) and trouble.code != STANDBY:
        return unreached(address.name, address.reason(str(trouble)))
    return explain(trouble.code, address.reason(trouble.args[-1]), address.name, timeout_s * SHARE)
