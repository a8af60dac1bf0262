"""Lists of hosts: names, names under a name, addresses and ranges, each with a port or without;
found by index."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_network
from typing import Final, NamedTuple, TypeVar

from stanchion.guards.egress.names import parents
from stanchion.kernel.regex import regex
from stanchion.readings.addresses import Address, plain
from stanchion.readings.urls import host_of

_BRACKETS: Final = regex(r"\[([0-9A-Fa-f:.]+)\](/[0-9]+)?(?::([0-9]+))?")
_PLAIN: Final = regex(r"([^:\[\]@\s]+)(?::([0-9]+))?")

K = TypeVar("K")
Ports = frozenset[int] | None
"""The ports of an entry; `None` where it is for all."""


class Entry(NamedTuple):
    """One entry as it was understood: a name, a name that others are under, or the range that
    begins at a number."""

    name: str = ""
    under: str = ""
    version: int = 0
    length: int = 0
    first: int = 0
    port: int | None = None


class Hosts:
    """A list of hosts. What it costs to find one does not depend on how many there are."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._names: dict[str, Ports] = {}
        self._under: dict[str, Ports] = {}
        self._ranges: dict[tuple[int, int], dict[int, Ports]] = {}
        for text in entries:
            entry = entry_of(text)
            if entry.version:
                table = self._ranges.setdefault((entry.version, entry.length), {})
                table[entry.first] = _joined(table, entry.first, entry.port)
            elif entry.name:
                self._names[entry.name] = _joined(self._names, entry.name, entry.port)
            else:
                self._under[entry.under] = _joined(self._under, entry.under, entry.port)

    def has(self, host: str | Address, port: int | None) -> bool:
        """Whether a host is listed, in whatever way."""
        if _fits(self._under, "*", port):
            return True
        return self.named(host, port) if isinstance(host, str) else self.holds(host, port)

    def named(self, name: str, port: int | None) -> bool:
        """Whether a name is listed, or one that it is under."""
        return self.exactly(name, port) or any(
            _fits(self._under, above, port) for above in parents(name)[1:]
        )

    def holds(self, address: Address, port: int | None) -> bool:
        """Whether an address is listed, or a range that it is in."""
        own = plain(address)
        number = int(own)
        for (version, length), table in self._ranges.items():
            if version == own.version:
                behind = own.max_prefixlen - length
                if _fits(table, number >> behind << behind, port):
                    return True
        return False

    def exactly(self, host: str | Address, port: int | None) -> bool:
        """Whether this very name or address is listed by itself."""
        if isinstance(host, str):
            return _fits(self._names, host, port)
        own = plain(host)
        return _fits(self._ranges.get((own.version, own.max_prefixlen), {}), int(own), port)


def entry_of(text: str) -> Entry:
    """Understand an entry; raises `ValueError` where it is none."""
    if "://" in text:
        raise ValueError(
            f"`{text}` is a URL: name the host alone, with `:port` behind it where that matters"
        )
    if text.count(":") > 1 and not text.startswith("["):
        return _range(text, text, None)
    found = _BRACKETS.fullmatch(text)
    if found is not None:
        return _range(found[1] + (found[2] or ""), text, _port(found[3], text))
    found = _PLAIN.fullmatch(text)
    if found is None:
        raise ValueError(_refusal(text))
    host, port = found[1], _port(found[2], text)
    if "/" in host:
        return _range(host, text, port)
    if host == "*":
        return Entry(under="*", port=port)
    under = host.startswith("*.")
    known = host_of(host.removeprefix("*."))
    if known is None or (under and not isinstance(known, str)):
        raise ValueError(_refusal(text))
    if isinstance(known, str):
        return Entry(under=known, port=port) if under else Entry(name=known, port=port)
    return _range(str(known), text, port)


def _range(written: str, text: str, port: int | None) -> Entry:
    try:
        network = ip_network(written)
    except ValueError:
        raise ValueError(
            f"`{text}` is not an address or range: write `10.1.2.3`, `10.0.0.0/8` or `fd00::/8`"
        ) from None
    first = plain(network.network_address)
    mapped = first.version != network.version
    return Entry(
        version=first.version,
        length=network.prefixlen - 96 if mapped else network.prefixlen,
        first=int(first),
        port=port,
    )


def _refusal(text: str) -> str:
    return (
        f"`{text}` is not a host: write `api.example.com`, `*.example.com`, `10.1.2.3` or "
        f"`10.0.0.0/8`, each with `:443`"
    )


def _port(digits: str | None, text: str) -> int | None:
    if not digits:
        return None
    if not 0 < int(digits) < 65_536:
        raise ValueError(f"`{text}` has a port that there is not: write one from 1 to 65535")
    return int(digits)


def _joined(table: dict[K, Ports], key: K, port: int | None) -> Ports:
    known = table.get(key, frozenset())
    return None if port is None or known is None else known | {port}


def _fits(table: dict[K, Ports], key: K, port: int | None) -> bool:
    ports = table.get(key, frozenset())
    return ports is None or port in ports
