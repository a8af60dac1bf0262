"""Logins: what is signed in with, and where a text tells one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from stanchion.kernel.events import Egress, ToolCall
from stanchion.kernel.findings import Patch
from stanchion.kernel.regex import regex
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.names import letters
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import named
from stanchion.readings.shortened import shorten
from stanchion.readings.texts import TextLeaf, leaves
from stanchion.readings.urls import UrlTarget, is_here, url_of
from stanchion.readings.word_lists import Strings, listed

HIDDEN: Final = "[redacted:login]"
SHOWN: Final = 100

_FRONT: Final = regex(r"[\x00-\x20]*(?:[A-Za-z][A-Za-z0-9+.\-\t\r\n]*:)?[/\\\t\r\n]*")
_END: Final = regex(r"[/?#\\]")
_URL: Final = regex(r"[\x00-\x20]*[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2}")
_BLANK: Final = regex(r"\s")


def login_in(text: str) -> tuple[int, int] | None:
    """Where a login stands in a URL, without the `@` behind it. Where readers disagree, what any
    takes for one is."""
    if "@" not in text:
        return None
    front = _FRONT.match(text)
    start = 0 if front is None else front.end()
    target = url_of(text)
    end = _END.search(text, start) if isinstance(target, UrlTarget) and not target.unclear else None
    at = text.rfind("@", start) if end is None else text.rfind("@", start, end.start())
    return (start, at) if at > start else None


def shown(text: str) -> str:
    """A URL as a message quotes it: without what may be secret in it (login, query, fragment), and
    not too long."""
    login = login_in(text)
    plain = text if login is None else text[: login[0]] + text[login[1] + 1 :]
    head = re.split(r"[?#]", plain, maxsplit=1)[0]
    return shorten(head, SHOWN)


def unwritten(event: Egress | ToolCall) -> tuple[Patch, ...]:
    """The patches that keep the logins of a request's or a call's URLs out of records."""
    if isinstance(event, Egress):
        return _patches(("url",), event.url)
    found = [leaf for leaf in leaves(event.args) if "@" in leaf.text and not leaf.named]
    return tuple(
        [
            patch
            for leaf in found
            if _may_be_url(leaf.text)
            for patch in _patches(leaf.path, leaf.text)
        ]
    )


def _may_be_url(text: str) -> bool:
    """Whether a text is a URL, or `user:password@host` without a scheme."""
    front = text.partition("@")[0]
    if front[:7].lower() == "mailto:":
        return False
    return (":" in front and _BLANK.search(front) is None) or _URL.match(text) is not None


def _patches(path: Any, text: str) -> tuple[Patch, ...]:
    login = login_in(text)
    if login is None or text[login[0] : login[1]] == HIDDEN:
        return ()
    return (Patch(path, HIDDEN, *login, kind="login"),)


SILENT: Final = named("prints", "seeks")
"""Programs that sign in nowhere: they say what they are given, or look for it."""
SHORT: Final = listed("-u -p -P -a -w -U -H")
"""Short options by which clients are given a user, a password or a header."""
LONG: Final = listed(
    "user userpwd password passwd pass passphrase token apikey auth bearer secret header "
    "storepass keypass"
)  # fmt: skip
"""Words of long options that do the same."""
LONGEST: Final = 4_096
"""In a longer text nobody looks for the call that a value stands in."""
MOST: Final = 64
"""How many values of one text may be logins: what is more than that is none."""
ADDRESSES: Final = listed(
    "url uri dsn repo repository remote address host endpoint connection database source "
    "origin proxy server registry index link"
)  # fmt: skip
"""Words in the name of an argument that says where to go."""
SAID: Final = listed("data body message title form json text description comment notes")
"""Words of options whose value is a request's body, or for people to read."""
SAID_SHORT: Final = listed("-d -F -T -m -b -t")

_FILLING: Final = regex(
    r"(?i)\b(?:fill|type|input|enter|send_?keys|set_?value|insert)\w*\(\s*[^()\n]{0,80}$"
)
_PASSWORD_NAME: Final = regex(r"(?i)\w*(?:pass|pwd|secret|token|auth|key)\w*")


def login_hosts(
    reading: Any, leaf: TextLeaf, places: Sequence[tuple[int, int]]
) -> list[Strings | None]:
    """The hosts that are given each of some parts of a text as a login, none where it stays with a
    program of this machine or with the page of a browser; `None` where it is no login."""
    if leaf.named:
        return [None] * len(places)
    values = [leaf.text[start:end] for start, end in places]
    known = _known(reading, leaf, list(dict.fromkeys(values))[:MOST])
    if known is not None:
        return [known.get(value) for value in values]
    return [() if reading.act.web and _fills(leaf.text, start) else None for start, _ in places]


def _known(reading: Any, leaf: TextLeaf, values: list[str]) -> dict[str, Strings | None] | None:
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


def _is_address(reading: Any, leaf: TextLeaf) -> bool:
    """Whether an argument says where to go, and nobody is only told of it."""
    name = next((step for step in reversed(leaf.path) if isinstance(step, str)), "")
    return not reading.act.says and (reading.act.web or not ADDRESSES.isdisjoint(letters(name)))


def _of_url(text: str, value: str) -> Strings | None:
    """The host of a URL that has a value in its login."""
    login = login_in(text)
    target = url_of(text) if login is not None and value in text[slice(*login)] else None
    return (
        (target.host,)
        if isinstance(target, UrlTarget) and target.host and not target.unclear
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
        self._joined = JoinedTexts(
            [
                text
                for command in self._commands
                for text in (*command.argv, *[one for _, one in command.settings], _fed(command))
            ]
        )
        self._known: dict[int, list[str]] = {}

    def hosts(self, value: str) -> Strings | None:
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


def _is_login(words: Strings, at: int, value: str) -> bool:
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
    return [target.host if isinstance(target, UrlTarget) else "" for target in targets]
