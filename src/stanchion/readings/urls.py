"""Reading a URL: the host that the standard finds in it, and whether every other reader finds the
same.

`can_ada` reads as the URL Standard says. A URL that another reader may understand otherwise is told
apart: the host that is judged has to be the host that the client connects to, whatever parser it
has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from stanchion.kernel.regex import regex
from stanchion.readings.addresses import Address

PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
"""The schemes whose hosts the standard makes plain, and the ports that they have by themselves."""
UNSEEN: Final = {9: None, 10: None, 13: None}
"""Characters that the standard leaves out, wherever they stand."""
KEPT: Final = 1_024
LONGEST_KEPT: Final = 2_048
"""Longer ones are read each time: what is remembered stays small, whatever comes."""
LONGEST_NAME: Final = 253
LONGEST_LABEL: Final = 63

_SCHEME: Final = regex(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_AUTHORITY: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
_HOST_PORT: Final = regex(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]*))?")
_HEADER: Final = regex(r"[A-Za-z0-9._:\[\]-]+")
_NAME: Final = regex(r"[a-z0-9._-]+")
_TRICKS: Final = regex(r"[@\\\s\[\]]")
_UNSEEN: Final = regex(r"[\x00-\x1f\x7f]")


class UrlTarget(NamedTuple):
    """Where a URL leads. `host` has no brackets and no dot behind it; it is empty where the URL has
    none.

    `unclear` says why somebody may read it otherwise; it is empty where nobody does.
    """

    scheme: str
    host: str
    port: int | None
    literal: Address | None
    credentials: bool
    unclear: str


class UnreadableUrl(NamedTuple):
    """What is no URL, and why."""

    why: str


def url_of(text: str) -> UrlTarget | UnreadableUrl:
    """Read a URL; relative ones are not read, because they lead nowhere by themselves."""
    return _kept(text) if len(text) <= LONGEST_KEPT else _read(text)


def _read(text: str) -> UrlTarget | UnreadableUrl:
    found = _SCHEME.fullmatch(text.translate(UNSEEN))
    if found is None:
        return UnreadableUrl("it has no scheme")
    try:
        parsed = _parsed(text)
        scheme = parsed.protocol.removesuffix(":").lower()
        if scheme not in PORTS:
            if not found[2].startswith("//") or scheme == "file":
                return UrlTarget(scheme, "", None, None, False, "")
            parsed = _parsed(f"http:{found[2]}")
    except (ValueError, TypeError):
        return UnreadableUrl("it is not a URL as the standard has them")
    host: str = parsed.hostname
    literal = _literal(host)
    name = host.removesuffix(".") if literal is None else str(literal)
    wrong = "" if literal is not None else _wrong(name)
    if wrong:
        return UnreadableUrl(wrong)
    port = int(parsed.port) if parsed.port else PORTS.get(scheme)
    unclear = _unclear(text, host, literal, port, PORTS.get(scheme))
    return UrlTarget(scheme, name, port, literal, parsed.has_credentials(), unclear)


_kept: Final = lru_cache(KEPT)(_read)


def host_of(text: str) -> str | Address | None:
    """The name or the address that a host is, as it is matched; `None` where it is none."""
    target = url_of(
        f"http://[{text}]/"
        if text.count(":") > 1 and not text.startswith("[")
        else f"http://{text}/"
    )
    if (
        isinstance(target, UnreadableUrl)
        or target.credentials
        or target.unclear
        or target.port != PORTS["http"]
    ):
        return None
    return target.host if target.literal is None else target.literal


def same_host(url: str, host: str) -> bool:
    """Whether a `host` header names the host and the port of a URL, and nothing else."""
    target = url_of(url)
    if not isinstance(target, UrlTarget) or _HEADER.fullmatch(host) is None:
        return False
    named = url_of(f"{target.scheme}://{host}/")
    return isinstance(named, UrlTarget) and (named.host, named.port) == (target.host, target.port)


def _parsed(text: str) -> Any:
    import can_ada

    return can_ada.parse(text)


def _literal(host: str) -> Address | None:
    if host.startswith("["):
        return IPv6Address(host[1:-1])
    try:
        return IPv4Address(host)
    except ValueError:
        return None


def _wrong(name: str) -> str:
    """Why no name is written like this."""
    if not name:
        return "it has no host"
    labels = name.split(".")
    if not all(labels):
        return "its host has two dots in a row, or one in front"
    if len(name) > LONGEST_NAME or max(map(len, labels)) > LONGEST_LABEL:
        return "its host is longer than a name can be"
    return ""


def _unclear(
    text: str, host: str, literal: Address | None, port: int | None, usual: int | None
) -> str:
    """Why another reader may find another host or port in a URL than the standard does."""
    if _UNSEEN.search(text) is not None:
        return "it has control characters"
    found = _AUTHORITY.match(text)
    if found is None:
        return "a host stands behind `://`, and nothing before the scheme"
    front, at, place = found[1].rpartition("@")
    if at and (not front or _TRICKS.search(front) is not None):
        return "it is not clear which part of it is the host"
    parts = _HOST_PORT.fullmatch(place)
    if parts is None:
        return "its host and port are not written plainly"
    try:
        split = urlsplit(text)
        other, other_port = split.hostname, split.port
    except ValueError:
        return "some readers refuse it"
    written = parts[1].lower()
    if other != written.strip("[]"):
        return "readers find different hosts in it"
    if {
        usual if one is None else one for one in (other_port, int(parts[2]) if parts[2] else None)
    } != {port}:
        return "readers find different ports in it"
    if port == 0:
        return "some take port 0 for the usual one"
    return _differs(written, host, literal)


def _differs(written: str, host: str, literal: Address | None) -> str:
    """Why a host that is written in one way is another one to the standard."""
    if isinstance(literal, IPv6Address):
        return (
            ""
            if written.startswith("[") and IPv6Address(written[1:-1]) == literal
            else "its host is disguised"
        )
    if "xn--" in host and any(
        one.isdecimal() and not one.isascii() for one in _spelled(host).split(".")
    ):
        return "its host has the digits of another script"
    if written == host:
        return (
            "" if _NAME.fullmatch(host) is not None else "its host has characters that no name has"
        )
    if written != _spelled(host):
        return f"`{host}` is written in a disguise"
    try:
        older = written.encode("idna").decode("ascii")
    except UnicodeError:
        return f"not everybody takes its host for `{host}`"
    return "" if older == host else f"some take its host for `{older}`, others for `{host}`"


def _spelled(host: str) -> str:
    """A name in the letters of its language."""
    labels = host.split(".")
    return ".".join(
        [one[4:].encode().decode("punycode") if one.startswith("xn--") else one for one in labels]
    )


def is_here(host: str) -> bool:
    """Whether a host is this machine, by its name or its address."""
    address = host_of(host)
    if isinstance(address, str):
        return address == "localhost" or address.endswith((".localhost", ".test"))
    return address is not None and address.is_loopback
