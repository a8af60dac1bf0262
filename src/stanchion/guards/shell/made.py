"""What is made again, and what tests make and drop: build folders and caches, by what their makers
call them, searches that find nothing else, and databases and services on this host."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open, origin_of
from stanchion.readings.word_lists import listed, sections

WORDS: Final = sections("stanchion.guards.shell", "words.txt")
"""Programs, files, hosts and owners that rules ask for, by the titles above them."""
BUILT: Final = WORDS["folders that are made again"]
"""Folders that a build, an installer or a test run makes, and makes again."""
_NAMED: Final = regex(
    r"[._]{0,2}[\w.-]*cache[sd]?_{0,2}|[\w.*-]+\.(?:egg-info|dsym|xcarchive|pyc|pyo|o|obj|class|"
    r"elc|swp|tmp|tsbuildinfo)"
    r"|cmake-build-[\w*-]+|bazel-(?:bin|out|testlogs)"
)
"""Other names of such things: whatever is called a cache, and what compilers leave."""
SYSTEM: Final = ("/var/cache/", "/var/lib/apt/lists/", "/var/lib/dnf/", "/var/tmp/")
"""Where package managers keep what they can fetch again."""
FINDERS: Final = listed("find gfind bfs fd fdfind")
NAMES: Final = listed("-name -iname -path -ipath -wholename -iwholename")
OR: Final = listed("-o -or ,")
VALUED: Final = listed(
    "-t --type -e --extension -d --max-depth --min-depth -E --exclude -S --size -o --owner"
)
"""Options of `fd` that have a value beside them."""
NOT: Final = listed("! -not")


def is_made(path: str) -> bool:
    """Whether a path, as it is compared, leads to something that is made again.

    Below the system only caches of its package managers are, in homes what is called a cache; in
    any other absolute folder nothing is, for what is called `dist` there may be what is served.
    """
    if path.startswith(SYSTEM):
        return path not in SYSTEM
    names = [name for name in path.lower().split("/") if name]
    if path.startswith(("~", "/root/", "/home/", "/Users/")):
        inside = names[2 if path.startswith(("/home/", "/Users/")) else 1 :]
        return any(
            _NAMED.fullmatch(name) is not None or name in ("deriveddata", "node_modules")
            for name in inside
        )
    return path[:1] != "/" and any(is_made_name(name) for name in names)


def is_made_name(name: str) -> bool:
    """Whether the name of a file or folder says that it is made again."""
    low = name.lower()
    return low in BUILT or _NAMED.fullmatch(low) is not None


def finds_only_made(command: Command, commands: Sequence[Command]) -> bool:
    """Whether all that a command is given was found by searches for what is made again."""
    if "find -exec" not in command.via:
        origins = {each for word in command.operands for each in origin_of(word)}
        programs = {each for each in origins if not each.startswith("<")}
        if not programs or not programs <= FINDERS:
            return False
        if any(not origin_of(word) and not is_made(word) for word in command.operands):
            return False
    searches = [one for one in commands if one.name in FINDERS]
    return bool(searches) and all(_seeks_made(one) for one in searches)


def _seeks_made(search: Command) -> bool:
    """Whether each way to be found asks for such a name."""
    words = search.argv[1:]
    stop = next(
        (
            at
            for at, word in enumerate(words)
            if word.startswith(("-exec", "-ok")) or word in ("-x", "-X")
        ),
        len(words),
    )
    words = words[:stop]
    if search.name in ("fd", "fdfind"):
        plain = [
            word
            for at, word in enumerate(words)
            if word[:1] != "-" and (not at or words[at - 1] not in VALUED)
        ]
        return bool(plain) and is_made_name(plain[0].strip("^$"))
    if not NOT.isdisjoint(words):
        return False
    branches: list[list[str]] = [[]]
    for at, word in enumerate(words):
        if word in OR:
            branches.append([])
        elif at and words[at - 1] in NAMES:
            branches[-1].append(word.rstrip("/*").rpartition("/")[2])
    return all(any(is_made_name(name) for name in branch) for branch in branches)


_SCRATCH: Final = regex(
    r"(?i)(?<![a-z])(?:tests?|testing|dev|development|scratch|sandbox|e2e|fixtures?|te?mp|"
    r"preview|minikube|kind(?=-)|k3d|docker-desktop|localstack)(?![a-z])|:memory:"
)
"""What a database or an environment is called that nobody relies on."""
_SHARED: Final = regex(r"(?i)(?<![a-z])(?:prod|production|live|staging|stage|shared)(?![a-z])")
_ADDRESS: Final = regex(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^/:?\s]*)")
_CHOSEN: Final = regex(r"name=(\S+)")
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
    return all(
        (
            not any(map(_SHARED.search, words)),
            any(_SCRATCH.search(word.partition("$")[0]) for word in words),
            not any(word.startswith("$") for word in named),
            all(way.split()[0] in _HERE for way in command.via),
            _LOCAL.issuperset(hosts),
        )
    )


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
    return "label=" in line or any(_SCRATCH.search(name) for name in _CHOSEN.findall(line))
