"""Opening a store by its name: `memory:`, the path of a file, or a URL that says where a server
is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.stores.memory import MemoryStore, wall_ms
from stanchion.stores.protocol import Store, StoreError

_SCHEME: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
"""Two letters at least: one letter before a colon is a drive."""

KNOWN: Final = (
    "`memory:`, `sqlite:/absolute/path`, `postgresql://…`, `redis://…`, or the path of a file"
)


POSTGRES: Final = frozenset({"postgresql", "postgres"})
REDIS: Final = frozenset({"redis", "rediss", "valkey", "valkeys", "unix"})


def open_store(url: str, clock: Callable[[], int] = wall_ms, *, reading: bool = False) -> Store:
    """The store with that name, which reads its time from `clock`; `StoreError` where it cannot be
    opened.

    With `reading` it is for looking only, and nothing is made where nothing is. A server is shared
    by many processes, so each spends the counters of the whole fleet by leases.
    """
    path = file_of(url)
    if path is not None:
        from stanchion.stores.sqlite import SqliteStore

        return SqliteStore(path, clock, reading=reading)
    if url.lower() == "memory:":
        return MemoryStore(clock)
    scheme = _scheme(url)
    if scheme in POSTGRES:
        from stanchion.stores.postgres import PostgresStore

        postgres = PostgresStore(url, clock=None if clock is wall_ms else clock, reading=reading)
        return postgres if reading else _leasing(postgres)
    if scheme in REDIS:
        from stanchion.stores.redis import RedisStore

        redis = RedisStore(url, clock=None if clock is wall_ms else clock)
        return redis if reading else _leasing(redis)
    # A URL may hold a password: only what kind it is gets into the message.
    raise StoreError(f"`{scheme}:` is not a kind of store: give {KNOWN}")


def _leasing(store: Store) -> Store:
    from stanchion.stores.leasing import LeasingStore

    return LeasingStore(store)


def address_of(url: str) -> str:
    """Where the URL of a server leads, without what may be secret in it; its kind alone where that
    cannot be told."""
    scheme = _scheme(url)
    try:
        if scheme in POSTGRES:
            from stanchion.stores.postgres.address import PostgresAddress

            return f"postgresql://{PostgresAddress(url, 1.0).name}"
        from stanchion.stores.redis.address import parse

        return parse(url).name
    except (StoreError, ImportError):
        return f"{scheme}://…"


def is_server(url: str) -> bool:
    """Whether a store's name means a server, which many programs share."""
    return _SCHEME.fullmatch(url) is not None and _scheme(url) in POSTGRES | REDIS


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()


def file_of(url: str) -> str | None:
    """The file that a store's name means; `None` where it means something else."""
    if not url:
        raise StoreError(f"the name of the store is empty: give {KNOWN}")
    named = _SCHEME.fullmatch(url)
    if named is None:
        return url
    return _path(url, named[2]) if named[1].lower() == "sqlite" else None


def _path(url: str, rest: str) -> str:
    """The path in a URL: `/path`, or `///path` with an empty host."""
    from urllib.parse import unquote

    path = unquote(rest[2:] if rest.startswith("///") else rest)
    if path.startswith("//") or not Path(path).is_absolute():
        raise StoreError(
            f"the store `{url}` does not have an absolute path: write `sqlite:/absolute/path`"
        )
    return path
