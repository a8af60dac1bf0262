"""Expansion: what words stand for, as far as that is known from the text alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.readings.shell.arithmetic import Arithmetic, NotKnown
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.partly_known import OpenText, joined, like
from stanchion.readings.shell.patterns import ANY, Piece, fits, pieces, spread
from stanchion.readings.shell.tree import (
    Meter,
    OutputPart,
    Param,
    Part,
    Script,
    StreamPart,
    SumPart,
    TextPart,
    Word,
)

Value = str | list[str]

SPECIAL: Final[dict[str, Value]] = {
    "0": "bash", "?": "0", "IFS": " \t\n", "BASH": "/bin/bash", "@": [], "-": "hBc",
}  # fmt: skip
USUALLY_SET: Final = WORDS["variables that are usually set"]
CASES: Final[dict[str, Callable[[str], str]]] = {
    "^^": str.upper, ",,": str.lower, "~~": str.swapcase,
    "^": lambda text: text[:1].upper() + text[1:],
    ",": lambda text: text[:1].lower() + text[1:],
    "~": lambda text: text[:1].swapcase() + text[1:],
}  # fmt: skip


class Expanding:
    """Expands words with the variables of `env`; `run` gives what a script prints, `stream` a file
    made of it."""

    def __init__(
        self, meter: Meter, run: Callable[[Script], str], stream: Callable[[StreamPart], str]
    ) -> None:
        self.meter = meter
        self.env: dict[str, Value] = {}
        self.refs: dict[str, str] = {}
        self.run = run
        self.stream = stream

    def fields(self, words: list[Word]) -> list[str]:
        """The words that these become; none at all where an expansion gives nothing."""
        found: list[str] = []
        for word in words:
            if isinstance(word, str):
                found.append(word)
            elif (
                len(word) == 1
                and isinstance(word[0], TextPart)
                and (word[0].quoted or "{" not in word[0].text)
            ):
                found.append(word[0].text)
            else:
                for parts in spread(word, self.meter):
                    self._split(parts, found)
        return found

    def text(self, word: Word) -> str:
        """What a word becomes where it is neither split nor multiplied."""
        if isinstance(word, str):
            return word
        texts: list[str] = []
        for part in word:
            texts.append(part.text if isinstance(part, TextPart) else _one(self._value(part)))
        made = joined(texts) if texts else ""
        self.meter.make(len(made))
        return made

    def _split(self, parts: list[Part], into: list[str]) -> None:
        now: list[str] = []
        begun = False
        for part in parts:
            pieces, whole = self._fields(part)
            for at, piece in enumerate(pieces):
                if at and begun:
                    into.append(joined(now))
                if at:
                    now, begun = [], False
                if piece or whole:
                    now.append(piece)
                    begun = True
        if begun:
            made = joined(now)
            self.meter.make(len(made))
            into.append(made)

    def _fields(self, part: Part) -> tuple[list[str], bool]:
        """What a part gives to words, one each, and whether nothing is a word, too."""
        if isinstance(part, TextPart):
            return [part.text], part.quoted
        value = self._value(part)
        if not (isinstance(part, StreamPart) or part.quoted or isinstance(value, OpenText)):
            return self._pieces(value), False
        each = isinstance(value, list) and isinstance(part, Param) and part.name != "*"
        return (list(value) if each else [_one(value)]), True

    def _pieces(self, value: Value) -> list[str]:
        """The pieces that an unquoted value is split into; an empty one at an end says that a blank
        stood there."""
        if isinstance(value, list):
            return [
                piece for item in value for piece in (["", *self._pieces(item)] if item else [])
            ][1:]
        separators = self.env.get("IFS", " \t\n")
        self.meter.make(len(value))
        if separators != " \t\n" and isinstance(separators, str) and separators:
            for char in separators[1:]:
                value = value.replace(char, separators[0])
            return value.split(separators[0])
        found = value.split()
        if not found:
            return ["", ""] if value else []
        if value[0].isspace():
            found.insert(0, "")
        if value[-1].isspace():
            found.append("")
        return found

    def get(self, name: str) -> Value:
        """A variable's value; one that the text does not set is open."""
        name = self.refs.get(name, name)
        known = self.env.get(name)
        if known is not None:
            return known
        if name in ("@", "*"):
            return self.env.get("@", [])
        if name == "#":
            return str(len(self.env.get("@", [])))
        if name.isdigit() and name != "0":
            given = self.env.get("@", [])
            return given[int(name) - 1] if 0 < int(name[:6]) <= len(given) else ""
        special = SPECIAL.get(name)
        return (
            special
            if special is not None
            else OpenText(f"${name}" if name.isidentifier() else "$?")
        )

    def number(self, text: str) -> int:
        """The value of an arithmetic expression; raises NotKnown."""
        if isinstance(text, OpenText) or len(text) > 4096:
            raise NotKnown
        depth = self.meter.depth
        try:
            put = self.env.__setitem__
            return Arithmetic(
                text, self._int, lambda name, value: put(name, str(value)), self.meter
            ).value()
        finally:
            self.meter.depth = depth

    def _int(self, name: str) -> int:
        value = self.env.get(name, "")
        if isinstance(value, list):
            value = value[0] if value else ""
        if isinstance(value, OpenText) or (name not in self.env and name not in SPECIAL):
            if name not in self.env:
                return 0
            raise NotKnown
        if not value:
            return 0
        self.meter.down()
        return self.number(value)

    def _value(self, part: Part) -> Value:
        self.meter.step()
        if isinstance(part, Param):
            return self._param(part)
        if isinstance(part, OutputPart):
            printed = self.run(part.body)
            return like(printed.rstrip("\n"), printed)
        if isinstance(part, SumPart):
            text = self.text(part.parts)
            try:
                return str(self.number(text))
            except NotKnown:
                return OpenText("$((…))")
        if isinstance(part, StreamPart):
            return self.stream(part)
        return part.text

    def _param(self, part: Param) -> Value:
        value = self._named(part)
        if not part.op:
            return value
        if not value and part.name in ("@", "*"):
            self.meter.noise += 1
        if isinstance(value, list):
            return [self._changed(part, item) for item in value]
        return self._changed(part, value)

    def _named(self, part: Param) -> Value:
        name, value = part.name, self.get(part.name)
        if part.mark == "!":
            if part.op in ("*", "@") and part.arg is None:
                return OpenText(f"${{!{name}{part.op}}}")
            if name in ("@", "*"):
                return "" if not value else OpenText("${!@}")
            value = (
                self.get("0")
                if value == "0"
                else self.get(_one(value))
                if _is_name(_one(value))
                else OpenText(f"${{!{name}}}")
            )
        if part.index is not None:
            value = self._item(value, self.text(part.index))
        is_open = isinstance(value, OpenText)
        if isinstance(value, list) and part.index is None and name not in ("@", "*"):
            value = value[0] if value else ""
        if part.mark == "#":
            return OpenText(f"${{#{name}}}") if is_open else str(len(value))
        return value

    def _item(self, value: Value, index: str) -> Value:
        if index in ("@", "*"):
            return value if isinstance(value, list | OpenText) else [value]
        items = value if isinstance(value, list) else [value]
        try:
            at = self.number(index)
        except NotKnown:
            return OpenText("${…[…]}")
        return items[at] if -len(items) <= at < len(items) else ""

    def _changed(self, part: Param, value: str) -> str:
        """The value as the expansion's operator changes it."""
        op, name = part.op, part.name
        arg = part.arg if part.arg is not None else ""
        match op:
            case ":-" | "-" | ":=" | "=":
                if isinstance(value, OpenText):
                    stays = name in USUALLY_SET or value != f"${name}"
                    return value if stays else OpenText(self.text(arg))
                if value:
                    return value
                default = self.text(arg)
                if "=" in op and _is_name(name):
                    self.env[name] = default
                return default
            case ":+" | "+":
                given = self.text(arg) if value or isinstance(value, OpenText) else ""
                return OpenText(given) if isinstance(value, OpenText) else given
            case ":?" | "?" | "@":
                return value
            case _ if isinstance(value, OpenText) or not value:
                return value
            case ":":
                return self._slice(value, self.text(arg))
            case _ if op in CASES:
                return CASES[op](value)
            case _ if op[0] in "#%":
                return self._cut(value, self.text(arg), op)
        return self._replaced(value, arg, op)

    def _slice(self, value: str, arg: str) -> str:
        first, given, second = arg.partition(":")
        try:
            start = self.number(first)
            start = max(0, start + len(value)) if start < 0 else start
            if not given:
                return value[start:]
            length = self.number(second)
        except NotKnown:
            return OpenText("${…:…}")
        return value[start : start + length] if length >= 0 else value[start : len(value) + length]

    def _cut(self, value: str, pattern: str, op: str) -> str:
        self.meter.step(len(value) // 8)
        parsed = pieces(pattern)
        size = len(value)
        lengths = (
            range(size + 1) if ANY in parsed else range(len(parsed), min(len(parsed), size) + 1)
        )
        for length in lengths if len(op) == 1 else reversed(lengths):
            piece = value[:length] if op[0] == "#" else value[size - length :]
            if fits(parsed, piece, self.meter):
                return value[length:] if op[0] == "#" else value[: size - length]
        return value

    def _replaced(self, value: str, arg: Word, op: str) -> str:
        """The value with the first, every, the leading or the trailing fit replaced."""
        pattern, _, new = self._slash(arg)
        if isinstance(pattern, OpenText) or isinstance(new, OpenText):
            return OpenText(value)
        parsed = pieces(pattern)
        found: list[str] = []
        at = 0
        while parsed and at < len(value):
            length = self._longest(parsed, value[at:], op == "/%")
            if not length and op == "/#":
                break
            found.append(new if length else value[at])
            at += max(1, length)
            if length and op != "//":
                break
        made = "".join(found) + value[at:]
        self.meter.make(len(made))
        return made

    def _longest(self, pattern: list[Piece], text: str, whole: bool) -> int:
        """How much of the beginning of a text fits a pattern, or whether the whole does."""
        longest = len(text) if ANY in pattern else min(len(text), len(pattern))
        shortest = len(text) - 1 if whole else 0
        lengths = range(longest, shortest, -1)
        return next((each for each in lengths if fits(pattern, text[:each], self.meter)), 0)

    def _slash(self, arg: Word) -> tuple[str, str, str]:
        """The pattern and what stands in its place: parted at the first slash that is not
        quoted."""
        if isinstance(arg, str):
            return arg.partition("/")
        head: list[Part] = []
        for at, part in enumerate(arg):
            if isinstance(part, TextPart) and not part.quoted and "/" in part.text:
                before, _, after = part.text.partition("/")
                return (
                    self.text([*head, TextPart(before)]),
                    "/",
                    self.text([TextPart(after), *arg[at + 1 :]]),
                )
            head.append(
                TextPart(part.text.replace("\\", "\\\\"), True)
                if isinstance(part, TextPart) and part.quoted
                else part
            )
        return self.text(head), "", ""


def _one(value: Value) -> str:
    return " ".join(value) if isinstance(value, list) else value


def _is_name(name: str) -> bool:
    return name.isidentifier() or name.isdigit()
