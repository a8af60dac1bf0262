"""Places: which part of a machine a path leads to, and where secrets are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.made import WORDS, is_made
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import is_remote
from stanchion.readings.shell.secret_sources import SOURCE
from stanchion.readings.word_lists import in_order

TRACES: Final = WORDS["traces"]

SYSTEM: Final = tuple(WORDS["folders of a system"])
CORE: Final = in_order("/bin /boot /dev /etc /lib /lib32 /lib64 /sbin /sys /usr /proc /System")
"""Folders of the system itself: a single file of these matters."""
HOMES: Final = ("/home", "/Users", "/root", "~")
TEMPORARY: Final = in_order("/tmp /var/tmp /dev/shm /private/tmp $TMPDIR $TMP $TEMP /var/folders")
SHARED: Final = frozenset({"/tmp", "/var/tmp", "/dev/shm", "/private/tmp"})
"""Those of them in which other programs keep their files and sockets, too."""
HIDDEN: Final = ("/tmp/.*", "/tmp/.[", "/tmp/.?", "/var/tmp/.*")
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

    absolute: tuple[str, ...]
    here: bool
    own: OwnPlaces = NOWHERE


def roots_of(given: tuple[str, ...], own: OwnPlaces = NOWHERE) -> Roots:
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
def _insides(folders: tuple[str, ...]) -> tuple[str, ...]:
    """How everything in the folders begins."""
    return tuple([f"{folder}/" for folder in folders])


def under(path: str, folders: tuple[str, ...]) -> str:
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


PUBLIC: Final = (
    ".pub", ".example", ".sample", ".template", ".dist", ".tmpl", ".crt", ".md", ".ssh/config",
    ".ssh/known_hosts", ".ssh/authorized_keys",
)  # fmt: skip
"""How the names of files end that tell no secret."""

FOLDERS: Final = "|".join(sorted(WORDS["secret folders"]))
"""Folders that are secret as a whole: of keys, of tools and clouds, of browsers, of money."""

FILES: Final = "|".join(sorted(WORDS["secret files"]))
"""Files: keys, stores of keys, what tools keep, settings with secrets, histories, what the system
keeps, browsers'."""

_SECRET: Final = regex(rf"(?:^|[/@=:])(?:(?:{FOLDERS})(?:/.*)?|{FILES})$")


def is_secret(path: str) -> bool:
    """Whether a path is where keys, passwords or traces of people are usually kept."""
    if path == SOURCE[1:]:
        return True
    low = path.lower().replace("\\", "/").rstrip("/")
    return not low.endswith(PUBLIC) and _SECRET.search(low) is not None
