"""Places of commands, and what was made there before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.paths.place import PathPlace, place_of as led_to
from stanchion.readings.shell.command import Command, is_remote
from stanchion.readings.shell.partly_known import OpenText, origin_of
from stanchion.readings.shell.secret_sources import SOURCE
from stanchion.readings.word_lists import Strings, in_order, listed, sections

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
SYSTEM_FOLDERS: Final = in_order("/var/cache/ /var/lib/apt/lists/ /var/lib/dnf/ /var/tmp/")
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
    if path.startswith(SYSTEM_FOLDERS):
        return path not in SYSTEM_FOLDERS
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
_HOSTS: Final = listed("-h --host --hostname -H -u --uri --url -a --address")
NAMING: Final = in_order("ENV URL MODULE CONFIG PROFILE")
"""How variables end that name an environment or a database."""
_EXPORTS: Final = listed("export declare typeset setenv")
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


def is_own_repository(command: Command, commands: Sequence[Command], roots: Roots) -> bool:
    """Whether a command of git works in a repository that the same text made in a temporary folder,
    of nothing that lies elsewhere, and that knows of no other."""
    folder = plain(dict(command.sorted.values).get("-C", "."), command.cwd)
    git = [one for one in commands if one.name == "git"]
    made = [
        (path, one.cwd) for one in git if one.operands[:1] in MAKES for path in one.operands[1:]
    ]
    elsewhere = [one for one in git if one.operands[:1] == ("remote",)]
    addresses = [word for word in command.operands if "://" in word or "@" in word]
    return not (elsewhere or addresses) and (
        folder in [plain(*one) for one in made]
        and all(place_of(*one, roots) == "temporary" for one in made)
    )


MAKES: Final = (("init",), ("clone",))
CONTAINERS: Final = listed("docker podman nerdctl")
ENDING: Final = listed("rm kill stop")
CLIENTS: Final = CONTAINERS | listed(
    "curl http https xh wget docker-compose podman-compose kubectl oc helm"
)
"""Programs by which a service is asked to delete something that may be scratch by its name."""


def is_chosen(command: Command, commands: Sequence[Command]) -> bool:
    """Whether a command ends containers that the same text started, or that were chosen by a label
    or a name of tests, as tests start them."""
    if command.name not in CONTAINERS or not ENDING.issuperset(command.operands[:1]):
        return False
    unknown = [word for word in command.argv[2:] if isinstance(word, OpenText)]
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


TRACES: Final = WORDS["traces"]

SYSTEM: Final = tuple(WORDS["folders of a system"])
CORE: Final = in_order("/bin /boot /dev /etc /lib /lib32 /lib64 /sbin /sys /usr /proc /System")
"""Folders of the system itself: a single file of these matters."""
HOMES: Final = in_order("/home /Users /root ~")
TEMPORARY: Final = in_order("/tmp /var/tmp /dev/shm /private/tmp $TMPDIR $TMP $TEMP /var/folders")
SHARED: Final = listed("/tmp /var/tmp /dev/shm /private/tmp")
"""Those of them in which other programs keep their files and sockets, too."""
HIDDEN: Final = in_order("/tmp/.* /tmp/.[ /tmp/.? /var/tmp/.*")
MADE_FOR_ONCE: Final = in_order("$TMP /tmp $(mktemp…) $env:TEMP/ $env:TMP/ %TEMP%/ %TMP%/")
"""How a path begins that leads into such a folder, or to one that `mktemp` has just made."""
DISKS: Final = tuple(WORDS["disks"])


STANDS_FOR: Final = (
    ("$HOME", "~"), ("${HOME}", "~"), ("%USERPROFILE%", "~"), ("$PWD", "."), ("$(pwd)", "."),
    ("$(pwd…)", "."),
)  # fmt: skip
"""What stands before a path for a home, and for where one is."""
_RELATIVE: Final = regex(r"(?s)(?![/~$]|.:)")
_ALL_IN: Final = regex(r"/\*\*?\Z")
_SHORTEST: Final = regex(r"(?!\.)(?:[^/]|/(?=[^/.]))+")
"""A path in which nothing is left to carry out."""


class Roots(NamedTuple):
    """Folders in which a run may delete: absolute ones, and whether the working directory is one;
    and where the shield keeps what is its own."""

    absolute: Strings
    here: bool
    own: OwnPlaces = NOWHERE


def roots_of(given: Strings, own: OwnPlaces = NOWHERE) -> Roots:
    """The folders as they are compared."""
    plain = [path.rstrip("/") for path in given]
    absolute = [path for path in plain if path.startswith(("/", "~", "$"))]
    return Roots(tuple(absolute), "." in plain or "" in plain, own)


def plain(path: str, cwd: str = "") -> str:
    """A path as it is compared: home is `~`, `.` and `..` are carried out, a relative one stands
    behind `cwd`."""
    for name, stands in STANDS_FOR if path[:1] in ("$", "%") else ():
        if path.startswith(name):
            path = stands + path[len(name) :]
    path = path.replace("\\", "/")
    if cwd and _RELATIVE.match(path) is not None:
        path = f"{plain(cwd)}/{path}"
    if _SHORTEST.fullmatch(path) is not None:
        return path
    lead = "/" * path.startswith("/")
    kept: list[str] = []
    for piece in path.split("/"):
        if piece in ("", "."):
            continue
        if piece == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif piece != ".." or not lead:
            kept.append(piece)
    return lead + "/".join(kept) or "."


@lru_cache(64)
def _insides(folders: Strings) -> Strings:
    """How everything in the folders begins."""
    return tuple([f"{folder}/" for folder in folders])


def under(path: str, folders: Strings) -> str:
    """The folder that a path is in or is; empty where it is in none."""
    if not f"{path}/".startswith(_insides(folders)):
        return ""
    for folder in folders:
        if path == folder or path.startswith(folder + "/"):
            return folder
    return ""


def place_of(path: str, cwd: str, roots: Roots) -> str:
    """What a path stands for.

    `root`, `home`, `system`, `core` (a folder or file of the system itself), `disk`; `own` (in the
    folders of the run), `temporary`, and `shared` (everything in a temporary folder that others
    use, too); `made` (a build or a program makes it again); `all` (everything in the folder of the
    run); `outside` of it; `open` (begins with something that is not known).
    """
    where = plain(path, cwd)
    bare = _ALL_IN.sub("", where)
    return next((place for place, asks in PLACES if asks(where, bare, roots)), "own")


PLACES: Final[tuple[tuple[str, Callable[[str, str, Roots], object]], ...]] = (
    ("disk", lambda where, *_: where.startswith(DISKS)),
    ("root", lambda where, bare, _: bare in ("", "/") or where == "/.*"),
    ("home", lambda where, bare, _: where[0] == "~" and "/" not in bare),
    ("all", lambda where, bare, roots: under(where, roots.absolute) == bare),
    ("own", lambda where, _, roots: under(where, roots.absolute)),
    ("shared", lambda where, bare, _: bare in SHARED or where.startswith(HIDDEN)),
    ("temporary", lambda where, *_: under(where, TEMPORARY) or where.startswith(MADE_FOR_ONCE)),
    ("made", lambda where, *_: is_made(where)),
    ("home", lambda where, bare, _: under(where, HOMES[:2]) and bare.count("/") <= 2),
    ("outside", lambda where, *_: under(where, HOMES)),
    ("core", lambda where, *_: under(where, CORE)),
    ("system", lambda where, *_: under(where, SYSTEM)),
    ("open", lambda where, *_: where.startswith("$")),
    ("outside", lambda where, *_: where == ".." or where.startswith(("/", "../"))),
    ("outside", lambda where, _, roots: where[1:2] == ":" or not roots.here),
    ("all", lambda where, *_: where in (".", "*", "**", ".*", "./**", "{}")),
)
"""What each place is known by, in the order in which it is asked; what is none of them is the
run's own."""


KNOWN_PATHS: Final[dict[str, Callable[[str, str], bool]]] = {
    "traces": lambda path, _: any(mark in path for mark in TRACES),
    "secret": lambda path, cwd: is_secret(plain(path, cwd)),
    "remote": lambda path, _: is_remote(path),
}
"""What else a row may ask of a path: whether it is a history or a log, is where secrets are, or is
on another host."""
NAMED: Final = frozenset([*[place for place, _ in PLACES], *KNOWN_PATHS])


def is_at(places: frozenset[str], path: str, cwd: str, roots: Roots) -> bool:
    """Whether a path stands for one of some places, or is one of these kinds."""
    asked = [ask for name, ask in KNOWN_PATHS.items() if name in places]
    return place_of(path, cwd, roots) in places or any(ask(path, cwd) for ask in asked)


PUBLIC: Final = in_order(
    ".pub .example .sample .template .dist .tmpl .crt .md .ssh/config .ssh/known_hosts "
    ".ssh/authorized_keys"
)  # fmt: skip
"""How the names of files end that tell no secret."""

FOLDERS: Final = "|".join(sorted(WORDS["secret folders"]))
"""Folders that are secret as a whole: of keys, of tools and clouds, of browsers, of money."""

FILES: Final = "|".join(sorted(WORDS["secret files"]))
"""Files: keys, stores of keys, what tools keep, settings with secrets, histories, what the system
keeps, browsers'."""

_SECRET: Final = regex(rf"(?:^|[/@=:])(?:(?:{FOLDERS})(?:/.*)?|{FILES})$")


class KeyPlace(NamedTuple):
    """Where a key or a store of credentials is: in any folder (`**`), a home (`~`) or the top."""

    below: str
    parts: Strings


KEYS: Final = [
    KeyPlace(below, tuple(rest.split("/")))
    for below, _, rest in [key.partition("/") for key in sorted(WORDS["keys"])]
]
KEY_SIGNS: Final = regex(
    "|".join(
        [
            r"(?i)[*?\[]",
            *sorted({re.escape(max(key.parts, key=len)).replace(r"\?", ".") for key in KEYS}),
        ]
    )
)
"""What stands in every path that leads to a key: wildcards, or the longest of a key's names."""
_SET: Final = regex(r"\[[^\]/]+\]")
"""A set of characters, one of which stands there."""
HOME_FOLDERS: Final = (("root",), ("var", "root"), ("home", "*"), ("users", "*"))


@lru_cache(512)
def is_key(path: str) -> bool:
    """Whether a path, or one that its wildcards may stand for, leads to a key, a store of
    credentials or the memory of a process."""
    place = led_to(_SET.sub("?", path)).folded
    return not path.endswith(".pub") and any(
        _meet(place.parts[-len(key.parts) :], key.parts) and _is_below(place, key) for key in KEYS
    )


def _is_below(place: PathPlace, key: KeyPlace) -> bool:
    """Whether what stands before a key is where such keys are; where wildcards name it, it is one
    that a home has behind a dot."""
    before = place.parts[: -len(key.parts)]
    if not key.below:
        return place.root == "/" and not before
    if key.below == "**" and not any(map(is_glob, place.parts[-len(key.parts) :])):
        return bool(before or place.root or place.up)
    if key.below == "**" and key.parts[0][0] != ".":
        return False
    if place.root == "/":
        return any(_meet(before, home) for home in HOME_FOLDERS)
    return not before and (place.root[:1] == "~" or place.up > 0)


def _meet(names: Strings, wanted: Strings) -> bool:
    """Whether one path fits both globs, name by name; as shells have it, no wildcard stands for the
    dot at the beginning of a name."""
    return len(names) == len(wanted) and all(
        glob(mine, name) or (glob(name, mine) and (mine[0] != "." or name[0] == "."))
        for name, mine in zip(names, wanted, strict=True)
    )


def is_secret(path: str) -> bool:
    """Whether a path is where keys, passwords or traces of people are usually kept."""
    if path == SOURCE[1:]:
        return True
    low = path.lower().replace("\\", "/").rstrip("/")
    if low.endswith(PUBLIC):
        return False
    return _SECRET.search(low) is not None or (is_glob(low) and is_key(low))
