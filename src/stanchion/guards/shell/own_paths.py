"""Own paths: whether a command uses, changes or moves what Stanchion keeps, however its words name
it."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import STATE, Use
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.usual import is_closed, is_kept, runs_first
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.effects import DELETERS, MAKERS, PATTERN_FIRST, SPECIAL, find_roots
from stanchion.readings.word_lists import listed

TALKS: Final = listed(
    """
    echo printf grep egrep fgrep zgrep rg ag ack man whatis apropos which whereis type hash cat tac
    bat less more head tail ls tree git gh hub touch mkdir sed wc sort uniq diff cd pushd test [ [[
    true : pip pip3 brew apt apt-get
    """
)
"""Programs to which our name is a word like any other."""
MOVES: Final = listed("cp mv install rsync scp ln")
LOOKS: Final = listed(
    "echo printf ls stat test [ [[ cd pushd du tree which readlink realpath dirname basename : true"
)
"""Programs that say where things are, not what is in them."""
EDITS: Final = listed("vim vi nvim nano emacs ed ex patch code micro pico joe kak hx helix sponge")
IN_PLACE: Final = frozenset(
    {"-i", "--in-place", "--inplace", "-w", "--write", "-o", "--output", "--fix"}
)
SHORT: Final = tuple([word for word in sorted(IN_PLACE) if len(word) == 2])
CHANGERS: Final = (
    DELETERS | MAKERS | frozenset(SPECIAL) | EDITS | MOVES | listed("git gfind fd bfs")
)
"""Programs that change the files they name."""
DELETES: Final = DELETERS | listed("mv rsync find gfind fd bfs chmod chown chgrp")
"""Those by which a whole folder may be lost, whatever is in it."""
GIT: Final = listed("checkout restore rm mv apply")

_PARTED: Final = regex(r"[\s'\"`;,()<>|&]+")
_PIECES: Final = regex(r"[=@:,]")


def _paths(command: Command) -> list[str]:
    """Everything in a command's words that may be a path."""
    found: list[str] = [path for _, path in command.opens]
    words = list(command.argv[1:])
    if command.name in PATTERN_FIRST and command.operands and not command.flags & {"-e", "-f"}:
        words = [word for word in words if word != command.operands[0]]
    for word in words:
        if " " in word or "\n" in word:
            found.append(word)
            found += [part for part in _PARTED.split(word) if "/" in part or part.endswith(".db")]
            continue
        found.append(word)
        if word[:1] == "-" and len(word) > 2:
            found.append(word[2:])
        if "=" in word or "@" in word or ":" in word or "," in word:
            found += [piece for piece in _PIECES.split(word) if piece]
    return found


def opens(command: Command, roots: Roots) -> bool:
    """Whether a command uses what we keep closed, in whatever way."""
    if command.cwd == "container:" or command.name in LOOKS:
        paths = [path for _, path in command.opens]
    elif command.name in TALKS and command.name in ("git", "gh", "hub"):
        paths = [word for word in command.argv[1:] if " " not in word]
    else:
        paths = _paths(command)
    own, cwd = roots.own, command.cwd
    if cwd == "container:":
        return False
    return any(is_closed(path, cwd) or own.leads_to(path, "read", cwd) == STATE for path in paths)


def changes(command: Command, roots: Roots) -> bool:
    """Whether a command writes, deletes or moves something of ours, or the folder that it is in."""
    if command.cwd == "container:" or not (
        command.name in CHANGERS or command.opens or _in_place(command)
    ):
        return False
    return any(_changed(path, use, command, roots) for path, use in _changed_by(command))


def begins(command: Command, _roots: Roots) -> bool:
    """Whether a command writes a file that Python runs before any program, and so before
    Stanchion."""
    line = f"{command.cwd} {command.line}".lower()
    if command.cwd == "container:" or not ("-packages" in line or "customize" in line):
        return False
    return any(
        use == "write" and runs_first(path, command.cwd) for path, use in _changed_by(command)
    )


def _changed(path: str, use: Use, command: Command, roots: Roots) -> bool:
    return is_kept(path, use, command.cwd) or bool(roots.own.leads_to(path, use, command.cwd))


def _changed_by(command: Command) -> list[tuple[str, Use]]:
    name, operands = command.name, command.operands
    if name in ("find", "gfind", "fd", "bfs"):
        return _found(command)
    inner = "find -exec" in command.via
    deletes = [path for path in command.deletes if not (inner and "**" in path)]
    writes = [path for path in command.writes if not (inner and "**" in path)]
    if name in ("chmod", "chown", "chgrp") and command.flags & {"-R", "--recursive"}:
        deletes += operands[1:]
    if name in MOVES and len(operands) > 1:
        into = dict(command.sorted.values).get("-t", operands[-1])
        writes += [f"{into.rstrip('/')}/{_last(each)}" for each in operands[:-1] if _last(each)]
    if name == "git" and operands and operands[0] in GIT:
        writes += operands[1:]
    if name in EDITS or (_in_place(command) and (name not in TALKS or name == "sed")):
        writes += [*operands, *[value for _, value in command.sorted.values]]
    writes += [path for op, path in command.opens if ">" in op]
    return [*[(path, "delete") for path in deletes], *[(path, "write") for path in writes]]


def _in_place(command: Command) -> bool:
    """Whether options say that files are changed where they are: long ones, or short ones with what
    they take."""
    return any(
        word[:1] == "-" and (word[:2] in SHORT or word.partition("=")[0] in IN_PLACE)
        for word in command.argv
    )


def _last(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return "" if name in (".", "..", "*", "~", "") else name


def _found(command: Command) -> list[tuple[str, Use]]:
    """What a `find` would delete or change, as patterns."""
    argv = command.argv
    runs = [
        argv[at + 1].rpartition("/")[2]
        for at, word in enumerate(argv[:-1])
        if word in ("-exec", "-execdir", "-ok")
    ]
    if "-delete" not in argv and not any(
        run in ("rm", "unlink", "shred", "mv", "chmod", "chown", "sed") for run in runs
    ):
        return []
    named = [
        argv[at + 1]
        for at, word in enumerate(argv[:-1])
        if word in ("-name", "-iname", "-path", "-wholename")
    ]
    names = [word.rpartition("/")[2] for word in named] if named else [""]
    narrowed = not named and any(
        word in ("-newer", "-mtime", "-mmin", "-empty", "-regex", "-size") for word in argv
    )
    if narrowed:
        return []
    return [
        (f"{root}/**/{each}" if each else root, "delete")
        for root in find_roots(argv)
        for each in names
    ]


def links(command: Command, roots: Roots) -> bool:
    """Whether a link would lead around the names of our places."""
    if command.name != "ln" or command.cwd == "container:":
        return False
    return any(roots.own.holds(path, command.cwd) for path in command.operands[:-1])
