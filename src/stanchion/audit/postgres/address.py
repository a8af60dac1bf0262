"""Where the database is: a URL read once, its secrets kept out of every text."""

from __future__ import annotations

import math
import re
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from stanchion.audit.errors import TrailError

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


class Address:
    """A database's URL. What people read of it is its name: host, port and database."""

    __slots__ = ("_secrets", "conninfo", "name")

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
