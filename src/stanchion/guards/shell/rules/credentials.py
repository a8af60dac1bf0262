"""Credentials: keys and passwords that would be read."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, plain
from stanchion.guards.shell.rule import asked
from stanchion.readings.shell.command import Command

KEYS: Final = (
    "/etc/shadow", "/etc/gshadow", "/.ssh/id_rsa", "/.ssh/id_ed25519", "/.ssh/id_ecdsa",
    "/.ssh/id_dsa", "/.aws/credentials", "/.netrc", "/.pgpass", "/.git-credentials",
    "/.vault-token", "/.config/gh/hosts.yml", "/.docker/config.json", "/.kube/config",
    "/Login Data", "/proc/self/environ",
)  # fmt: skip


@asked
def reads_key(command: Command, _roots: Roots) -> bool:
    return any(
        plain(path, command.cwd).endswith(KEYS) and not path.endswith(".pub")
        for path in command.reads
    )
