"""Private keys and the stores they are kept in."""

from __future__ import annotations

from typing import Final

from stanchion.guards._protected import Held, Protected, Shown, Use
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


HITS: Final[Shown] = (
    ("server.pem", "read"),
    ("/etc/ssl/private/tls.key", "read"),
    ("~/.ssh/id_rsa", "read"),
    ("/home/ada/.ssh/config", "write"),
    ("/root/.ssh/authorized_keys", "write"),
    ("backup/id_ed25519.bak", "read"),
    ("C:/Users/ada/key.PFX", "read"),
    ("~/.gnupg/secring.gpg", "read"),
    ("/Users/ada/Library/Keychains/login.keychain-db", "read"),
    ("/etc/ssh/ssh_host_rsa_key", "read"),
    ("C:/ProgramData/ssh/ssh_host_ed25519_key", "read"),
    ("ios/AuthKey_8XK2.p8", "read"),
    ("~/.ssh/test_rsa", "read"),
    ("~/.local/share/keyrings/login.keyring", "read"),
)
MISSES: Final[Shown] = (
    ("~/.ssh/id_rsa.pub", "read"),
    ("certifi/cacert.pem", "read"),
    ("tls/fullchain.pem", "read"),
    ("src/keys.py", "write"),
    ("ssh/", "read"),
    ("docs/id_rsa.md", "write"),
    ("keyboard.json", "write"),
    ("/etc/ssh/ssh_config", "read"),
    ("server.key", "write"),
    ("tests/fixtures/server.pem", "read"),
    ("pkg/tls/testdata/client.key", "read"),
    ("internal/sshkeys/id_rsa_parser.go", "read"),
    ("examples/mtls/client.key", "read"),
)
