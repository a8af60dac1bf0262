"""Targets: the paths that a call names, and what would be done with each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import join
from typing import Any, Final, NamedTuple

from stanchion.guards.files.protected.rule import Use
from stanchion.readings import act_words as words
from stanchion.readings.act import Act, act_of
from stanchion.readings.commands import Held
from stanchion.readings.commands.code import Text
from stanchion.readings.names import plain

LONGEST_LOOSE: Final = 1_024
"""A longer text under a name that says nothing is not taken for a path."""

_LOOKS: Final = re.compile(
    r"(?:/|~|\.{1,2}[/\\]|[A-Za-z]:[\\/]|\\\\|file:/|\$HOME\b|\$\{HOME\})[^\n]*\Z|[^\n]*\.\.[/\\%]"
)


class Target(NamedTuple):
    """A path in a call: how it would be used, whether it is surely one, and the folder that it is seen from."""

    text: str
    use: Use
    sure: bool = True
    base: str = ""


class Seeing(NamedTuple):
    """How calls are read: uses by tool, and uses by the argument's name."""

    tools: Callable[[str], Use | None]
    arguments: Mapping[str, Use]


def targets(
    tool: str, traits: tuple[str, ...], args: Mapping[str, Any], seeing: Seeing, commands: Sequence[Held]
) -> Iterator[Target]:
    """The paths that a call names: by the names of their arguments, in lists and deeper down too; those of its
    commands; and texts under other names that look like one."""
    said = act_of(tool, traits)
    use = seeing.tools(tool)
    own: Use = use if use is not None else said.use
    base = next((v for key, v in args.items() if type(v) is str and plain(str(key)) in words.STARTS), "")
    for top, given in args.items():
        for command in commands:
            if command.where[0] == top and not command.code:
                yield from _in_shell(command.text, base)
        waiting: list[tuple[str, Any]] = [(top, given)]
        while waiting:
            key, value = waiting.pop()
            kind = type(value)
            if kind is dict:
                waiting += reversed([(str(name), each) for name, each in value.items()])
            elif kind is list:
                if plain(key) not in words.COMMANDS or not all(type(each) is str for each in value):
                    waiting += reversed([(key, each) for each in value])
            elif kind is str and value:
                yield from _in_text(key, value, base, own, said, seeing)


def contents(args: Mapping[str, Any]) -> Iterator[str]:
    """The texts that a call would write into files, deeper down too."""
    waiting: list[tuple[str, Any]] = list(args.items())
    while waiting:
        key, value = waiting.pop()
        if type(value) is dict:
            waiting += [(str(name), each) for name, each in value.items()]
        elif type(value) is list:
            waiting += [(key, each) for each in value]
        elif type(value) is str and plain(key) in words.WRITTEN:
            yield value


def _in_text(key: str, text: str, base: str, own: Use, said: Act, seeing: Seeing) -> Iterator[Target]:
    name = plain(key)
    given = seeing.arguments.get(key)
    if given is not None:
        yield Target(text, given, True, base)
    elif name in words.COMMANDS:
        return
    elif name in words.STARTS:
        yield Target(text, "read")
    elif name in words.CONTENTS:
        return
    elif name in words.PATHS or name in words.SOURCES or name in words.RESULTS:
        yield Target(text, _turned(name, own, said), not said.api or bool(said.of_files), base)
    elif len(text) <= LONGEST_LOOSE:
        looks = _LOOKS.match(text) is not None
        if name in words.LOOSE and (said.of_files or (said.verb and looks and not said.api)):
            yield Target(text, _turned(name, own, said), True, base)
        elif looks:
            yield Target(text, own if said.of_files or said.verb else "read", said.of_files, base)


def _in_shell(text: Text, base: str) -> Iterator[Target]:
    from stanchion.readings.shell.paths import paths_in

    for path, use, start in paths_in(text if isinstance(text, str) else join(text)):
        yield Target(path, use, True, start if start.startswith(("/", "~")) or not base else f"{base}/{start}")


def _turned(name: str, own: Use, said: Act) -> Use:
    """How one argument is used where a call takes from one place and puts into another."""
    if name in words.RESULTS or name in words.LOOSE_RESULTS:
        return "read" if own == "read" and name in words.LOOSE_RESULTS else "write"
    if name in words.SOURCES or name in words.LOOSE_SOURCES:
        return "delete" if said.moves else "read" if own == "write" else own
    return own
