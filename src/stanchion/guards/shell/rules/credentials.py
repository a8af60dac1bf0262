"""Credentials: keys and passwords that would be read."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, plain
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command

READERS: Final = (
    "cat tac head tail less more nl od xxd hexdump strings base64 bat view cp mv tar zip grep awk "
    "sed sort python python3 openssl gpg vim vi nano rev cut dd"
)
KEYS: Final = (
    "/etc/shadow", "/etc/gshadow", "/.ssh/id_rsa", "/.ssh/id_ed25519", "/.ssh/id_ecdsa",
    "/.ssh/id_dsa", "/.aws/credentials", "/.netrc", "/.pgpass", "/.git-credentials",
    "/.vault-token", "/.config/gh/hosts.yml", "/.docker/config.json", "/.kube/config",
    "/Login Data", "/proc/self/environ",
)  # fmt: skip


HIVES: Final = ("/sam", "/security", "/system", "hklmsam", "hklmsecurity", "hklmsystem")
"""Where Windows keeps its passwords; a shell of another kind leaves the backslash out."""


def _reads_key(command: Command, _roots: Roots) -> bool:
    return any(
        plain(path, command.cwd).endswith(KEYS) and not path.endswith(".pub")
        for path in command.reads
    )


FAMILY: Final = Family(
    "credentials",
    "control",
    (
        Rule(READERS, "reads keys or passwords", check=_reads_key, hint="/", loss="unknown"),
        Rule(
            "security",
            "reads the key chain",
            words="find-generic-password|find-internet-password|dump-keychain|export",
            loss="unknown",
        ),
        Rule(
            "reg",
            "reads the passwords of the system",
            words="save|export",
            check=lambda c, _: any(
                w.lower().replace("\\", "/").endswith(HIVES) for w in c.operands
            ),
        ),
        Rule(
            "mimikatz",
            "reads the passwords of the system",
            check=lambda c, _: any("sekurlsa" in w or "lsadump" in w for w in c.argv),
            strict=True,
        ),
        Rule(
            "unshadow john hashcat",
            "tries passwords",
            check=lambda c, _: any("shadow" in w for w in c.argv),
            loss="unknown",
        ),
    ),
)

HITS: Final = (
    "cat ~/.ssh/id_rsa",
    "sudo cat /etc/shadow",
    "base64 /root/.aws/credentials",
    "cp ~/.netrc /tmp/x",
    "head -c 99 ~/.pgpass",
)
MISSES: Final = (
    "cat ~/.ssh/id_rsa.pub",
    "ls ~/.ssh",
    "ssh-keygen -lf ~/.ssh/id_rsa.pub",
    "cat .env",
    "cat /etc/passwd",
    "aws configure list",
    "echo /etc/shadow",
)
