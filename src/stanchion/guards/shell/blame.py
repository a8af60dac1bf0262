"""Blaming: what of a dangerous command its rule objects to, and nothing of what merely stands
beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from stanchion.guards.shell.places import Roots, plain
from stanchion.guards.shell.rules import Danger
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open, origin_of

HARMLESS: Final = "/tmp/x"
"""What is put in the place of a word to see whether a rule objects to it: an operand, and no danger
anywhere."""

TRIED: Final = 64
"""How many words of a command are tried, one by one."""

_KEYWORD: Final = regex(r"[A-Za-z][\w:-]*;?")
"""A word that says what is done rather than to what (`table`, `flushall`)."""
_HOST: Final = regex(r"(?:[a-z][a-z0-9+.-]*:)?/{0,2}(?:[^/?#@]*@)?([^/?#]+)", re.IGNORECASE)


def blamed(danger: Danger, commands: Sequence[Command], roots: Roots) -> list[str]:
    """The things that a dangerous command is refused for, each of which is enough.

    1. Where files are opened, those that alone break the rule.
    2. Words that alone break it, all others being harmless: `/` of `rm -rf / x`. What only says
       what is done, as the words of a rule and a keyword do, tells nothing apart.
    3. Where no word matters, what it reads: the files, or the hosts that it is fetched from.
    4. Otherwise all together, its operands, the values of its options and the files it opens, as
       one thing.
    """
    command, rule = danger.command, danger.rule
    if rule.names == ">":
        return [
            _thing(one[1], command.cwd)
            for one in command.opens
            if rule.holds(msgspec.structs.replace(command, opens=(one,)), roots)
        ] or _together(danger)
    if not rule.looks_at_words:
        return _together(danger)
    bare = _shorter(command)
    calm = [_calm(word) for word in bare.argv[1:]]
    if not rule.holds(msgspec.structs.replace(bare, argv=(*bare.argv[:1], *calm)), roots):
        words = [
            word for at, word in enumerate(bare.argv[1:]) if _breaks(danger, bare, calm, at, roots)
        ]
        if not words or (not command.cwd and any(_KEYWORD.fullmatch(word) for word in words)):
            return _together(danger)
        return [thing for word in words for thing in _things(word, command.cwd)]
    return _read(danger, commands, roots) or _together(danger)


def _shorter(command: Command) -> Command:
    """The command with no more words than are tried: its options, and then the shortest."""
    if len(command.argv) <= TRIED:
        return command
    words = command.argv[1:]
    kept = sorted(range(len(words)), key=lambda at: (words[at][:1] != "-", len(words[at])))[:TRIED]
    return msgspec.structs.replace(
        command, argv=(command.argv[0], *[words[at] for at in sorted(kept)])
    )


def _calm(word: str) -> str:
    """A harmless word of the same shape: an option stays, its value does not."""
    if not word.startswith("-"):
        return HARMLESS
    name, sign, _ = word.partition("=")
    return f"{name}={HARMLESS}" if sign else name


def _breaks(danger: Danger, bare: Command, calm: list[str], at: int, roots: Roots) -> bool:
    """Whether the word at a place breaks the rule, with harmless ones beside it."""
    word = bare.argv[at + 1]
    if word == calm[at]:
        return False
    argv = (bare.argv[0], *calm[:at], word, *calm[at + 1 :])
    return danger.rule.holds(msgspec.structs.replace(bare, argv=argv), roots)


def _read(danger: Danger, commands: Sequence[Command], roots: Roots) -> list[str]:
    """What a command reads that breaks the rule: files, the hosts and files of the programs before
    it, or these."""
    command = danger.command
    things: list[str] = []
    for text in (command.given, *command.argv):
        for each in origin_of(text):
            if each == "pieces" or not _comes(danger, text, each, roots):
                continue
            if each.startswith("<"):
                things.append(_thing(each[1:], command.cwd))
                continue
            before = [one for one in commands if one.name == each and one is not command]
            found = [_host(address) for one in before for address in one.sends]
            found = found or [_thing(path, one.cwd) for one in before for path in one.reads]
            things += found or [each]
    return things


def _comes(danger: Danger, text: str | None, each: str, roots: Roots) -> bool:
    """Whether a text breaks the rule by one of its origins alone."""
    command = danger.command
    pieces = ("pieces",) if "pieces" in origin_of(text) else ()
    one = Open(text if text is not None else "", (each, *pieces))
    given = one if text is command.given else None
    argv = tuple([one if word is text else word for word in command.argv])
    return danger.rule.holds(msgspec.structs.replace(command, given=given, argv=argv), roots)


def _together(danger: Danger) -> list[str]:
    command = danger.command
    values = sorted([value for _, value in command.sorted.values]) if command.argv else []
    words = [*command.operands, *values, *[target for _, target in command.opens]]
    return [" ".join([_thing(word, "") for word in words] or [command.name])]


def _things(word: str, cwd: str) -> list[str]:
    """What a word stands for: where it is made of what files have, those."""
    files = [_thing(each[1:], cwd) for each in origin_of(word) if each.startswith("<")]
    return files or [_thing(word, cwd)]


def _thing(word: str, cwd: str) -> str:
    """A word as it is compared, however it is spelled."""
    if "://" in word or any(char.isspace() for char in word):
        return " ".join(word.split())
    path = plain(word, "" if "=" in word else cwd)
    return path.removesuffix("*") if path == "/*" else path.removesuffix("/*")


def _host(address: str) -> str:
    found = _HOST.match(address)
    return found[1].lower() if found else address
