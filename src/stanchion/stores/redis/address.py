"""Where a server is and how it is spoken to, read from a URL; its name for people has no
credentials in it."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.stores.protocol import StoreError

PLAIN: Final = ("redis", "valkey")
SECURE: Final = ("rediss", "valkeys")
LOCAL: Final = "unix"
SHAPES: Final = "`redis://host:6379/0`, `rediss://host:6379/0` or `unix:///path/of/the.sock?db=0`"
PORT: Final = 6379

UNREADABLE: Final = (
    f"the `{{scheme}}:` URL of the store cannot be read: write {SHAPES}, with `%23` for `#`, `%2F` "
    "for `/`, `%3F` for `?` and `%40` for `@` in a user's name or a password"
)

_NAME: Final = regex("[a-z_]+")
_PREFIX: Final = regex(r"[A-Za-z0-9_.]+")


class RedisAddress(msgspec.Struct, frozen=True):
    """A server, a database in it, and the settings a URL gives; `path` is that of a local
    socket."""

    name: str
    host: str = ""
    port: int = PORT
    path: str = ""
    db: int = 0
    user: str = ""
    password: str = ""
    tls: bool = False
    ca_file: str = ""
    verify: bool = True
    cert_file: str = ""
    key_file: str = ""
    prefix: str | None = None
    timeout_s: float | None = None
    wait_replicas: int | None = None
    checks_eviction: bool = True

    def __repr__(self) -> str:
        return f"Address({self.name!r})"


def parse(url: str) -> RedisAddress:
    """Read a URL; `StoreError` says what is wrong with it, without what may be secret."""
    scheme = url.split(":", 1)[0].lower()
    try:
        split = urlsplit(url)
        port = split.port
    except ValueError:
        raise StoreError(UNREADABLE.format(scheme=scheme)) from None
    if scheme not in (*PLAIN, *SECURE, LOCAL):
        raise StoreError(f"`{scheme}:` does not begin the URL of a Redis store: write {SHAPES}")
    if split.fragment:
        raise StoreError(UNREADABLE.format(scheme=scheme))
    given = _place(scheme, split, port)
    for key, text in parse_qsl(split.query, keep_blank_values=True):
        option = OPTIONS.get(key)
        if not _NAME.fullmatch(key):
            raise StoreError(UNREADABLE.format(scheme=scheme))
        if option is None:
            known = ", ".join(f"`{name}`" for name in OPTIONS)
            raise StoreError(f"`{given['name']}` has the unknown option `{key}`: use {known}")
        field, read, wants = option
        try:
            given[field] = read(text)
        except ValueError:
            raise StoreError(
                f"the option `{key}` of `{given['name']}` is `{text}`: give {wants}"
            ) from None
    if scheme == LOCAL:
        given["name"] = f"unix://{given['path']}"
    return typed.convert(given, RedisAddress)


def _place(scheme: str, split: SplitResult, port: int | None) -> dict[str, Any]:
    given: dict[str, Any] = {
        "user": unquote(split.username if split.username is not None else ""),
        "password": unquote(split.password if split.password is not None else ""),
    }
    path = unquote(split.path)
    if scheme == LOCAL:
        given |= {"path": path, "name": f"unix://{path}"}
        if not path.startswith("/") or split.hostname:
            raise StoreError(
                "the `unix:` URL of the store does not have an absolute path: write "
                "`unix:///path/of/the.sock`"
            )
        return given
    host = split.hostname if split.hostname is not None else ""
    if not host:
        raise StoreError(f"the `{scheme}:` URL of the store does not have a host: write {SHAPES}")
    shown = f"[{host}]" if ":" in host else host
    number = PORT if port is None else port
    given |= {
        "host": host,
        "port": number,
        "tls": scheme in SECURE,
        "name": f"{scheme}://{shown}:{number}",
    }
    if path not in ("", "/"):
        try:
            given["db"] = _whole(path[1:])
        except ValueError:
            raise StoreError(
                f"`{given['name']}` names the database `{path[1:]}`: give a number, as in `/0`"
            ) from None
    given["name"] = f"{given['name']}/{given.get('db', 0)}"
    return given


def check_prefix(text: str) -> str:
    """A prefix of keys, if it can be one; `StoreError` where not."""
    try:
        return _prefix(text)
    except ValueError:
        raise StoreError(
            f"the prefix of the store's keys is `{text}`: give letters, digits, `_` and `.`"
        ) from None


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(text)
    return int(text)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise ValueError(text)
    return seconds


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise ValueError(text)
    return text


def _one_of(words: Mapping[str, bool]) -> Callable[[str], bool]:
    def read(text: str) -> bool:
        if text not in words:
            raise ValueError(text)
        return words[text]

    return read


OPTIONS: Final[Mapping[str, tuple[str, Callable[[str], Any], str]]] = {
    "db": ("db", _whole, "a number"),
    "ssl_ca_certs": ("ca_file", str, "the path of a file"),
    "ssl_cert_reqs": ("verify", _one_of({"required": True, "none": False}), "`required` or `none`"),
    "ssl_certfile": ("cert_file", str, "the path of a file"),
    "ssl_keyfile": ("key_file", str, "the path of a file"),
    "prefix": ("prefix", _prefix, "letters, digits, `_` and `.`"),
    "timeout_s": ("timeout_s", _seconds, "a number of seconds above 0"),
    "wait_replicas": ("wait_replicas", _whole, "a number"),
    "eviction": (
        "checks_eviction",
        _one_of({"checked": True, "unchecked": False}),
        "`checked` or `unchecked`",
    ),
}
"""Options of a URL: the field each sets, how it is read, and what to give."""


# What is wrong with a server, in words: which one, what, and what to do. Nothing secret is ever in
# them.

_ANSWERS: Final = {
    "NOAUTH": "asks for a password: put it into the URL, as in `redis://:password@host`",
    "WRONGPASS": "does not accept the user or the password: correct the URL",
    "NOPERM": (
        "does not let this user do what a store needs ({rest}): allow the user these "
        "commands and keys"
    ),
    "LOADING": "is still loading its data: try again when it is done",
    "READONLY": (
        "is a replica, which accepts no writes: use the primary, or wait for the failover to end"
    ),
    "MASTERDOWN": (
        "is a replica whose primary cannot be reached: use the primary, or wait for the "
        "failover to end"
    ),
    "OOM": "has no memory left: raise `maxmemory`, or free some",
    "MISCONF": "cannot write to its disk and so accepts no writes: check its disk and its log",
    "BUSY": "is busy with a script that does not end: end it with `SCRIPT KILL`, or wait",
    "NOREPLICAS": "has fewer replicas than its `min-replicas-to-write` asks for: bring them back",
    "CLUSTERDOWN": "says that its cluster is down: bring its nodes back",
    "TRYAGAIN": "is moving these keys to another node of its cluster: try again",
    "ASK": "is moving these keys to another node of its cluster: try again",
    "MOVED": (
        "has these keys on another node of its cluster: use the address of a proxy that finds the "
        "right node"
    ),
    "CROSSSLOT": (
        "has the keys of this batch on several nodes: give all keys of a tenant its hash "
        "tag, by `state.key`"
    ),
    "INEXACT": "cannot count `{rest}` exactly up to 2^53: begin another counter",
}

_WRAPPED: Final = regex(r"^ERR Error running script .*@user_script: ?\d+: -(.*)", re.DOTALL)

_WHY: Final = {
    ConnectionRefusedError: "nothing listens there: start the server, or correct the URL",
    FileNotFoundError: "there is no such socket: start the server, or correct the URL",
    PermissionError: "this user may not open it: give the user access, or use another socket",
}


def plain(text: str) -> str:
    """An error that a server answered, without what it says about the script it came from."""
    wrapped = _WRAPPED.search(text)
    return text if wrapped is None else wrapped[1]


def answered(address: RedisAddress, text: str) -> str:
    """What an error that a server answered means."""
    text = plain(text)
    if address.password:
        text = text.replace(address.password, "…")
    code, _, rest = text.partition(" ")
    says = _ANSWERS.get(code)
    if says is None:
        return f"`{address.name}` answered `{text[:300]}`: check the server and its log"
    return f"`{address.name}` " + says.format(rest=rest[:300])


def refused(address: RedisAddress, text: str) -> str:
    """What an error means that a server answered to a greeting; it may repeat what is secret, so it
    is not shown."""
    code = text.partition(" ")[0]
    if code in _ANSWERS:
        return answered(address, code)
    if "DB index" in text:
        return f"`{address.name}` has no database with that number: use another one"
    if "AUTH" in text:
        return f"`{address.name}` expects no password, or another kind of login: correct the URL"
    return (
        f"`{address.name}` does not accept the greeting (`{code[:20]}`): check the server and "
        f"its log"
    )


def uncopied(name: str, replicas: int) -> str:
    """What to say where too few replicas have a batch that was carried out."""
    return (
        f"fewer than {replicas} replicas of `{name}` confirmed the batch in time: bring them "
        f"back, then send it again"
    )


def late(name: str, timeout_s: float) -> str:
    """What to say where an answer does not come in time."""
    return (
        f"`{name}` did not answer within {timeout_s:g} s: check the server's load and the network"
    )


def closed(name: str) -> str:
    """What to say to whoever uses a store that was closed."""
    return f"the store `{name}` was closed: open it again"


def no_certificates(name: str, error: BaseException) -> str:
    """What to say where the files with certificates are of no use."""
    why = getattr(error, "strerror", None)
    said = type(error).__name__ if why is None else why
    return (
        f"the certificates for `{name}` cannot be read ({said}): give PEM files with "
        "`ssl_ca_certs`, `ssl_certfile` and `ssl_keyfile`"
    )


def unreached(name: str, error: BaseException, timeout_s: float) -> str:
    """Why a connection could not be made, or was lost."""
    if isinstance(error, TimeoutError):
        return late(name, timeout_s)
    for kind, says in _WHY.items():
        if isinstance(error, kind):
            return f"`{name}` cannot be reached, {says}"
    if isinstance(error, socket.gaierror):
        return f"`{name}` cannot be reached, its host is not known: correct the URL, or check DNS"
    if isinstance(error, EOFError | ConnectionError):
        return f"`{name}` closed the connection: check the server and the network"
    said = getattr(error, "verify_message", "")
    if said:
        return (
            f"`{name}` has a certificate that is not trusted ({said}): give its CA with "
            f"`ssl_ca_certs`"
        )
    if isinstance(error, OSError) and type(error).__module__ == "ssl":
        return (
            f"`{name}` does not speak TLS as expected ({getattr(error, 'reason', '')}): check "
            f"the port and the scheme"
        )
    why = getattr(error, "strerror", None)
    said = type(error).__name__ if why is None else why
    return f"`{name}` cannot be reached ({said}): check the server and the network"
