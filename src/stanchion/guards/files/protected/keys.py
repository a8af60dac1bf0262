"""Private keys and the stores they are kept in."""

from __future__ import annotations

from typing import Final

from stanchion.guards._protected import Held, Protected, Use
from stanchion.guards.files.protected.names import is_key_file
from stanchion.guards.files.protected.seat import Seat
from stanchion.readings.word_lists import listed

RULES: Final = (
    Protected(
        "the list of who may log in", ("**/.ssh/authorized_keys*", "**/.rhosts", "**/.shosts")
    ),
    Protected("a wallet", ("wallet.dat",)),
)
RINGS: Final = listed("gnupg password-store keyrings keychains putty electrum electron-cash")
"""Tools that keep nothing but keys."""
PUBLIC: Final = listed("known_hosts known_hosts.old pubring.kbx pubring.gpg trustdb.gpg")
KEY: Final = Held("a private key")
OWN_KEY: Final = Held("a private key", asks=True)
HOSTS: Final = Held("keys for other hosts")
RING: Final = Held("a ring of keys")


def held(seat: Seat, use: Use) -> Held | None:
    """A private key that exists: making one in a project is no reading, and one among fixtures is
    made to be seen."""
    name = seat.name
    if name.endswith(".pub") or name in PUBLIC:
        return None
    if seat.tool == "ssh":
        return HOSTS
    if seat.tool in RINGS or not RINGS.isdisjoint(seat.all):
        return RING
    if not is_key_file(name):
        return None
    if seat.area in ("near", "plain"):
        return None if use == "write" else KEY if use == "read" else OWN_KEY
    return None if seat.area == "temporary" else KEY
