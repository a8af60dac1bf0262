"""Names: which ones lead inside whatever a resolver says, and which ones have the address in
them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.addresses import Address

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
