"""A store in one SQLite file, for many threads and several processes of one host."""

from stanchion.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
