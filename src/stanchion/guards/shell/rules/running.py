"""Running: code that comes from elsewhere or hides what it is, and shells that others can reach."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import WORDS, Roots
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import named
from stanchion.readings.shell.partly_known import OpenText, origin_of
from stanchion.readings.word_lists import listed

FETCHERS: Final = named("fetches")
HIDERS: Final = named("hides")
SHELL_NAMES: Final = WORDS["shell names"]


_BEGINS: Final = regex(r"(?:^|[;&|\n(])\s*\$\(")
"""Where the unknown part of a text stands in the place of a command."""


INSTALLS: Final = listed("i install add tool sync /i /package pip")
_ADDRESS: Final = regex(
    r"(?<![\w.-])(?:git\+)?(?:https?|git|ssh)://(?:[^/@\s]*@)?(?!(?:[\w-]+\.)*(?:github\.com|"
    r"gitlab\.com|bitbucket\.org|"
    r"codeberg\.org|pypi\.org|npmjs\.(?:org|com)|yarnpkg\.com|rubygems\.org|pythonhosted\.org|"
    r"pytorch\.org|anaconda\.org|"
    r"githubusercontent\.com|crates\.io|127\.0\.0\.1|localhost|example\.(?:com|org|net))[:/]?)"
    r"[\w.-]+\.\w"
)
"""An address that is neither a forge's nor a registry's nor this host's."""


HOSTS: Final = WORDS["hosts"]
"""Hosts of projects and providers that clusters are run with, and this one."""
FORGES: Final = WORDS["forges"]
"""Hosts of which the first part of a path says whose it is."""
GIT: Final = FORGES | WORDS["git"]
"""Hosts where repositories are kept."""
OWNERS: Final = WORDS["owners"]
"""Whose repositories, charts and images these are."""


def _texts(command: Command) -> list[str]:
    texts = [word for word in command.argv[1:] if isinstance(word, OpenText)]
    return [*texts, *([command.given] if isinstance(command.given, OpenText) else [])]


def _runs_input(command: Command) -> bool:
    """Whether a shell or an interpreter takes what it reads as its program."""
    if "script" in command.marks:
        return True
    operands = [
        word
        for word in command.operands
        if word not in ("-", "/dev/stdin") and not word.startswith("/dev/fd/")
    ]
    return (
        not operands
        or any(isinstance(word, OpenText) for word in command.argv[1:])
        or bool(command.flags & {"-s"})
    )


def _comes_from(command: Command, programs: frozenset[str]) -> bool:
    """Whether what runs as a program was made by one of these."""
    for text in _texts(command):
        origin = origin_of(text)
        if programs.intersection(origin) and ("pieces" in origin or _BEGINS.search(text)):
            return _runs_input(command)
    return False


@asked
def named_by_hidden(command: Command, _roots: Roots) -> bool:
    if not command.argv:
        return False
    first = command.argv[0]
    return (
        isinstance(first, OpenText)
        and first.startswith("$")
        and bool((FETCHERS | HIDERS) & set(first.origin))
    )


@asked
def masked(command: Command, _roots: Roots) -> bool:
    """A command whose name is put together of pieces that no plain text has."""
    first = command.argv[0] if command.argv else ""
    return isinstance(first, OpenText) and first.startswith("$_") and not first.strip("$_ ")


@asked
def remote_shell(command: Command, _roots: Roots) -> bool:
    given = {
        value
        for flag, value in command.sorted.values
        if flag in ("-e", "-c", "--exec", "--sh-exec")
    }
    return any(value.rpartition("/")[2].split(" ")[0] in SHELL_NAMES for value in given)


@asked
def lets_in(command: Command, _roots: Roots) -> bool:
    """Whether a port is opened on another host for everybody, or leads to the way in."""
    given = [value for flag, value in command.sorted.values if flag == "-R"]
    return any(
        value.startswith(("0.0.0.0:", "*:", ":")) or value.endswith(":22") for value in given
    )


@asked
def from_address(command: Command, _roots: Roots) -> bool:
    """Whether a package comes from a host that is no forge and no registry that everybody uses."""
    if INSTALLS.isdisjoint([word.lower() for word in command.argv[1:5]]) and command.name not in (
        "npx",
        "bunx",
    ):
        return False
    return any(_ADDRESS.search(word) is not None for word in command.argv[1:])


@asked
def escapes(command: Command, _roots: Roots) -> bool:
    """Whether a shell that nobody gives a text is started from inside another program."""
    if command.name not in SHELL_NAMES or command.given is not None or command.opens:
        return False
    return not command.operands and not command.flags - {"-i", "-p", "-l"}


_NAMED: Final = regex(
    r"(?:[a-z][a-z0-9+.-]*://)(?:[^/@\s]*@)?([\w.-]+)(?::\d+)?(?:/([\w.-]*))?|[\w.-]+@([\w.-]+):([\w.-]*)"
)


def _strange(word: str, git: bool) -> bool:
    found = _NAMED.search(word.lower())
    if found is None:
        return False
    host, owner = found[1] or found[3], found[2] or found[4]
    if any(host == one or host.endswith(f".{one}") for one in HOSTS):
        return False
    if git and (host in GIT or host.startswith(("gitlab.", "github.", "bitbucket.", "gitea."))):
        return False
    if host.endswith(".github.io"):
        return host.removesuffix(".github.io") not in OWNERS
    return not (host in FORGES and owner in OWNERS)


CHECKS.update(
    {
        "fetched": lambda command, _: _comes_from(command, FETCHERS),
        "hidden": lambda command, _: (
            _comes_from(command, HIDERS) and not _comes_from(command, FETCHERS)
        ),
        "socket": lambda command, _: (
            command.name in SHELL_NAMES
            and any(path.startswith(("/dev/tcp/", "/dev/udp/")) for _, path in command.opens)
        ),
        "piped_to_host": lambda command, _: bool(
            {"sh", "bash", "dash", "zsh"} & set(command.origin)
        ),
        "is_not_known": lambda command, _: not command.known,
        # Whether a command names an address of nobody whom many people rely on; git knows every
        # host that keeps repositories.
        "is_strangers": lambda command, _: any(
            _strange(word, command.name == "git") for word in command.argv[1:]
        ),
        "starts_from_address": lambda command, _: any(
            _ADDRESS.match(word) is not None for word in command.operands
        ),
        "runs_encoded": lambda command, _: any(
            word.lower() in ("-enc", "-encodedcommand", "-e", "-ec") and len(text) > 32
            for word, text in pairwise(command.argv)
        ),
    }
)
