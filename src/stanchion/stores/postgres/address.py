"""Where the server is: a URL read once, its secrets kept out of every text."""

from __future__ import annotations

import math
import re
from typing import Final
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from stanchion.stores.protocol import StoreError

# What is wrong with a server, in words: which one, what, and what to do. No word of a password.

AGAIN: Final = frozenset({"ST001", "23505", "40001", "40P01"})
"""Codes of what passes when the same batch is sent again: another one came between."""

STANDBY: Final = "25006"
GONE: Final = frozenset({"57P01", "57P02", "57P03", "57P05", STANDBY})
"""Codes of what ends a connection: the server goes, comes, or is no longer the one that writes."""

_SAYS: Final = {
    "57014": "did not carry out the batch within {limit_s:g} s: find the session that holds the "
    "locks (pg_locks), "
    "or try again",
    STANDBY: "accepts no writes, so it is a standby: put the primary server into the URL",
    "42501": (
        "does not let this role do that ({reason}): grant it the rights on the schema, its "
        "tables and functions"
    ),
    "53100": "has a full disk: free some space on it",
    "53200": "has no memory left ({reason}): check its memory and its max_locks_per_transaction",
    "53300": (
        "accepts no more connections: raise its max_connections, or open stores with a smaller pool"
    ),
    "28P01": "does not accept this password: correct it in the URL, or in the password file",
    "28000": (
        "does not let this role log in ({reason}): correct the role in the URL, or the "
        "server's pg_hba.conf"
    ),
    "3D000": "has no such database: create it, or put another one into the URL",
    "ST002": (
        "is behind a connection pooler that changes settings ({reason}): set the pooler to "
        "session pooling"
    ),
}
_REFUSALS: Final = {
    r"password authentication failed|no password supplied": "28P01",
    r"pg_hba.conf|role .* does not exist|authentication failed": "28000",
    r"database .* does not exist": "3D000",
    r"too many clients|remaining connection slots|too many connections": "53300",
}
"""What a server says when it lets nobody in, and the code that it does not say."""

_CHANGED: Final = frozenset({"3F000", "42P01", "42703", "42883", "26000"})
_UNWRITABLE: Final = frozenset({"22003", "22021", "22P05", "54000"})


def explain(code: str, reason: str, server: str, limit_s: float) -> str:
    """What the server complained of, and what to do about it."""
    if code in _CHANGED:
        says = "no longer has the tables that this store was opened with ({reason}): open it again"
    elif code in _UNWRITABLE:
        says = (
            "cannot store the values of the batch ({reason}): use other names, or smaller amounts"
        )
    else:
        says = _SAYS.get(code, "failed ({reason}, code {code}): look at its log")
    return f"the PostgreSQL server `{server}` " + says.format(
        reason=reason, code=code, limit_s=limit_s
    )


def explain_refusal(reason: str, server: str) -> str:
    """Why there is no connection, and what to do about it."""
    for words, code in _REFUSALS.items():
        if re.search(words, reason):
            return explain(code, reason, server, 0)
    return unreached(server, reason)


def late(server: str, limit_s: float) -> str:
    """What to say where no answer came in time."""
    return (
        f"the PostgreSQL server `{server}` did not answer within {limit_s:g} s: check that it is "
        "running and can be reached"
    )


def unreached(server: str, reason: str) -> str:
    """What to say where there is no connection."""
    return (
        f"the PostgreSQL server `{server}` cannot be reached ({reason}): check that it is running "
        "and accepts connections"
    )


def busy(server: str, limit_s: float) -> str:
    """What to say where there are connections, and the server gives no further one in time."""
    return (
        f"the PostgreSQL server `{server}` gave no further connection within {limit_s:g} s: raise "
        f"its max_connections, "
        "open the store with a smaller pool_size, or find out what slows the server down"
    )


def closed(server: str) -> str:
    """What to say after the store was closed."""
    return f"the store on the PostgreSQL server `{server}` was closed: open it again"


def brief(text: str) -> str:
    """The part of a driver's message that says why, in one line."""
    first = text.strip().partition("\n")[0]
    return re.sub(r"^.*failed: |FATAL: +|^error: ", "", first).strip()


SECRET: Final = ("password", "sslpassword")
FORM: Final = (
    "write `postgresql://user:password@host:5432/database`, with `%40` for an @ in the "
    "password and so on"
)


class Address:
    """A server's URL. What people read of it is its name: host, port and database."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Read a URL. What it leaves open gets Stanchion's value: the name of the application, and
        limits of time."""
        try:
            given = {name: str(value) for name, value in conninfo_to_dict(url).items()}
            defaults = {
                "application_name": "stanchion",
                "connect_timeout": str(max(2, math.ceil(timeout_s))),
                "tcp_user_timeout": str(math.ceil(timeout_s * 1000)),
                "client_encoding": "utf8",
            }
            self.conninfo: Final = make_conninfo("", **{**defaults, **given})
            """Everything the driver needs, secrets included."""
        except (psycopg.Error, UnicodeError):
            # The driver's words can have a part of the password in them.
            raise StoreError(
                f"the URL of the PostgreSQL store cannot be read{_unknown(url)}: {FORM}"
            ) from None
        host, port = (
            given.get("hostaddr", given.get("host", "localhost")),
            given.get("port", "5432"),
        )
        database = given.get("dbname", given.get("user", ""))
        # A password that was not encoded ends up in these.
        if not re.fullmatch(r"[0-9,]*", port) or "@" in host + database:
            raise StoreError(f"the URL of the PostgreSQL store cannot be read: {FORM}")
        self._secrets: Final = [given[name] for name in SECRET if given.get(name)]
        self._public: Final = [host, database, given.get("user", "")]
        self.name: Final = f"{host}:{port}/{database}"

    def __repr__(self) -> str:
        return f"Address({self.name})"

    def reason(self, said: str) -> str:
        """Why something failed, in the words of the driver or the server; nothing of them where a
        secret is there."""
        text = rest = brief(said)
        for public in self._public:
            rest = rest.replace(f'"{public}"', "")
        return (
            "no reason given"
            if not text or any(secret in rest for secret in self._secrets)
            else text
        )


def _unknown(url: str) -> str:
    """The first option in a URL that there is none of, where it certainly is one and no part of a
    password."""
    before, _, query = url.partition("?")
    if "@" in query or not re.match(r"postgres(ql)?://", before):
        return ""
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()} | {"ssl"}
    unknown = [name for name, _ in parse_qsl(query, keep_blank_values=True) if name not in known]
    return f", there is no option `{unknown[0]}`" if unknown else ""
