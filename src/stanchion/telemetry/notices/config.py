"""The structs that are the schema of the file which says where notices go, and what no schema can
find wrong."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from stanchion.kernel.regex import regex
from stanchion.telemetry.kinds import Kind, Occurrence, Severity

NAME: Final = regex(r"[a-z0-9][a-z0-9_-]{0,39}")
_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}

Deadline = Annotated[float, msgspec.Meta(gt=0, le=300)]


class WantedNotices(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a destination wants to hear of: kinds, or all of them, from a severity on; and how long
    it may take."""

    kinds: tuple[Kind, ...] | None = None
    at_least: Severity = Severity.INFO
    deadline_s: Deadline = 15.0

    def wants(self, one: Occurrence) -> bool:
        """Whether an occurrence is for this destination."""
        return (self.kinds is None or one.kind in self.kinds) and _RANKS[one.severity] >= _RANKS[
            self.at_least
        ]


class Webhook(
    WantedNotices,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="to",
    tag="webhook",
):
    """A signed POST to an address; its secret is in a file or in a variable of the environment."""

    url: str
    secret_file: str | None = None
    secret_env: str | None = None


class OwnCommand(
    WantedNotices,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="to",
    tag="command",
):
    """A program, by its absolute path, and its arguments; it gets the message on standard input."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class SlackChannel(
    WantedNotices,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="to",
    tag="slack",
):
    """A channel of Slack, or of a chat that takes the same: its incoming webhook, the address of
    which is as secret as a password and stands in a file."""

    url_file: str


class ChatAnswers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who may answer in the chat: its signing secret, which stands in a file, and which operator
    each of its users is, by the chat's own id of them."""

    secret_file: str
    people: dict[str, str]


class AnswerPage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where people answer who are not at this machine: what links begin with (by default where the
    page listens), where it listens, and its certificate and key."""

    url: str = ""
    bind: str = "127.0.0.1:8717"
    certificate: str | None = None
    private_key: str | None = None
    chat: ChatAnswers | None = None

    @property
    def base(self) -> str:
        """What links begin with."""
        scheme = "http" if self.certificate is None else "https"
        return self.url if self.url else f"{scheme}://{self.bind}"


class NotifyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where notices go, by names that are made up here, and where people answer."""

    destinations: dict[str, Webhook | OwnCommand | SlackChannel] = {}
    answers: AnswerPage | None = None

    @property
    def secret_files(self) -> list[str]:
        """The files that nobody but the post and the page should read."""
        return [path for at, path in _files(self) if at[-1] != "certificate"]


class ConfigMistake(NamedTuple):
    """A mistake that no schema finds: the way to it in the file, and what to do."""

    path: tuple[str | int, ...]
    message: str


def mistakes(file: NotifyFile) -> Iterator[ConfigMistake]:
    """What is wrong with a file beyond its schema."""
    for name, one in file.destinations.items():
        at: tuple[str | int, ...] = ("destinations", name)
        if not NAME.fullmatch(name):
            yield ConfigMistake(
                at,
                f"`{name}` is not a name: use lower-case letters, digits, `-` and `_`, at most 40",
            )
        match one:
            case Webhook():
                yield from _webhook(at, one)
            case OwnCommand() if not os.path.isabs(one.command[0]):
                yield ConfigMistake(
                    (*at, "command", 0),
                    f"`{one.command[0]}` is not an absolute path: write the full path, so that "
                    "nobody can put another program in its place",
                )
    if file.answers is not None:
        yield from _page(file.answers)
    for at, name in _files(file):
        if not os.path.isabs(name):
            yield ConfigMistake(at, f"`{name}` is not an absolute path: write the full path")


def _files(file: NotifyFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The files that are named, and where."""
    for name, one in file.destinations.items():
        match one:
            case Webhook(secret_file=str(path)):
                yield ("destinations", name, "secret_file"), path
            case SlackChannel():
                yield ("destinations", name, "url_file"), one.url_file
    page = file.answers
    if page is not None:
        given = {"certificate": page.certificate, "private_key": page.private_key}
        yield from ((("answers", key), path) for key, path in given.items() if path is not None)
        if page.chat is not None:
            yield ("answers", "chat", "secret_file"), page.chat.secret_file


def _page(one: AnswerPage) -> Iterator[ConfigMistake]:
    """What is wrong with where people answer."""
    host, _, port = one.bind.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        yield ConfigMistake(
            ("answers", "bind"), f"`{one.bind}` is no place to listen: write `127.0.0.1:8717`"
        )
    elif one.certificate is None and not _is_here(host):
        yield ConfigMistake(
            ("answers", "bind"),
            f"`{one.bind}` can be reached from elsewhere, and answers would not be confidential: "
            f"give `certificate` and `private_key`, or listen at `127.0.0.1:{port}`",
        )
    if (one.certificate is None) != (one.private_key is None):
        yield ConfigMistake(
            ("answers",), "give both `certificate` and `private_key`, or neither of them"
        )
    why = bad_url(one.url) if one.url else ""
    if why:
        yield ConfigMistake(("answers", "url"), why)
    if urlsplit(one.url).path.strip("/"):
        yield ConfigMistake(("answers", "url"), "it has a path: write `https://host` alone")


def _webhook(at: tuple[str | int, ...], one: Webhook) -> Iterator[ConfigMistake]:
    why = bad_url(one.url)
    if why:
        yield ConfigMistake((*at, "url"), why)
    if (one.secret_file is None) == (one.secret_env is None):
        yield ConfigMistake(
            at, "give either `secret_file` or `secret_env`, which says where its secret is"
        )


def bad_url(url: str) -> str:
    """What is wrong with the address of a webhook; what is secret in it is not repeated."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "it is not a URL: write `https://host/path`"
    if parts.username is not None or parts.password is not None:
        return "it must not have a user or a password: messages are signed with the secret"
    if not host or port == 0 or not url.isascii() or any(char.isspace() for char in url):
        return "it is not a URL: write `https://host/path`"
    if parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)):
        return ""
    return (
        "it is not `https://`: notices are confidential; only a receiver on this host may use "
        "`http://`"
    )


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
