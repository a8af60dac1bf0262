"""How records are shipped, and how far that has come."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from stanchion.audit.errors import TrailError

SCHEMA: Final = "stanchion_audit"


class Shipping(msgspec.Struct, frozen=True, kw_only=True):
    """How records are shipped. The defaults are good.

    New records go after `ship_ms`, `batch_bytes` of them in a transaction. Chains that others write
    are left to them for `others_s`, and a checkpoint waits `patience_s` at most for the records of
    theirs that it names. The server has `timeout_s` for an answer; after trouble it is tried again,
    at least every `again_s`. Who closes a trail waits `close_s` at most. The tables are seen to
    every `tidy_s`: retired rows leave `portion` at a time, and incidents after `incident_days`.
    """

    schema: str = SCHEMA
    timeout_s: float = 10.0
    ship_ms: float = 200.0
    others_s: float = 5.0
    patience_s: float = 30.0
    again_s: float = 30.0
    close_s: float = 5.0
    tidy_s: float = 60.0
    batch_bytes: int = 512 * 1024
    portion: int = 1_000
    incident_days: float | None = None


class Lag(NamedTuple):
    """How far the database is behind the folder: records before the heads, and bytes of all of
    them."""

    records: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.records} records ({self.bytes} bytes) behind"


USUAL: Final = Shipping()


# The driver, which is imported only where it is used.


def check_driver() -> None:
    """Make sure that psycopg can be imported; `TrailError` says what to install."""
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError as error:
        raise TrailError(
            f"records in PostgreSQL need psycopg ({error}): install the extra `postgres`"
        ) from error
