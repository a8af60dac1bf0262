"""Commands: where the commands and the code of a call go, each address by itself. A command is no
one value: what it prints and edits here is nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from stanchion.readings import Reading
from stanchion.readings.origins.values import values
from stanchion.readings.programs import program_effects
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.destinations import of_command
from stanchion.readings.shell.options import LANGUAGES, NO_FILES, SHELLS, codes_in
from stanchion.readings.shell.partly_known import origin_of
from stanchion.readings.urls import UrlTarget, is_here, url_of
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


REMOTE: Final = listed("push remote clone fetch pull submodule config ls-remote send-email")
LOCAL: Final = listed(
    """
    prints seeks keeps views pages reads makes makes-last deletes replaces copies copies-plainly
    packs unpacks patches modes lists finds greps searches
    """
)
"""Kinds of programs to which an address is a text or a name of a file."""


class CommandAddress(NamedTuple):
    """An address that a call goes to; it `follows` one that may be opened as it stands, where it
    only fetches what is there."""

    url: str
    follows: bool


def addresses(reading: Reading[Any]) -> tuple[CommandAddress, ...]:
    """Where the commands and the code of a call go, other machines alone."""
    return tuple(dict.fromkeys([one for one in _all(reading) if not _is_here(one.url)]))[:MOST]


def _all(reading: Reading[Any]) -> Iterator[CommandAddress]:
    for held in reading.commands:
        commands = analysed(held.text, reading.reader.limits).commands
        fed = {name for one in commands if _runs(one) for name in _run_by(one)}
        for command in commands:
            follows = _only_fetches(command) and command.name not in fed
            for url, known in of_command(command):
                if known:
                    yield CommandAddress(url, follows)
            for _, value in command.settings:
                if "://" in value:
                    yield CommandAddress(value, False)
            if not _stays(command):
                yield from _named(command)
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


def _stays(command: Command) -> bool:
    """Whether a command only looks at what it is given, or changes files here."""
    if command.name == "git":
        return REMOTE.isdisjoint(command.operands[:1])
    return not LOCAL.isdisjoint(command.kinds)


def _named(command: Command) -> Iterator[CommandAddress]:
    """Addresses of people and machines among a command's words, whatever its program does with
    them: the registry of an image, the host of a module, who gets a mail."""
    for word in command.argv[1:]:
        if "." in word and "://" not in word:
            for kind, text in values(word):
                if kind == "mail" or (kind == "host" and _is_sure(word, text)):
                    yield CommandAddress(text, False)


def _is_sure(word: str, host: str) -> bool:
    """Whether a word surely names a host, and no file or name of code."""
    return host.count(".") > 1 or "/" in word or ":" in word or "@" in word


def _in_code(command: Command) -> Iterator[CommandAddress]:
    """Where the code goes that a command is given."""
    language = LANGUAGES.get(command.name)
    if language is None:
        return
    for code in codes_in(command.argv, command.given, language, NO_FILES):
        for one in program_effects(command.name, code).sends:
            yield CommandAddress(one.host, False)


def _is_here(url: str) -> bool:
    """Whether an address is on this machine, or beside it: a name without a dot is known in its
    own network alone."""
    target = url_of(url)
    host = target.host if isinstance(target, UrlTarget) else ""
    return bool(host) and (is_here(host) or host.isalpha())
