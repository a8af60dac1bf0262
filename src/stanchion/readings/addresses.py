"""Addresses: which ones are not on the public network, and what each is."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from stanchion.readings.word_lists import by_first

Address = IPv4Address | IPv6Address

RANGES: Final = tuple(
    [
        (net, " ".join(what))
        for net, what in by_first(
            """
    0.0.0.0/8 unspecified
    10.0.0.0/8 private
    100.64.0.0/10 shared by a carrier
    127.0.0.0/8 loopback
    169.254.0.0/16 link-local
    172.16.0.0/12 private
    192.0.0.0/24 reserved for protocols
    192.0.2.0/24 for documentation
    192.88.99.0/24 a former relay
    192.168.0.0/16 private
    198.18.0.0/15 for benchmarks
    198.51.100.0/24 for documentation
    203.0.113.0/24 for documentation
    224.0.0.0/4 multicast
    255.255.255.255/32 broadcast
    240.0.0.0/4 reserved
    ::/128 unspecified
    ::1/128 loopback
    64:ff9b:1::/48 translated locally
    100::/64 discarded
    fc00::/7 unique local
    fe80::/10 link-local
    fec0::/10 site-local
    ff00::/8 multicast
    2001:db8::/32 for documentation
    3fff::/20 for documentation
    """
        ).items()
    ]
)
"""Ranges that lead nowhere public. The narrower of two stands first."""

_NETWORKS: Final = tuple([(ip_network(text), what) for text, what in RANGES])
_TEREDO: Final = ip_network("2001::/32")
_PROTOCOLS: Final = ip_network("2001::/23")
_PUBLIC: Final = ip_network("2000::/3")

METADATA: Final = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254", "169.254.169.253", "169.254.170.2", "169.254.170.23",
            "169.254.42.42", "169.254.0.23", "169.254.10.10", "100.100.100.200", "192.0.0.192",
            "168.63.129.16", "fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", "fd20:ce::254",
            "fd00:42::42", "fe80::a9fe:a9fe",
        ),
    )
)  # fmt: skip
"""Where clouds answer questions about a machine, its credentials among the answers. Not all of them
are private."""

_CARRIERS: Final = (
    (ip_network("::ffff:0:0/96"), 0),
    (ip_network("::ffff:0:0:0/96"), 0),
    (ip_network("::/96"), 0),
    (ip_network("64:ff9b::/96"), 0),
    (ip_network("2002::/16"), 80),
    (_TEREDO, 64),
)
"""IPv6 ranges whose addresses have an IPv4 address in them, and how many bits stand behind it."""

_ISATAP: Final = 0x00005EFE


@lru_cache(4_096)
def address_of(text: object) -> Address:
    """An address from its text; `ValueError` where it is none. One mapped into IPv6 is the IPv4
    address that it is.

    A zone belongs to an address of the local link; elsewhere it only makes one look like another.
    """
    if not isinstance(text, str):
        raise TypeError(f"an address is a text, not `{type(text).__name__}`")
    found = plain(ip_address(text))
    if "%" in text and not found.is_link_local:
        raise ValueError(f"`{text}` has a zone and is not on the local link")
    return found


def plain(address: Address) -> Address:
    """The address itself, without a zone; the IPv4 address where it is one that is mapped into
    IPv6."""
    if isinstance(address, IPv4Address):
        return address
    mapped = address.ipv4_mapped
    return IPv6Address(int(address)) if mapped is None else mapped


def carried(address: Address) -> tuple[Address, ...]:
    """The address, and those in it: mapped, translated and tunnelled ones lead to what they
    carry."""
    if isinstance(address, IPv4Address):
        return (address,)
    number = int(address)
    found = [
        IPv4Address(number >> shift & 0xFFFFFFFF)
        for net, shift in _CARRIERS
        if number > 1 and address in net
    ]
    if address in _TEREDO:
        found.append(IPv4Address(~number & 0xFFFFFFFF))
    if number >> 32 & 0xFDFFFFFF == _ISATAP:
        found.append(IPv4Address(number & 0xFFFFFFFF))
    return (address, *found)


@lru_cache(4_096)
def inside(address: Address) -> str:
    """What an address is that is not on the public network; empty where it is."""
    for one in carried(address):
        for network, what in _NETWORKS:
            if one in network:
                return what if one == address else f"{what}, as `{one}` in it says"
    if isinstance(address, IPv4Address) or any(address in carrier for carrier, _ in _CARRIERS):
        return ""
    return "" if address in _PUBLIC and address not in _PROTOCOLS else "reserved"


def is_metadata(address: Address) -> bool:
    """Whether a cloud's metadata service is reached at an address."""
    return any(one in METADATA for one in carried(address))
