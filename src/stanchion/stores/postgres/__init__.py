"""A store in one schema of a PostgreSQL database, for any number of processes on any number of
hosts."""

from stanchion.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
