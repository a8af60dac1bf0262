"""Covering: copies and archives that take, or fill, a folder in which something of ours is, without
naming it."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import OwnPlaces
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.usual import USUAL, seen_from
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import listed

COPIES: Final = listed("cp rsync scp ditto robocopy xcopy rclone")
SEARCHES: Final = listed("grep egrep fgrep zgrep rg ag ack ugrep")
RECURSIVE: Final = frozenset(
    {"-r", "-R", "-a", "--recursive", "--archive", "--dereference-recursive"}
)
BY_THEMSELVES: Final = listed("rg ag ack rsync ditto rclone robocopy")
"""Programs that go into folders without being told."""
UNPACKS: Final = listed("tar bsdtar gtar unzip 7z 7za 7zz unar unrar cpio pax")
INTO: Final = ("-C", "--directory", "-d", "-o")
PACKS: Final = listed("tar bsdtar gtar zip 7z 7za 7zz rar pax")


def covers(command: Command, roots: Roots) -> bool:
    """Whether a command takes or fills whole folders, one of which holds what we keep, and its
    words do not tell what of it."""
    if command.cwd == "container:":
        return False
    filled = any(_is_filled(path, command.cwd, roots.own) for path in _fills(command))
    return filled or any(_is_held(path, command.cwd, roots.own) for path in _takes(command))


def _is_filled(path: str, cwd: str, own: OwnPlaces) -> bool:
    return own.is_around(path, cwd) or USUAL.is_around(seen_from(path, cwd))


def _is_held(path: str, cwd: str, own: OwnPlaces) -> bool:
    return own.holds(path, cwd) or USUAL.holds(seen_from(path, cwd))


def _fills(command: Command) -> list[str]:
    """Folders into which something is put that the words do not name."""
    name, operands = command.name, command.operands
    if (name == "mv" or (name in COPIES and _goes_deep(command))) and len(operands) > 1:
        into = dict(command.sorted.values).get("-t", operands[-1])
        instead = not command.flags.isdisjoint({"-T", "--no-target-directory"})
        return [into] if instead or any(_is_all(each) for each in operands[:-1]) else []
    if name not in UNPACKS or _packs(command):
        return []
    found = _folders(command)
    return found if found else ["."]


def _takes(command: Command) -> list[str]:
    """Folders of which everything is read."""
    name, operands = command.name, command.operands
    if name in COPIES and _goes_deep(command):
        return list(operands[:-1])
    if name in SEARCHES and _goes_deep(command):
        return list(operands if command.flags & {"-e", "-f"} else operands[1:])
    if name not in PACKS or not _packs(command):
        return []
    base = next(iter(_folders(command)), "")
    return [_below(base, each) for each in (*operands, *_values(command, INTO))]


def _goes_deep(command: Command) -> bool:
    return command.name in BY_THEMSELVES or not command.flags.isdisjoint(RECURSIVE)


def _is_all(path: str) -> bool:
    """Whether a source stands for what is in a folder rather than for itself."""
    return path.endswith(("/", "/.", "*")) or path in (".", "..") or path[:1] == "$"


def _packs(command: Command) -> bool:
    first = command.argv[1] if len(command.argv) > 1 else ""
    if command.name in ("zip", "rar"):
        return True
    if command.name.startswith("7z"):
        return first in ("a", "u")
    flags = command.flags
    return bool(flags & {"-c", "--create", "-r", "-u", "-w"}) or (
        first[:1] != "-" and "c" in first and "/" not in first
    )


def _folders(command: Command) -> list[str]:
    """The folders that an archiver is sent to, by options that have them beside or in the same
    word."""
    found = _values(command, INTO)
    return found + [
        word[2:]
        for word in command.argv[1:]
        if word[:2] == "-o" and len(word) > 2 and "7z" in command.name
    ]


def _values(command: Command, options: tuple[str, ...]) -> list[str]:
    argv = command.argv
    beside = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word in options]
    joined = [word.partition("=")[2] for word in argv if word.startswith("--directory=")]
    return beside + joined + [word[2:] for word in argv[1:] if word[:2] == "-C" and len(word) > 2]


def _below(base: str, path: str) -> str:
    return path if not base or path[:1] in ("/", "~", "$") or path == base else f"{base}/{path}"
