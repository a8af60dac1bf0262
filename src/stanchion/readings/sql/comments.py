"""Comments: what stands between the words of a text is checked to be nothing but space and
comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from stanchion.readings.sql.dialect import FLAT, HASH, NESTING, SLASHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import Token

RUNNING: Final = ("/*!", "/*M!")
"""How comments begin that MySQL and MariaDB run."""


class Unread(Exception):
    """A text cannot be understood; the message says why."""


class Span(NamedTuple):
    """Where a comment stands in a text."""

    start: int
    end: int


def running_comments(text: str, tokens: Sequence[Token], dialect: str) -> list[Span]:
    """The comments of a text that are run as if they were none. What is neither space nor a comment
    of the dialect, and yet was taken for one, makes the text unreadable."""
    found: list[Span] = []
    at = 0
    for token in tokens:
        if token.start > at:
            _look(text, at, token.start, dialect, found)
        at = token.end + 1
    if at < len(text):
        _look(text, at, len(text), dialect, found)
    return found


def unwrapped(text: str, spans: list[Span]) -> str:
    """The text with these comments as the server runs them."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        inner = text[text.index("!", start) + 1 : end - 2]
        pieces += (text[at:start], " ", inner.lstrip("0123456789"), " ")
        at = end
    return "".join([*pieces, text[at:]])


def _look(text: str, at: int, end: int, dialect: str, found: list[Span]) -> None:
    while at < end:
        if text[at].isspace():
            at += 1
        elif text.startswith("/*", at):
            start, at = at, _block_end(text, at, end, dialect)
            if dialect == "mysql" and text.startswith(RUNNING, start):
                found.append(Span(start, at))
        elif _is_line_comment(text, at, end, dialect):
            at = _line_end(text, at, end)
        else:
            raise Unread("it has a comment that databases read differently")


def _is_line_comment(text: str, at: int, end: int, dialect: str) -> bool:
    if text.startswith("--", at):
        return dialect != "mysql" or at + 2 == len(text) or text[at + 2] <= " "
    return (text[at] == "#" and dialect in HASH) or (
        text.startswith("//", at) and dialect in SLASHES
    )


def _line_end(text: str, at: int, end: int) -> int:
    ends = [place for place in (text.find("\n", at, end), text.find("\r", at, end)) if place >= 0]
    return min(ends, default=end)


def _block_end(text: str, at: int, end: int, dialect: str) -> int:
    """The place behind a block comment that begins here, by the rule of the dialect."""
    close = text.find("*/", at + 2, end)
    if dialect in FLAT:
        return _closed(close)
    opened = text.find("/*", at + 2, end)
    if opened < 0 or opened > close:
        return _closed(close)
    if dialect not in NESTING:
        raise Unread("it has a comment in a comment")
    depth, at = 1, at + 2
    while depth:
        close = text.find("*/", at, end)
        _closed(close)
        depth += text.count("/*", at, close) - 1
        at = close + 2
    return at


def _closed(close: int) -> int:
    if close < 0:
        raise Unread("it has a comment without an end")
    return close + 2
