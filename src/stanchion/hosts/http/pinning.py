"""Pinning: the addresses that the request under way may be sent to, and whether a connection leads
to one of them."""

from __future__ import annotations

from contextvars import ContextVar
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final

from stanchion.runtime.setting import setting

_pinned: ContextVar[tuple[str, ...] | None] = ContextVar("stanchion_pinned", default=None)

_HERE: Final = {ip_address("0.0.0.0"): ip_address("127.0.0.1"), ip_address("::"): ip_address("::1")}
"""Where a connection ends that is made to no address in particular."""


def pinning(addresses: tuple[str, ...]) -> setting[tuple[str, ...] | None]:
    """Send what is sent inside to these addresses only; to any where there are none."""
    return setting(_pinned, addresses)


def pins() -> tuple[str, ...]:
    """The addresses that the request under way may go to; none where that is open. Outside of a
    request that was judged nothing is connected: `OSError`."""
    found = _pinned.get()
    if found is None:
        raise OSError(
            "no request was judged for this connection: send the request with the run's client"
        )
    return found


def fits(address: Any, addresses: tuple[str, ...]) -> bool:
    """Whether an address is one of these, however it is written; where there are none, every
    address is."""
    if not addresses:
        return True
    plain = _plain(address)
    return plain is not None and any(_plain(one) == plain for one in addresses)


def _plain(address: Any) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(str(address).partition("%")[0])
    except ValueError:
        return None
    own = found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
    return _HERE.get(own, own)
