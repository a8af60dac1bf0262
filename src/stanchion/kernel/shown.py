"""Text that is safe to show: what steers a terminal, turns the reading order or cannot be seen is
written out."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.regex import regex

UNSEEN: Final = regex(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-"
    "\U000e0fff]"
)
"""Characters that leave no trace on a screen, though they count as printable: fillers, joiners,
selectors."""

_PLAIN: Final = bytes(range(0x20, 0x7F))
"""Characters of one byte that are seen."""
_BRIEF: Final = 200
"""How much of a text is shown beside other things."""
_LINE: Final = 2_000
"""How long a message of one line is at the most."""
_NAMED: Final = regex(rf"`[^`]{{{_BRIEF},}}`")
"""A value that a message names, and that is too long to be read there."""
_BLANKS: Final = "\n\t"
"""What a text of several lines is laid out with."""


def visible(text: str, lines: bool = False) -> str:
    """Text with everything written out that would not be seen as it is: control characters, marks
    that turn the reading order, blanks without width, unassigned characters. With `lines` its line
    breaks and tabs stay."""
    if text.isprintable() and (text.isascii() or UNSEEN.search(text) is None):
        return text
    kept = _BLANKS if lines else ""
    unseen = {
        ord(char): _written(char) for char in set(text) if char not in kept and not _seen(char)
    }
    return text.translate(unseen)


def json_safe(body: bytes) -> bytes:
    """JSON that means the same, with such characters as its own escapes: it can be shown, and still
    be read."""
    if body.isascii():
        return body if b"\x7f" not in body else body.replace(b"\x7f", b"\\u007f")
    odd = set(body.translate(None, _PLAIN).decode("utf-8"))
    for char in odd:
        if char != "\n" and not _seen(char):
            body = body.replace(char.encode("utf-8"), _escape(char).encode("ascii"))
    return body


def brief(text: str) -> str:
    """Text as it is shown in one line beside other things: quoted, and cut where it is long."""
    line = visible(" ".join(text[: 2 * _BRIEF].split()))
    return f'"{line}"' if len(line) <= _BRIEF else f'"{line[: _BRIEF - 1]}…"'


def one_line(message: str) -> str:
    """A message as one line that can be read: a long value that it names in backticks is cut, and
    so is the middle of a message that is still too long."""
    line = visible(
        _NAMED.sub(lambda found: f"{found[0][: _BRIEF // 2]}…`", message)
        if len(message) > _BRIEF
        else message
    )
    return line if len(line) <= _LINE else f"{line[: _LINE // 2]} … {line[-_LINE // 2 :]}"


class StanchionError(Exception):
    """Anything Stanchion raises on its own account. It can be pickled, whatever its class is made
    of."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[StanchionError], given: tuple[Any, ...]) -> StanchionError:
    """An error as it was when it was raised: what made its text is not done once more."""
    return kind.__new__(kind, *given)


class Shown(StanchionError):
    """An error whose text can be shown, whatever the values are that it names."""

    def __str__(self) -> str:
        return visible(super().__str__(), lines=True)


def _seen(char: str) -> bool:
    return char.isprintable() and (char.isascii() or UNSEEN.match(char) is None)


def _written(char: str) -> str:
    """A character as Python writes it: `\\x1b`, `\\u202e`, `\\U000e0041`."""
    code = ord(char)
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def _escape(char: str) -> str:
    """A character as JSON writes it: beyond the first 65,536 as two halves."""
    pair = char.encode("utf-16-be", "surrogatepass")
    return "".join(
        [f"\\u{int.from_bytes(pair[at : at + 2], 'big'):04x}" for at in range(0, len(pair), 2)]
    )
