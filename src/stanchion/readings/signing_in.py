"""Signing in: whether a value of a call is given as a login, and to which hosts it then goes.

A login is what a client sends to the host it connects to so that it is let in: what stands before
the `@` of a URL, the value of an option or of a variable for it, what is filled into the field of a
form. The body of a request, a message and what is written to a file are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.joined import Joined
from stanchion.readings.logins import login_in
from stanchion.readings.names import letters
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import named
from stanchion.readings.texts import Leaf
from stanchion.readings.urls import Target, is_here, url_of
from stanchion.readings.word_lists import listed

SILENT: Final = named("prints", "seeks")
"""Programs that sign in nowhere: they say what they are given, or look for it."""
SHORT: Final = listed("-u -p -P -a -w -U -H")
"""Short options by which clients are given a user, a password or a header."""
LONG: Final = frozenset(
    {"user", "userpwd", "password", "passwd", "pass", "passphrase", "token", "apikey", "auth", "bearer", "secret",  # noqa: E501
     "header", "storepass", "keypass"}
)  # fmt: skip
"""Words of long options that do the same."""
LONGEST: Final = 4_096
"""In a longer text nobody looks for the call that a value stands in."""
MOST: Final = 64
"""How many values of one text may be logins: what is more than that is none."""
ADDRESSES: Final = frozenset(
    {"url", "uri", "dsn", "repo", "repository", "remote", "address", "host", "endpoint", "connection", "database",  # noqa: E501
     "source", "origin", "proxy", "server", "registry", "index", "link"}
)  # fmt: skip
"""Words in the name of an argument that says where to go."""
SAID: Final = listed("data body message title form json text description comment notes")
"""Words of options whose value is a request's body, or for people to read."""
SAID_SHORT: Final = listed("-d -F -T -m -b -t")

_BLANK: Final = regex(r"\s")
_FILLING: Final = regex(
    r"(?i)\b(?:fill|type|input|enter|send_?keys|set_?value|insert)\w*\(\s*[^()\n]{0,80}$"
)
_PASSWORD_NAME: Final = regex(r"(?i)\w*(?:pass|pwd|secret|token|auth|key)\w*")


def login_hosts(
    reading: Any, leaf: Leaf, places: Sequence[tuple[int, int]]
) -> list[tuple[str, ...] | None]:
    """The hosts that are given each of some parts of a text as a login, none where it stays with a
    program of this machine or with the page of a browser; `None` where it is no login."""
    if leaf.named:
        return [None] * len(places)
    values = [leaf.text[start:end] for start, end in places]
    known = _known(reading, leaf, list(dict.fromkeys(values))[:MOST])
    if known is not None:
        return [known.get(value) for value in values]
    return [() if reading.act.web and _fills(leaf.text, start) else None for start, _ in places]


def _known(reading: Any, leaf: Leaf, values: list[str]) -> dict[str, tuple[str, ...] | None] | None:
    """The hosts by value, where a text is a URL or is run by a shell."""
    if _BLANK.search(leaf.text) is None and "://" in leaf.text:
        here = values if _is_address(reading, leaf) else []
        return {value: _of_url(leaf.text, value) for value in here}
    for held in reading.commands:
        if held.where == leaf.path and isinstance(held.text, str) and not held.code:
            words = _Words(held.text)
            return {value: words.hosts(value) for value in values}
    return None


def _fills(text: str, start: int) -> bool:
    """Whether what stands at a place is filled into the field of a form."""
    return start < LONGEST and _FILLING.search(text, max(0, start - 120), start) is not None


def _is_address(reading: Any, leaf: Leaf) -> bool:
    """Whether an argument says where to go, and nobody is only told of it."""
    name = next((step for step in reversed(leaf.path) if isinstance(step, str)), "")
    return not reading.act.says and (reading.act.web or not ADDRESSES.isdisjoint(letters(name)))


def _of_url(text: str, value: str) -> tuple[str, ...] | None:
    """The host of a URL that has a value in its login."""
    login = login_in(text)
    target = url_of(text) if login is not None and value in text[slice(*login)] else None
    return (
        (target.host,)
        if isinstance(target, Target) and target.host and not target.unclear
        else None
    )


class _Words:
    """All that the commands of a shell text are given, as one text: a value is looked for once, and
    not command by command."""

    def __init__(self, text: str) -> None:
        self._commands = analysed(text).commands
        self._parts = [
            (number, at)
            for number, command in enumerate(self._commands)
            for at in range(len(command.argv) + len(command.settings) + 1)
        ]
        self._joined = Joined(
            [
                text
                for command in self._commands
                for text in (*command.argv, *[one for _, one in command.settings], _fed(command))
            ]
        )
        self._known: dict[int, list[str]] = {}

    def hosts(self, value: str) -> tuple[str, ...] | None:
        """The hosts that are given a value, if every command that has it signs in with it."""
        having: dict[int, list[int]] = {}
        place = self._joined.text.find(value) if value else -1
        while place >= 0:
            which = self._joined.which(place)
            number, at = self._parts[which]
            having.setdefault(number, []).append(at)
            place = self._joined.text.find(value, self._joined.begins[which + 1])
        hosts: dict[str, None] = {}
        for number, found in having.items():
            if not self._signs_in(number, found, value):
                return None
            hosts |= dict.fromkeys(self._hosts(number))
        return tuple(hosts) if having else None

    def _signs_in(self, number: int, found: list[int], value: str) -> bool:
        """Whether all words of a command that have a value are logins."""
        command = self._commands[number]
        words, settings = command.argv, command.settings
        if command.name in SILENT or found[-1] == len(words) + len(settings):
            return False
        hosts = self._hosts(number)
        if hosts and all(is_here(host) for host in hosts):
            return True
        names = {settings[at - len(words)][0] for at in found if at >= len(words)}
        return all(
            _is_login(words, at, value)
            for at in found
            if at < len(words) and words[at].partition("=")[0] not in names
        ) and all(_PASSWORD_NAME.fullmatch(name) is not None for name in names)

    def _hosts(self, number: int) -> list[str]:
        if number not in self._known:
            self._known[number] = _hosts(self._commands[number])
        return self._known[number]


def _fed(command: Command) -> str:
    return "" if command.given is None else command.given


def _is_login(words: tuple[str, ...], at: int, value: str) -> bool:
    """Whether a word is the URL or the option of a login."""
    word, before = words[at], words[at - 1] if at else ""
    if word.startswith("--"):
        option, _, given = word.partition("=")
        return (value in given and _for_logins(option)) or _of_url(given, value) is not None
    if word.startswith("-"):
        return word[:2] in SHORT and value in word[2:]
    if before.startswith("-") and "=" not in before:
        if _for_logins(before):
            return True
        if before in SAID_SHORT or not SAID.isdisjoint(before.lstrip("-").lower().split("-")):
            return False
    return _of_url(word, value) is not None


def _for_logins(option: str) -> bool:
    return option in SHORT or not LONG.isdisjoint(option.lstrip("-").lower().split("-"))


def _hosts(command: Command) -> list[str]:
    """The hosts that the words of a command name."""
    targets = [
        url_of(word) for word in command.argv if "://" in word and _BLANK.search(word) is None
    ]
    return [target.host if isinstance(target, Target) else "" for target in targets]
