"""Destruction: files, disks and whole systems that would be lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.made import NOT
from stanchion.guards.shell.places import DISKS, WORDS, Roots, place_of
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command, find_deletes, find_roots
from stanchion.readings.shell.partly_known import origin_of

ACCOUNTS: Final = ("/etc/passwd", "/etc/shadow", "/etc/hosts", "/etc/fstab", "/etc/sudoers")
PROGRAMS: Final = ("/boot/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/lib/")
LOST: Final = frozenset({"root", "home", "system", "core", "disk"})
_PUT_ASIDE: Final = regex(r"\.(?:gz|bz2|xz|zst|old|\d+|\[0-9\]\*?)\Z")
"""How the name of a log ends that was put aside."""
RECURSIVE: Final = frozenset(
    {"-r", "-R", "--recursive", "-rf", "-Rf", "/s", "-recurse", "-Recurse"}
)


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
    if command.flags & RECURSIVE:
        return bool(places & LOST)
    many = [path for path in command.operands if "/*" in f"/{path.rpartition('/')[2]}"]
    return bool(places & {"root", "core", "disk"}) or bool(_places(command, roots, many) & LOST)


@asked
def unpacks_over(command: Command, roots: Roots) -> bool:
    """Whether what is in an archive goes over everything, or over a home."""
    return bool(_places(command, roots, command.writes) & {"root", "home"})


@asked
def deletes_shared(command: Command, roots: Roots) -> bool:
    """Whether everything in a folder goes in which other programs keep their files and sockets,
    too."""
    if not command.flags & RECURSIVE and not any("*" in path for path in command.operands):
        return False
    return "shared" in _places(command, roots, command.operands)


@asked
def finds_shared(command: Command, roots: Roots) -> bool:
    narrow = any(word in NARROWS for word in command.argv)
    return (
        find_deletes(command.argv)
        and not narrow
        and "shared" in _places(command, roots, find_roots(command.argv))
    )


@asked
def deletes_found(command: Command, roots: Roots) -> bool:
    """Whether what is deleted was listed in a folder of the system or a home."""
    words = (*command.operands, command.given) if "cmdlet" in command.marks else command.operands
    listed = [each[1:] for word in words for each in origin_of(word) if each.startswith("<")]
    return bool(_places(command, roots, listed) & {"root", "home", "core", "system"})


@asked
def moves_lost(command: Command, roots: Roots) -> bool:
    sources = command.deletes
    return (
        bool(_places(command, roots, sources) & {"root", "home", "core", "disk"})
        or "/dev/null" in command.writes
    )


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


@asked
def find_lost(command: Command, roots: Roots) -> bool:
    if _seeks_old_logs(command):
        return False
    return find_deletes(command.argv) and bool(
        _places(command, roots, find_roots(command.argv)) & LOST
    )


@asked
def found_outside(command: Command, roots: Roots) -> bool:
    found = [path for path in command.operands if path.endswith("/**")]
    return "find -exec" in command.via and bool(
        _places(command, roots, found) & {"outside", "open"}
    )


@asked
def find_here(command: Command, roots: Roots) -> bool:
    narrows = any(word in NARROWS and before not in NOT for before, word in pairwise(command.argv))
    places = _places(command, roots, find_roots(command.argv))
    return find_deletes(command.argv) and (
        bool(places & {"outside", "open"}) or ("all" in places and not narrows)
    )


@asked
def onto_disk(command: Command, _roots: Roots) -> bool:
    named = command.operands if command.name in ("shred", "tee") else ()
    return any(path.startswith(DISKS) for path in (*command.writes, *named))


@asked
def opens_core(command: Command, roots: Roots) -> bool:
    return any(
        not path.startswith("/dev/")
        and path.startswith((*ACCOUNTS, *PROGRAMS))
        and place_of(path, command.cwd, roots) == "core"
        for path in command.emptied
    )


@asked
def mirrors_over(command: Command, roots: Roots) -> bool:
    last = command.operands[-1:]
    deletes = any(flag.startswith(("--delete", "--remove-source")) for flag in command.flags)
    return deletes and bool(_places(command, roots, last) & LOST)


@asked
def mirrors(command: Command, roots: Roots) -> bool:
    if (
        _places(command, roots, command.operands[-1:]) <= {"temporary", "made"}
        and "--remove" not in command.line
    ):
        return False
    deletes = any(flag.startswith(("--del", "--remove-source")) for flag in command.flags)
    return (
        deletes
        and len(command.operands) > 1
        and not command.flags & {"-n", "--dry-run", "--list-only"}
    )


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
        "found_recursively": lambda command, _: (
            bool(command.flags & RECURSIVE) and "find -exec" in command.via
        ),
        "opens_disk": lambda command, roots: any(
            place_of(path, command.cwd, roots) == "disk" for op, path in command.opens if ">" in op
        ),
        "empties_home": lambda command, roots: any(
            path.endswith("*") and place_of(path, command.cwd, roots) in LOST
            for path in command.emptied
        ),
    }
)
