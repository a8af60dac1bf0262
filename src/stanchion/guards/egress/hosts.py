"""Hosts: names that mean the inside, and lists of those that may be reached."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final, NamedTuple, TypeVar

from stanchion.kernel.regex import regex
from stanchion.readings.addresses import Address, plain
from stanchion.readings.urls import host_of

METADATA: Final = frozenset(
    {
        "metadata", "metadata.google.internal", "metadata.goog", "instance-data",
        "instance-data.ec2.internal", "metadata.azure.internal", "metadata.azure.com",
        "metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net",
        "api.metadata.cloud.ibm.com", "rancher-metadata", "metadata.nicira.local",
    }
)  # fmt: skip
"""Names of metadata services."""

_ZONES: Final = {
    "this machine": "localhost",
    "the local network": (
        "localdomain localdomain4 localdomain6 localnet local lan home home.arpa"
    ),
    "an internal network": "internal intranet intra private corp",
    "a cluster": "svc default cluster docker consul",
}
SUFFIXES: Final = {name: where for where, names in _ZONES.items() for name in names.split()}
"""Names that belong to no public zone, with everything under them."""

LOOPBACK: Final = frozenset(
    {
        "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "fuf.me", "localho.st", "local.gd",
        "smackaho.st", "localhost.direct", "127-0-0-1.org.uk", "bugbounty.dod.network",
        "spoofed.burpcollaborator.net", "lcl.host", "lndo.site", "ddev.site",
    }
)  # fmt: skip
"""Public zones all of whose names lead to the machine itself."""

CARRYING: Final = frozenset(
    {
        "nip.io", "sslip.io", "xip.io", "xip.name", "traefik.me", "backname.io", "1u.ms",
        "rbndr.us", "local-ip.co", "local-ip.sh", "plex.direct",
    }
)  # fmt: skip
"""Public zones whose names lead to the address that is written in them."""

_QUAD: Final = regex(
    r"(?<![0-9a-z])([0-9]{1,3})[.-]([0-9]{1,3})[.-]([0-9]{1,3})[.-]([0-9]{1,3})(?![0-9])"
)
_HEX: Final = regex(r"(?<![0-9a-f])([0-9a-f]{8})(?![0-9a-f])")


def parents(name: str) -> list[str]:
    """A name and what it is under, the whole first: `a.b.c` gives `a.b.c`, `b.c` and `c`."""
    found = [name]
    at = name.find(".")
    while at >= 0:
        found.append(name[at + 1 :])
        at = name.find(".", at + 1)
    return found


def inside_name(name: str) -> str:
    """Where a name leads that is not public; empty where only a resolver can say it."""
    if "." not in name:
        return SUFFIXES.get(name, "a name without a dot belongs to the local network")
    for above in parents(name):
        if above in SUFFIXES:
            return f"`{above}` is {SUFFIXES[above]}"
        if above in LOOPBACK:
            return f"names of `{above}` lead to this machine"
    return ""


def written_in(name: str) -> tuple[Address, ...]:
    """The addresses that a name of a zone which leads to them has in it."""
    zone = next((above for above in parents(name) if above in CARRYING), None)
    if zone is None:
        return ()
    own = name[: -len(zone) - 1]
    found: list[Address] = []
    for quad in _QUAD.findall(own):
        if all(int(part) < 256 for part in quad):
            found.append(IPv4Address(".".join([str(int(part)) for part in quad])))
    found += [IPv4Address(int(digits, 16)) for digits in _HEX.findall(own)]
    return (*found, *_six(own.rpartition(".")[2]))


def _six(label: str) -> tuple[Address, ...]:
    """The IPv6 address that a label is, with hyphens in the place of colons."""
    try:
        return (IPv6Address(label.replace("-", ":")),)
    except ValueError:
        return ()


_BRACKETS: Final = regex(r"\[([0-9A-Fa-f:.]+)\](/[0-9]+)?(?::([0-9]+))?")
_PLAIN: Final = regex(r"([^:\[\]@\s]+)(?::([0-9]+))?")

K = TypeVar("K")
Ports = frozenset[int] | None
"""The ports of an entry; `None` where it is for all."""


class HostEntry(NamedTuple):
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


def entry_of(text: str) -> HostEntry:
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
        return HostEntry(under="*", port=port)
    under = host.startswith("*.")
    known = host_of(host.removeprefix("*."))
    if known is None or (under and not isinstance(known, str)):
        raise ValueError(_refusal(text))
    if isinstance(known, str):
        return HostEntry(under=known, port=port) if under else HostEntry(name=known, port=port)
    return _range(str(known), text, port)


def _range(written: str, text: str, port: int | None) -> HostEntry:
    try:
        network = ip_network(written)
    except ValueError:
        raise ValueError(
            f"`{text}` is not an address or range: write `10.1.2.3`, `10.0.0.0/8` or `fd00::/8`"
        ) from None
    first = plain(network.network_address)
    mapped = first.version != network.version
    return HostEntry(
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
