"""What is wrong with a server, in words: which one, what, and what to do. Nothing secret is ever in
them."""

from __future__ import annotations

import re
import socket
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.stores.redis.address import Address

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


def answered(address: Address, text: str) -> str:
    """What an error that a server answered means."""
    text = plain(text)
    if address.password:
        text = text.replace(address.password, "…")
    code, _, rest = text.partition(" ")
    says = _ANSWERS.get(code)
    if says is None:
        return f"`{address.name}` answered `{text[:300]}`: check the server and its log"
    return f"`{address.name}` " + says.format(rest=rest[:300])


def refused(address: Address, text: str) -> str:
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
        f"`ssl_ca_certs`, "
        "`ssl_certfile` and `ssl_keyfile`"
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
