"""Surroundings: what a project lies among, which honest work reads, and where it puts what is not
to stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stanchion.guards._protected import Use
from stanchion.guards.files.file_globs import Folders
from stanchion.guards.files.protected.classes import GATHERS
from stanchion.guards.files.protected.seat import SYSTEM, WINDOWS, WORDS, seat_of
from stanchion.kernel.regex import regex
from stanchion.readings.names import plain
from stanchion.readings.paths.place import PathPlace, inside, place_of
from stanchion.readings.paths.spelling import spelling
from stanchion.readings.paths.targets import PathTarget
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.word_lists import listed

HIGHEST: Final = 2
"""How many folders above its own a project's neighbours are."""
SHELVES: Final = listed("srv mnt data media volumes workspaces projects repos")
"""Folders at the top of a system in which projects stand side by side."""
NO_PROJECTS: Final = (
    WORDS["no projects"]
    | SYSTEM
    | WINDOWS
    | listed("root home users tmp mnt media private srv winnt")
)
"""Folders of a home, and those at the top of a system, that are no projects."""


def around(place: PathPlace, folder: Folders, use: Use) -> bool:
    """Whether a place outside may be used: folders for what is temporary, and caches; for reading
    what is installed, and the projects beside this one. What is protected has been refused
    before."""
    folded = place.folded
    if seat_of(folded).area in ("temporary", "cache"):
        return True
    if use != "read":
        return False
    if place.up:
        return place.up <= HIGHEST and _is_project(folded.parts)
    seat = seat_of(folded)
    if seat.area != "plain":
        return seat.area != "near" or _is_beside(folded, folder)
    return _is_beside(folded, folder)


def is_open(place: PathPlace, folder: Folders, use: Use) -> bool:
    """Whether a real place outside may be used without a question. What is installed, where it is
    not protected, is packages, which honest work mends, too. What is in no home may be read,
    because data and tasks lie anywhere; of a home other projects may, but no documents, and nothing
    in a home other than the run's own."""
    folded = place.folded
    seat = seat_of(folded)
    if use != "read" or seat.area != "plain":
        return seat.area in ("system", "libraries") or use == "read"
    home = folded.parts[: len(folded.parts) - len(seat.rest)]
    for one in folder.places:
        own = seat_of(one.folded)
        of_person = own.area == "plain" and own.rest
        if of_person and one.folded.parts[: len(one.parts) - len(own.rest)] != home:
            return False
    return _is_project(seat.rest)


def _is_project(parts: tuple[str, ...]) -> bool:
    first = parts[0] if parts else ""
    return bool(first) and first[0] not in ".$~" and first not in NO_PROJECTS


def _is_beside(place: PathPlace, folder: Folders) -> bool:
    """Whether a place is in a folder beside one of the run's."""
    for one in folder.places:
        above = one.folded.parts[:-1]
        beside = place.root == one.folded.root and place.parts[: len(above)] == above
        if one.root and above and beside:
            return _is_project(place.parts[len(above) :])
    return False


def elsewhere(place: PathPlace, base: str) -> PathPlace | None:
    """The project that a call says it stands in, where a place is certainly in another one."""
    if not place.root or place.root == "$":
        return None
    spelled = spelling(base)
    stands = place_of(spelled.lenient[-1] if spelled.lenient else spelled.text, lenient=True).folded
    folded = place.folded
    own = project_of(stands)
    if own is None or own.root != folded.root or inside(folded, own) or inside(own, folded):
        return None
    return own if seat_of(folded).area in ("plain", "near") else None


def project_of(place: PathPlace) -> PathPlace | None:
    """The folder of the project that a place is in, as wide as it may be; `None` where nobody
    knows."""
    seat = seat_of(place)
    if seat.area not in ("plain", "near") or not place.root or place.root == "$":
        return None
    if seat.area == "plain":
        at = len(place.parts) - len(seat.inner)
        while at < len(place.parts) and place.parts[at] in GATHERS:
            at += 1
    elif place.root == "/":
        at = 1 if place.parts[:1] and place.parts[0] in SHELVES else 0
    else:
        at = 1 if place.parts[:1] and place.parts[0] in GATHERS else 0
    return PathPlace(place.root, place.parts[: at + 1]) if at < len(place.parts) else None


_FILE: Final = regex(
    r"(?:~|\$HOME|\$\{HOME\}|/home/[^/]+|/Users/[^/]+|/root)/\.(?:bash_?|z|zsh)?(?:rc|profile|env)"
    r"\Z"
)
_FOLDER: Final = r"(?:~|\$HOME|\$\{HOME\}|/usr/local|/opt|/usr/lib)(?:/[\w.+@-]+)+"
_LINE: Final = regex(
    rf"\s*(?:#[^\n]*|(?:export\s+)?PATH=([\"']?)(?:{_FOLDER}:)*\$(?:PATH|\{{PATH\}})(?::{_FOLDER})"
    rf"*\1)?\s*"
)
OLD: Final = listed("oldstring oldstr oldtext")
NEW: Final = listed("newstring newstr newtext text content inserttext")


def adds_to_path(target: PathTarget, args: Mapping[str, Any]) -> bool:
    """Whether all that a call writes into a start-up file of a shell are folders added to the
    search path."""
    if target.use != "write" or _FILE.match(target.text) is None:
        return False
    commanded = target.base or "command" in args or "cmd" in args
    added = _by_command(target, args) if commanded else _by_edit(args)
    lines = added.split("\n")
    return "PATH" in added and all(_LINE.fullmatch(line) is not None for line in lines)


def _by_command(target: PathTarget, args: Mapping[str, Any]) -> str:
    """What a command appends to the file; nothing where it does more than append what is known."""
    text = args.get("command", args.get("cmd"))
    if not isinstance(text, str):
        return ""
    read = analysed(text)
    ways = [op for command in read.commands for op, path in command.opens if path == target.text]
    known = [str(held) for path, held in read.wrote if path == target.text]
    used = any(target.text in one.writes and not one.opens for one in read.commands)
    appends = ways and {*ways} == {">>"} and len(known) == len(ways)
    return "\n".join(known) if appends and not used else ""


def _by_edit(args: Mapping[str, Any]) -> str:
    """What an edit puts in place of what was there, without what stays."""
    given = {plain(key): value for key, value in args.items() if isinstance(value, str)}
    old = [line for key, value in given.items() if key in OLD for line in value.split("\n")]
    new = [line for key, value in given.items() if key in NEW for line in value.split("\n")]
    kept = all(line in new for line in old)
    return "\n".join([line for line in new if line not in old]) if old and kept else ""
