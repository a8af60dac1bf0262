"""Scratch: databases and services of tests and development on this host, which the next run makes
again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import listed

_SCRATCH: Final = regex(
    r"(?i)(?<![a-z])(?:tests?|testing|dev|development|scratch|sandbox|e2e|fixtures?|te?mp|"
    r"preview|minikube|kind(?=-)|k3d|docker-desktop|localstack)(?![a-z])|:memory:"
)
"""What a database or an environment is called that nobody relies on."""
_SHARED: Final = regex(r"(?i)(?<![a-z])(?:prod|production|live|staging|stage|shared)(?![a-z])")
_ADDRESS: Final = regex(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^/:?\s]*)")
_NAMED: Final = regex(r"name=(\S+)")
_LOCAL: Final = frozenset(
    {"", "localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0", "host.docker.internal"}
)
_HOSTS: Final = frozenset(
    {"-h", "--host", "--hostname", "-H", "-u", "--uri", "--url", "-a", "--address"}
)
NAMING: Final = ("ENV", "URL", "MODULE", "CONFIG", "PROFILE")
"""How variables end that name an environment or a database."""
_EXPORTS: Final = frozenset({"export", "declare", "typeset", "setenv"})
_HERE: Final = listed(
    "bash command docker env exec nice nohup podman sh sudo time timeout zsh npx bunx pnpx bundle "
    "uv poetry pipenv pdm hatch rye pixi npm pnpm yarn bun python python3 php ruby node"
)
"""What starts a program on this host."""


def is_scratch(command: Command, commands: Sequence[Command]) -> bool:
    """Whether all that a command is about is on this host and is called a test's or
    development's."""
    words = [
        *command.argv[1:],
        *[value for name, value in command.settings if name.upper().endswith(NAMING)],
    ]
    known = [word.partition("$")[0] for word in words]
    if any(_SHARED.search(word) for word in words) or not any(
        _SCRATCH.search(word) for word in known
    ):
        return False
    hosts = [found[1] for word in words for found in _ADDRESS.finditer(word)]
    hosts += [
        value for flag, value in command.sorted.values if flag in ("-h", "--host", "--hostname")
    ]
    settings = [
        *command.settings,
        *[setting for one in commands if one.name in _EXPORTS for setting in one.settings],
    ]
    hosts += [value for name, value in settings if name.upper().endswith(("HOST", "HOSTADDR"))]
    named = [word for before, word in pairwise(words) if before in _HOSTS]
    if any(word.startswith("$") for word in named) or not all(
        way.split()[0] in _HERE for way in command.via
    ):
        return False
    return all(host in _LOCAL for host in hosts)


CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
ENDING: Final = listed("rm kill stop")
CLIENTS: Final = CONTAINERS | listed(
    "curl http https xh wget docker-compose podman-compose kubectl oc helm tool:"
)
"""Programs by which a service is asked to delete something that may be scratch by its name."""


def is_chosen(command: Command, commands: Sequence[Command]) -> bool:
    """Whether a command ends containers that the same text started, or that were chosen by a label
    or a name of tests, as tests start them."""
    if command.name not in CONTAINERS or not ENDING.issuperset(command.operands[:1]):
        return False
    unknown = [word for word in command.argv[2:] if isinstance(word, Open)]
    if not unknown or len(command.operands) > 2:
        return False
    if any(not CONTAINERS.issuperset(word.origin) for word in unknown):
        return False
    lists = [one for one in commands if one.name in CONTAINERS and one.operands[:1] == ("ps",)]
    return all(_of_tests(one.line) for one in lists)


def _of_tests(line: str) -> bool:
    """Whether a list of containers is narrowed to those with a label, or with a name of tests."""
    if _SHARED.search(line):
        return False
    return "label=" in line or any(_SCRATCH.search(name) for name in _NAMED.findall(line))
