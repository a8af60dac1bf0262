"""Credentials: keys and passwords that would be read."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, plain
from stanchion.guards.shell.rule import asked
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import named
from stanchion.readings.shell.partly_known import Open, origin_of
from stanchion.readings.shell.secret_sources import SOURCE

KEYS: Final = (
    "/etc/shadow", "/etc/gshadow", "/.ssh/id_rsa", "/.ssh/id_ed25519", "/.ssh/id_ecdsa",
    "/.ssh/id_dsa", "/.aws/credentials", "/.netrc", "/.pgpass", "/.git-credentials",
    "/.vault-token", "/.config/gh/hosts.yml", "/.docker/config.json", "/.kube/config",
    "/Login Data", "/proc/self/environ", "/.ssh", "/.gnupg", "/.aws", "~/.npmrc", "/.pypirc",
    "/.cargo/credentials.toml", "/.gem/credentials", "/glab-cli/config.yml",
)  # fmt: skip

KEEPERS: Final = named("vault")
"""Programs that keep secrets for people and tell them one by one."""


@asked
def reads_key(command: Command, _roots: Roots) -> bool:
    return any(
        plain(path, command.cwd).endswith(KEYS) and not path.endswith(".pub")
        for path in command.reads
    )


@asked
def is_shown(command: Command, _roots: Roots) -> bool:
    """Whether what a command prints is seen, and no program, variable or file takes it."""
    return not command.taken and not any(op[:1] == ">" for op, _ in command.opens)


@asked
def repeats_secret(command: Command, roots: Roots) -> bool:
    """Whether a program prints what one that keeps secrets has told it."""
    texts = [command.given, *command.argv[1:]]
    origins = [set(origin_of(text)) for text in texts if isinstance(text, Open)]
    told = any(SOURCE in origin and not KEEPERS.isdisjoint(origin) for origin in origins)
    return told and is_shown(command, roots)
