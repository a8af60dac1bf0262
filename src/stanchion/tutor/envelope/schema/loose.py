"""Reading an object that is nearly JSON: other quotes, words of Python, commas too many or too few,
a missing end.

What is between quotes is never made up. A text, a number or a word that the reply ends in may have
been longer, and an object whose last value is one of these is not read.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.shape import is_named

DEEPEST: Final = 40
CLOSES: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\u201c": '\u201d\u201c"',
    "\u2018": "\u2019\u2018'",
    "\uff02": '\uff02"',
}
"""Quotes that open a text, each with those that can close it."""
WIDE: Final = {
    "{": "{\uff5b", "}": "}\uff5d", "[": "[\uff3b", "]": "]\uff3d", ")": ")\uff09", ":": ":\uff1a",
    "=": "=\uff1d", ",": ",\uff0c\u3001",
}  # fmt: skip
"""Signs, each with the wide forms that keyboards of East Asia write in their place."""
CONSTANTS: Final = {"true": True, "false": False, "null": None, "none": None}
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}

_QUOTE: Final = "[\"'`\u201c\u201d\u2018\u2019\uff02]"
_COMMA: Final = "[,\uff0c\u3001]"
_IS: Final = "[:=\uff1a\uff1d]"
_ENDS: Final = "})\uff5d\uff09"
_CLOSED: Final = "\\])\uff3d\uff09"
_SPACE: Final = regex(r"(?:\s|(?://|\#)[^\n]*|/\*[^*]*\*/)*")
_PLAIN: Final = regex(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER: Final = regex(r"-?(?:0|[1-9]\d{0,40})(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?(?![\w.])")
_WORD: Final = regex(r"[A-Za-z_][\w-]*")
_HEX: Final = regex(r"u([0-9a-fA-F]{4})")
_FIELDS: Final = regex(rf"{_QUOTE}[^\n]*\n\s*{_QUOTE}[\w .-]{{1,60}}{_QUOTE}\s*{_IS}")
_JOINED: Final = regex(r"\s*(?:\+|%|\.\w+\()")
_AFTER_NAME: Final = regex(rf"\s*{_IS}")
_GAP: Final = r"(?:\s|(?://|\#)[^\n]*\n|/\*[^*]*\*/)*"
_AFTER_VALUE: Final = regex(
    rf"{_GAP}(?:[{_ENDS}{_CLOSED}]|\Z|{_COMMA}?{_GAP}{_QUOTE}[\w .-]{{1,60}}{_QUOTE}\s*{_IS}"
    rf"|{_COMMA}{_GAP}(?:[\w-]{{1,60}}\s*{_IS}|[{_ENDS}]|\Z))"
)
_AFTER_ITEM: Final = regex(rf"{_GAP}(?:[{_CLOSED}]|\Z|{_COMMA}{_GAP}(?:{_QUOTE}|[-\d\[{{\]]|\Z))")


class UnreadableObject(ValueError):
    """What stands here is no object."""


class Cut(UnreadableObject):
    """The text ends inside of an object, and what is missing could have been anything."""


class ReadingSteps:
    """How much work a reply may take; texts that are made to take long end here."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, count: int) -> None:
        """Use some; raises `UnreadableObject` where none are left."""
        self.left -= count
        if self.left < 0:
            raise UnreadableObject("it takes too long to read")


class Loose(msgspec.Struct, frozen=True):
    """An object that was read, and where it ends."""

    value: dict[str, Any]
    end: int


def read_object(text: str, at: int, steps: ReadingSteps) -> Loose:
    """The object whose brace is at a place; raises `UnreadableObject`."""
    return Loose(*_Reader(text, steps).members(at + 1, "}", 1))


def read_call(text: str, at: int, steps: ReadingSteps) -> Loose:
    """The keyword arguments of a call as Python writes it, whose bracket is at a place; raises
    `UnreadableObject`."""
    return Loose(*_Reader(text, steps).members(at + 1, ")", 1))


class _Reader:
    """Reads values; each method is given where something begins, and gives where it ends."""

    def __init__(self, text: str, steps: ReadingSteps) -> None:
        self._text, self._steps = text, steps
        self._open = False
        """Whether the last thing that was read could have gone on, had the text."""

    def members(self, at: int, close: str, depth: int) -> tuple[dict[str, Any], int]:
        """The members of an object, up to its end."""
        made: dict[str, Any] = {}
        at = self._space(at)
        while not self._is(at, close):
            if at >= len(self._text):
                return made, self._ended(at)
            name, at = self._name(at)
            at = self._space(at)
            if not self._is(at, ":") and not self._is(at, "="):
                raise self._wrong(at, f"`{name}` has no value")
            begin = self._space(at + 1)
            value, at = self._value(begin, False, depth)
            if isinstance(value, str) and self._text[begin] not in CLOSES and not is_named(name):
                raise UnreadableObject(
                    f"`{name}` is a word without quotes: nobody knows what that stands for"
                )
            if name in made and made[name] != value:
                raise UnreadableObject(f"`{name}` stands in it twice")
            made[name] = value
            at = self._next(at, close)
        return made, at + 1

    def _items(self, at: int, close: str, depth: int) -> tuple[list[Any], int]:
        made: list[Any] = []
        at = self._space(at)
        while not self._is(at, close):
            if at >= len(self._text):
                return made, self._ended(at)
            value, at = self._value(at, True, depth)
            made.append(value)
            at = self._next(at, close)
        return made, at + 1

    def _next(self, at: int, close: str) -> int:
        """Where the next member begins, or the end is."""
        at = self._space(at)
        if self._is(at, ","):
            at = self._space(at + 1)
            if at >= len(self._text):
                raise Cut("it ends where something more was to come")
        elif at < len(self._text) and not self._is(at, close) and self._text[at] not in CLOSES:
            raise self._wrong(at, "a comma is missing")
        return at

    def _ended(self, at: int) -> int:
        """The end of a text that is the end of an object, too: nothing but brackets can be
        missing."""
        if self._open:
            raise Cut("it ends in the middle of a value")
        return at

    def _name(self, at: int) -> tuple[str, int]:
        if self._text[at] in CLOSES:
            return self._quoted(at, _AFTER_NAME)
        word = _WORD.match(self._text, at)
        if word is None:
            raise self._wrong(at, "a name was expected")
        return word.group(), word.end()

    def _value(self, at: int, item: bool, depth: int) -> tuple[Any, int]:
        self._steps.take(1)
        if depth > DEEPEST:
            raise UnreadableObject("it is nested too deeply")
        if at >= len(self._text):
            raise Cut("a value is missing at its end")
        self._open = False
        match self._text[at]:
            case "{" | "\uff5b":
                return self.members(at + 1, "}", depth + 1)
            case "[" | "\uff3b":
                return self._items(at + 1, "]", depth + 1)
            case "(":
                return self._items(at + 1, ")", depth + 1)
            case sign if sign in CLOSES:
                return self._quoted(at, _AFTER_ITEM if item else _AFTER_VALUE)
            case _:
                return self._bare(at)

    def _bare(self, at: int) -> tuple[Any, int]:
        number = _NUMBER.match(self._text, at)
        if number is not None:
            self._open = number.end() == len(self._text)
            return json.loads(number.group()), number.end()
        word = _WORD.match(self._text, at)
        if word is None:
            raise self._wrong(at, "a value was expected")
        self._open = word.end() == len(self._text)
        said = word.group()
        if said.lower() in CONSTANTS:
            return CONSTANTS[said.lower()], word.end()
        return said, word.end()

    def _quoted(self, at: int, after: Any) -> tuple[str, int]:
        """A text. One that is as JSON has it is taken so; in any other a quote ends it only where
        it can be an end."""
        plain = _PLAIN.match(self._text, at)
        if plain is not None:
            self._steps.take(1 + (plain.end() - at) // 16)
            if after.match(self._text, plain.end()):
                return self._whole(json.loads(plain.group()), plain.end()), plain.end()
        triple = self._text[at : at + 3]
        if triple in ('"""', "'''"):
            end = self._text.find(triple, at + 3)
            if end < 0:
                raise Cut("it ends in the middle of a text")
            return self._text[at + 3 : end], end + 3
        return self._unsure(at, after)

    def _unsure(self, at: int, after: Any) -> tuple[str, int]:
        closing, made, inner = CLOSES[self._text[at]], [], False
        at += 1
        while at < len(self._text):
            self._steps.take(1)
            sign = self._text[at]
            if sign == "\\":
                said, at = self._escaped(at + 1)
                made.append(said)
                continue
            at += 1
            if sign in closing:
                if after.match(self._text, at):
                    return self._whole(_paired("".join(made)), at, inner), at
                inner = True
                if _JOINED.match(self._text, at):
                    raise UnreadableObject("a text is put together from parts")
            made.append(sign)
        raise Cut("it ends in the middle of a text")

    def _whole(self, said: str, end: int, inner: bool = False) -> str:
        """A text. At the end of a reply nothing tells which of its quotes ends it, or that one
        behind a space does."""
        if (inner or said != said.rstrip(" {[(")) and not self._text[end:].strip():
            raise Cut("it ends in the middle of a text")
        if inner and _FIELDS.search(said):
            raise UnreadableObject("a text seems to hold other fields of the object")
        return said

    def _escaped(self, at: int) -> tuple[str, int]:
        """What a backslash says; one that says nothing stays as it is, as in `\\d`."""
        sign = self._text[at : at + 1]
        point = _HEX.match(self._text, at)
        if point is not None:
            return chr(int(point.group(1), 16)), point.end()
        if sign in ESCAPES or (sign and sign in "\"'`\u201c\u201d\u2018\u2019"):
            return ESCAPES.get(sign, sign), at + 1
        return f"\\{sign}", at + 1

    def _space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return at if found is None else found.end()

    def _is(self, at: int, sign: str) -> bool:
        found = self._text[at : at + 1]
        return bool(found) and found in WIDE[sign]

    def _wrong(self, at: int, why: str) -> UnreadableObject:
        return (
            Cut("it ends too early")
            if at >= len(self._text)
            else UnreadableObject(f"{why}, and there is `{self._text[at]}`")
        )


def _paired(text: str) -> str:
    """A text whose halves of characters, where both are there, are one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
