"""Where the server is: a URL read once, its secrets kept out of every text."""

from __future__ import annotations

import math
import re
from typing import Final
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from stanchion.stores.postgres.troubles import brief
from stanchion.stores.protocol import StoreError

SECRET: Final = ("password", "sslpassword")
FORM: Final = (
    "write `postgresql://user:password@host:5432/database`, with `%40` for an @ in the "
    "password and so on"
)


class Address:
    """A server's URL. What people read of it is its name: host, port and database."""

    __slots__ = ("_public", "_secrets", "conninfo", "name")

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
