"""Private keys and the stores they are kept in."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import Protected, Shown

CERTIFICATES: Final = (
    "cacert.pem", "ca.pem", "ca-*.pem", "cert.pem", "*-cert.pem", "cert-*.pem", "chain.pem", "fullchain.pem",
    "*.pub.pem", "public*.pem", "roots.pem", "*-bundle.pem", "dhparam*.pem",
)  # fmt: skip

RULES: Final = (
    Protected(
        "a private key",
        ("*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.asc.key", "master.key"),
        fine=CERTIFICATES,
    ),
    Protected(
        "a private key",
        ("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "ssh_host_*_key", "**/.putty/**"),
        fine=("*.pub", "*.py", "*.md"),
    ),
    Protected("keys for other hosts", ("**/.ssh/**",), fine=("*.pub", "known_hosts")),
    Protected("the list of who may log in", ("**/.ssh/authorized_keys*", "**/.rhosts", "**/.shosts")),
    Protected("a ring of keys", ("**/.gnupg/**", "**/.password-store/**", "**/keyrings/**", "**/Library/Keychains/**")),
    Protected("a wallet", ("wallet.dat", "**/.electrum/wallets/**", "**/.ethereum/keystore/**", "**/.bitcoin/*.dat")),
)

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
)
