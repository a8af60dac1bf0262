"""Commands: where the commands and the code of a call go, each address by itself. A command is no
one value: what it prints and edits here is nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from stanchion.readings import Reading
from stanchion.readings.programs import program_effects
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.destinations import of_command
from stanchion.readings.shell.options import LANGUAGES, NO_FILES, SHELLS, codes_in
from stanchion.readings.shell.partly_known import origin_of
from stanchion.readings.urls import Target, is_here, url_of
from stanchion.readings.word_lists import listed

MOST: Final = 32
"""How many addresses of one call are looked at."""
SENDING: Final = listed(
    """
    -d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file -X
    --request -H --header -u --user -b --cookie --post-data --post-file --body-data --body-file
    --method --http-user --http-password --load-cookies --netrc -n
    """
)
"""Options with which a program that fetches tells something, too."""
FETCHING: Final = {"git": listed("clone fetch pull ls-remote"), "curl": None, "wget": None}
"""Programs that may only fetch, by their first word where there are several."""


class Address(NamedTuple):
    """An address that a call goes to; it `follows` one that may be opened as it stands, where it
    only fetches what is there."""

    url: str
    follows: bool


def addresses(reading: Reading[Any]) -> tuple[Address, ...]:
    """Where the commands and the code of a call go, other machines alone."""
    return tuple(dict.fromkeys([one for one in _all(reading) if not _is_here(one.url)]))[:MOST]


def _all(reading: Reading[Any]) -> Iterator[Address]:
    for held in reading.commands:
        commands = analysed(held.text, reading.reader.limits).commands
        fed = {name for one in commands if _runs(one) for name in _run_by(one)}
        for command in commands:
            follows = _only_fetches(command) and command.name not in fed
            for url, known in of_command(command):
                if known:
                    yield Address(url, follows)
            for _, value in command.settings:
                if "://" in value:
                    yield Address(value, False)
            yield from _in_code(command)


def _runs(command: Command) -> bool:
    """Whether a command runs what it is given."""
    return command.name in LANGUAGES or command.name in SHELLS


def _run_by(command: Command) -> Iterator[str]:
    """The programs whose output a command runs, piped to it or among its words."""
    yield from command.origin
    for word in command.argv[1:]:
        yield from origin_of(word)


def _only_fetches(command: Command) -> bool:
    if command.name not in FETCHING:
        return False
    first = FETCHING[command.name]
    if first is not None:
        return not first.isdisjoint(command.operands[:1])
    return SENDING.isdisjoint(command.flags)


def _in_code(command: Command) -> Iterator[Address]:
    """Where the code goes that a command is given."""
    language = LANGUAGES.get(command.name)
    if language is None:
        return
    for code in codes_in(command.argv, command.given, language, NO_FILES):
        for one in program_effects(command.name, code).sends:
            yield Address(one.host, False)


def _is_here(url: str) -> bool:
    target = url_of(url)
    return isinstance(target, Target) and bool(target.host) and is_here(target.host)
