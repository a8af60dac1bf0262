"""Destruction: files, disks and whole systems that would be lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import NOT, WORDS, Roots, place_of
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command, find_deletes, find_roots
from stanchion.readings.word_lists import listed

LOST: Final = listed("root home system core disk")
_PUT_ASIDE: Final = regex(r"\.(?:gz|bz2|xz|zst|old|\d+|\[0-9\]\*?)\Z")
"""How the name of a log ends that was put aside."""
RECURSIVE: Final = listed("-r -R --recursive -rf -Rf /s -recurse -Recurse")


ALWAYS_RECURSIVE: Final = listed("rimraf del-cli")


def _places(command: Command, roots: Roots, paths: tuple[str, ...] | list[str]) -> set[str]:
    return {place_of(path, command.cwd, roots) for path in paths}


@asked
def deletes_lost(command: Command, roots: Roots) -> bool:
    places = _places(command, roots, command.operands)
    if any(
        path.endswith("*") and place_of(path, command.cwd, roots) == "home"
        for path in command.operands
    ):
        return True
    if command.flags & RECURSIVE or command.name in ALWAYS_RECURSIVE:
        return bool(places & LOST)
    many = [path for path in command.operands if "/*" in f"/{path.rpartition('/')[2]}"]
    return bool(places & {"root", "core", "disk"}) or bool(_places(command, roots, many) & LOST)


def _seeks_old_logs(command: Command) -> bool:
    """Whether a search asks for logs that were put aside long ago, by their name and their age."""
    words = command.argv
    names = [word for before, word in pairwise(words) if before in ("-name", "-iname")]
    aged = any(
        before in ("-mtime", "-mmin", "-ctime") and word[:1] == "+"
        for before, word in pairwise(words)
    )
    below = all(root.startswith("/var/log/") for root in find_roots(words))
    return aged and below and bool(names) and all(_PUT_ASIDE.search(name) for name in names)


def _finds_widely(command: Command) -> bool:
    """Whether a search asks for nothing besides where something is."""
    return not any(word in NARROWS and before not in NOT for before, word in pairwise(command.argv))


NARROWS: Final = WORDS["what a search asks for besides where something is"]
"""What a search asks for besides where something is."""


@asked
def whole_drive(command: Command, roots: Roots) -> bool:
    paths = [path.replace("\\", "/").rstrip("*.").rstrip("/") for path in command.operands]
    return any(path[1:2] == ":" and path.count("/") < 2 for path in paths)


CHECKS.update(
    {
        "deletes_listed": lambda command, _: (
            bool(command.flags & RECURSIVE) and (not command.operands or "$(…)" in command.operands)
        ),
        "found": lambda command, _: "find -exec" in command.via,
        "deletes_finds": lambda command, _: find_deletes(command.argv),
        "deletes_all_finds": lambda command, _: (
            find_deletes(command.argv) and _finds_widely(command)
        ),
        "deletes_more_than_old_logs": lambda command, _: (
            find_deletes(command.argv) and not _seeks_old_logs(command)
        ),
        "has_target": lambda command, _: len(command.operands) > 1,
    }
)
