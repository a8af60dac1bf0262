"""Making connections that are ready for batches: settings made, the schema up to date, the
functions prepared."""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import sql

from stanchion.kernel.state import StoreLost
from stanchion.stores.postgres.address import Address
from stanchion.stores.postgres.link import Broken, Complaint, Late, Link
from stanchion.stores.postgres.schema import Schema
from stanchion.stores.postgres.troubles import STANDBY, explain, explain_refusal, late, unreached
from stanchion.stores.protocol import StoreError

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

    def __init__(self, address: Address, schema: str, timeout_s: float, reading: bool) -> None:
        self._address: Final = address
        self._schema: Final = schema
        self._timeout_s: Final = timeout_s
        self._reading: Final = reading
        self._ready = False

    def __call__(self) -> Link:
        """A connection; `StoreLost` where there is none to be had, `StoreError` where the schema is
        not to be used."""
        link = Link(self._connected())
        try:
            self._prepare(link)
        except (Broken, Late, Complaint) as trouble:
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

    def _prepare(self, link: Link) -> None:
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
            schema = Schema(link, self._schema, self._address.name)
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


def words_for(trouble: Broken | Late | Complaint, address: Address, timeout_s: float) -> str:
    """What went wrong on a connection, for people."""
    if isinstance(trouble, Late):
        return late(address.name, timeout_s)
    if isinstance(trouble, Broken) and trouble.code != STANDBY:
        return unreached(address.name, address.reason(str(trouble)))
    return explain(trouble.code, address.reason(trouble.args[-1]), address.name, timeout_s * SHARE)
