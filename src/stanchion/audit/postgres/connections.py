"""Connections to the database of the records, with the schema as it must be; nobody waits for one
for ever."""

from __future__ import annotations

from collections.abc import Generator
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import sql

from stanchion.audit.errors import TrailError
from stanchion.audit.postgres.address import Address
from stanchion.audit.postgres.schema import PATIENCE_S, Connection, Schema

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


def connected(address: Address, schema: str, timeout_s: float, reading: bool = False) -> Connection:
    """A connection, every statement a transaction of its own. The schema is brought up to date,
    unless it is only to be read; `TrailError` where it is not to be used."""
    db = Limited.connect(address.conninfo, autocommit=True, prepare_threshold=None)
    try:
        version, encoding = db.info.server_version, db.info.parameter_status("server_encoding")
        if version < OLDEST or encoding != "UTF8":
            raise TrailError(
                f"the PostgreSQL server `{address.name}` has version {version // 10_000} and a "
                f"database in {encoding}: "
                f"use version {OLDEST // 10_000} or later with a UTF8 database"
            )
        made = Schema(db, schema, address.name)
        if reading:
            _set(db, 0)
            made.check()
        else:
            db.limit_s = GRACE * max(timeout_s, PATIENCE_S)
            _set(db, timeout_s)
            made.bring_up_to_date()
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
