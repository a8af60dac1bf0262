"""The driver, which is imported only where it is used."""

from __future__ import annotations

from stanchion.audit.errors import TrailError


def check_driver() -> None:
    """Make sure that psycopg can be imported; `TrailError` says what to install."""
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError as error:
        raise TrailError(
            f"records in PostgreSQL need psycopg ({error}): install the extra `postgres`"
        ) from error
