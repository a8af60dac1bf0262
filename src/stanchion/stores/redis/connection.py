"""One connection to a server: commands go out, answers come back in their order."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any, Final

from stanchion.kernel.state import StoreLost
from stanchion.stores.protocol import StoreError
from stanchion.stores.redis.address import RedisAddress, no_certificates, refused, unreached

try:
    import hiredis
except ImportError as missing:
    raise StoreError(
        "a Redis store needs the package `hiredis`: install the extra `redis`"
    ) from missing

CUT: Final = (OSError, EOFError, hiredis.HiredisError)
"""What is raised where a connection is of no use any more."""

CHUNK: Final = 65_536


def command(*words: str | bytes) -> bytes:
    """A command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(words)  # type: ignore[arg-type]  # its type names a tuple of one
    return packed


def left(deadline: float) -> float:
    """The seconds until a deadline; `TimeoutError` where there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class RedisLink:
    """A socket and the reader of what comes from it; one thread uses it at a time.

    An error that the server answers is returned, not raised. After anything was raised the link is
    of no use.
    """

    def __init__(self, sock: socket.socket, timeout_s: float) -> None:
        self.sock: Final = sock
        self.reader: Final = hiredis.Reader()
        self._timeout_s = timeout_s
        self._send = sock.sendall
        self._recv = sock.recv
        sock.settimeout(timeout_s)

    def ask(self, data: bytes, deadline: float) -> Any:
        """Send a short command on a link that was idle, and wait for its answer as long as links
        wait."""
        self._send(data)
        chunk = self._recv(CHUNK)
        if not chunk:
            raise EOFError
        self.reader.feed(chunk)
        reply = self.reader.gets()
        return self._wait(1, deadline)[0] if reply is False else reply

    def ask_all(self, data: bytes, count: int, deadline: float) -> list[Any]:
        """Send commands and wait for all their answers until a deadline."""
        self.sock.settimeout(left(deadline))
        self._send(data)
        return self._wait(count, deadline)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self.sock.close()

    def _wait(self, count: int, deadline: float) -> list[Any]:
        replies: list[Any] = []
        while len(replies) < count:
            reply = self.reader.gets()
            if reply is not False:
                replies.append(reply)
                continue
            self.sock.settimeout(left(deadline))
            chunk = self._recv(CHUNK)
            if not chunk:
                raise EOFError
            self.reader.feed(chunk)
        self.sock.settimeout(self._timeout_s)
        return replies

    def __del__(self) -> None:
        if hasattr(self, "sock"):
            self.close()


# Making a connection: find the host, open a socket, agree on TLS, greet the server; all before a
# deadline.

OLDEST: Final = (6, 2)
"""The oldest version of a server whose commands the script can use."""

POLICY: Final = "maxmemory-policy"
KEEPS: Final = "noeviction"
"""The setting by which a server drops keys when its memory is full, and its value where it drops
none."""

Spot = tuple[int, Any]
"""A family of addresses, and an address in it."""


def connect(address: RedisAddress, timeout_s: float, deadline: float) -> RedisLink:
    """A connection that can be used; `StoreLost` says why there is none."""
    try:
        sock = _open(address, deadline)
    except (OSError, ValueError) as error:
        raise StoreLost(unreached(address.name, error, timeout_s)) from None
    link = RedisLink(sock, timeout_s)
    try:
        _greet(link, address, deadline)
    except CUT as error:
        link.close()
        raise StoreLost(unreached(address.name, error, timeout_s)) from None
    except BaseException:
        link.close()
        raise
    return link


def _open(address: RedisAddress, deadline: float) -> socket.socket:
    error: OSError = ConnectionRefusedError()
    for family, spot in _spots(address, deadline):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(left(deadline))
            sock.connect(spot)
            if address.path:
                return sock
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return _secure(sock, address, deadline) if address.tls else sock
        except OSError as failed:
            sock.close()
            error = failed
        except BaseException:
            sock.close()
            raise
    raise error


def _spots(address: RedisAddress, deadline: float) -> list[Spot]:
    """Where the server may be; a name server is asked in a thread, because asking has no deadline
    of its own."""
    if address.path:
        return [(socket.AF_UNIX, address.path)]
    with contextlib.suppress(socket.gaierror):
        return _ask(address, socket.AI_NUMERICHOST)
    found: list[list[Spot]] = []
    failed: list[OSError] = []

    def ask() -> None:
        try:
            found.append(_ask(address))
        except OSError as error:
            failed.append(error)

    asking = threading.Thread(target=ask, name="stanchion-redis-host", daemon=True)
    asking.start()
    asking.join(left(deadline))
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError
    return found[0]


def _ask(address: RedisAddress, flags: int = 0) -> list[Spot]:
    all_of_them = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=flags
    )
    return [(family, spot) for family, _, _, _, spot in all_of_them]


def _secure(sock: socket.socket, address: RedisAddress, deadline: float) -> socket.socket:
    import ssl

    try:
        context = ssl.create_default_context(cafile=address.ca_file if address.ca_file else None)
        if address.cert_file:
            context.load_cert_chain(
                address.cert_file, address.key_file if address.key_file else None
            )
    except (OSError, ValueError) as error:
        raise StoreLost(no_certificates(address.name, error)) from None
    if not address.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    sock.settimeout(left(deadline))
    return context.wrap_socket(sock, server_hostname=address.host)


def _greet(link: RedisLink, address: RedisAddress, deadline: float) -> None:
    """Say who we are and which database we use, and make sure that the server can keep what it is
    given."""
    greeting: list[bytes] = []
    if address.password or address.user:
        given = (address.user, address.password) if address.user else (address.password,)
        greeting.append(command("AUTH", *given))
    if address.db:
        greeting.append(command("SELECT", str(address.db)))
    must = len(greeting)
    greeting += [command("INFO", "server"), command("INFO", "memory")]
    replies = link.ask_all(b"".join(greeting), len(greeting), deadline)
    for reply in replies[:must]:
        if isinstance(reply, Exception):
            raise StoreLost(refused(address, str(reply)))
    for reply in replies[must:]:
        if isinstance(reply, Exception) and not str(reply).startswith(("NOPERM", "ERR")):
            raise StoreLost(refused(address, str(reply)))
    facts = _facts([reply for reply in replies[must:] if isinstance(reply, bytes)])
    policy = facts.get("maxmemory_policy", "")
    if not policy:
        policy = _setting(link.ask_all(command("CONFIG", "GET", POLICY), 1, deadline)[0])
    _check(address, facts.get("redis_version", ""), policy)


LOOK: Final = command("INFO", "memory")
"""What is asked once in a while beside a batch, for `check_look`."""


def check_look(address: RedisAddress, reply: Any) -> None:
    """Refuse a server that has begun to drop keys since it was greeted; one that does not say is as
    it was."""
    policy = _facts([reply]).get("maxmemory_policy", "") if isinstance(reply, bytes) else ""
    if policy:
        _check(address, "", policy)


def _facts(texts: list[bytes]) -> dict[str, str]:
    lines = [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
    return {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}


def _setting(reply: Any) -> str:
    """The value in a server's answer to `CONFIG GET`; empty where it does not say."""
    if not isinstance(reply, list) or len(reply) != 2 or not isinstance(reply[1], bytes):
        return ""
    return reply[1].decode("utf-8", "replace")


def _check(address: RedisAddress, version: str, policy: str) -> None:
    """Refuse a server that is too old, or that may drop what it was given: every key of ours that
    has a time to live is dropped by some policies, and every key by others."""
    numbers = tuple([int(part) for part in version.split(".")[:2] if part.isdigit()])
    if numbers and numbers < OLDEST:
        raise StoreLost(f"`{address.name}` is Redis {version[:20]}: use 6.2 or later, or Valkey")
    if policy and policy != KEEPS:
        raise StoreLost(
            f"`{address.name}` drops keys when its memory is full (`{POLICY} {policy[:40]}`), "
            f"halts and budgets included: set `{POLICY} {KEEPS}`"
        )
    if not policy and address.checks_eviction:
        raise StoreLost(
            f"`{address.name}` does not say whether it drops keys when its memory is full: let "
            f"this user run `CONFIG GET {POLICY}` or `INFO memory`, or make sure that it is "
            f"`{KEEPS}` and add `?eviction=unchecked`"
        )
