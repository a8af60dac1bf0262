"""What is wrong with a server, in words: which one, what, and what to do. No word of a password."""

from __future__ import annotations

import re
from typing import Final

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
        f"running and can "
        "be reached"
    )


def unreached(server: str, reason: str) -> str:
    """What to say where there is no connection."""
    return (
        f"the PostgreSQL server `{server}` cannot be reached ({reason}): check that it is running "
        f"and accepts "
        "connections"
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
