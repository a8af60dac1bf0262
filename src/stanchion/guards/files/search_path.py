"""The search path: a line that adds a folder of one's own to it is what every installer writes into
a start-up file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.names import plain
from stanchion.readings.paths.targets import Target
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.word_lists import listed

_FILE: Final = regex(
    r"(?:~|\$HOME|\$\{HOME\}|/home/[^/]+|/Users/[^/]+|/root)/\.(?:bash_?|z|zsh)?(?:rc|profile|env)"
    r"\Z"
)
_FOLDER: Final = r"(?:~|\$HOME|\$\{HOME\}|/usr/local|/opt|/usr/lib)(?:/[\w.+@-]+)+"
_LINE: Final = regex(
    rf"\s*(?:#[^\n]*|(?:export\s+)?PATH=([\"']?)(?:{_FOLDER}:)*\$(?:PATH|\{{PATH\}})(?::{_FOLDER})"
    rf"*\1)?\s*"
)
OLD: Final = frozenset({"oldstring", "oldstr", "oldtext"})
NEW: Final = listed("newstring newstr newtext text content inserttext")


def adds_to_path(target: Target, args: Mapping[str, Any]) -> bool:
    """Whether all that a call writes into a start-up file of a shell are folders added to the
    search path."""
    if _FILE.match(target.text) is None:
        return False
    added = (
        _by_command(target, args)
        if target.base or "command" in args or "cmd" in args
        else _by_edit(args)
    )
    lines = added.split("\n")
    return "PATH" in added and all(_LINE.fullmatch(line) is not None for line in lines)


def _by_command(target: Target, args: Mapping[str, Any]) -> str:
    """What a command appends to the file; nothing where it does more than append what is known."""
    text = args.get("command", args.get("cmd"))
    if not isinstance(text, str):
        return ""
    read = analysed(text)
    ways = [op for command in read.commands for op, path in command.opens if path == target.text]
    known = [str(held) for path, held in read.wrote if path == target.text]
    used = [
        command for command in read.commands if target.text in command.writes and not command.opens
    ]
    return (
        "\n".join(known)
        if ways and not used and all(way == ">>" for way in ways) and len(known) == len(ways)
        else ""
    )


def _by_edit(args: Mapping[str, Any]) -> str:
    """What an edit puts in place of what was there, without what stays."""
    given = {plain(key): value for key, value in args.items() if isinstance(value, str)}
    old = [line for key, value in given.items() if key in OLD for line in value.split("\n")]
    new = [line for key, value in given.items() if key in NEW for line in value.split("\n")]
    kept = all(line in new for line in old)
    return "\n".join([line for line in new if line not in old]) if old and kept else ""
