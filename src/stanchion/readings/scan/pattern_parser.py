"""The parser of patterns, which are regular expressions without what costs more than linear time,
to the tree that all scanners are made from."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, NoReturn

NEWLINE: Final = 0x1E
"""The byte that stands for the end of a line, so that the byte for it can stand for the end of a
text."""
BORDER: Final = 0x0A
"""The byte that stands between two texts that are scanned together. No pattern has it."""

ANY: Final = (1 << 256) - 1 & ~(1 << BORDER)
"""Every character."""


class Chars(NamedTuple):
    """One character of a set: bit N is set where the character N is in it."""

    mask: int


class EdgeNode(NamedTuple):
    """A place between two characters: the beginning or the end of the text, or of a word."""

    kind: Literal["start", "end", "word"]


class Seq(NamedTuple):
    """One after the other."""

    items: tuple[Node, ...]


class Or(NamedTuple):
    """One or the other, the first that fits."""

    items: tuple[Node, ...]


class Repeat(NamedTuple):
    """Again and again: from `low` to `high` times (`None`: without an end), as few times as fit
    where it is `lazy`."""

    item: Node
    low: int
    high: int | None
    lazy: bool


class GroupNode(NamedTuple):
    """The part that counts."""

    item: Node


Node = Chars | EdgeNode | Seq | Or | Repeat | GroupNode

EMPTY: Final = Seq(())


def chars(text: str) -> int:
    """The set of these characters."""
    mask = 0
    for char in text:
        mask |= 1 << byte(char)
    return mask


def byte(char: str) -> int:
    """The byte that stands for a character."""
    return NEWLINE if char == "\n" else ord(char)


def span(first: int, last: int) -> int:
    """The set of all characters from one to another."""
    mask = (1 << (last + 1)) - (1 << first)
    return (mask | 1 << NEWLINE) & ANY if first <= BORDER <= last else mask


DIGITS: Final = chars("0123456789")
LETTERS: Final = span(ord("a"), ord("z")) | span(ord("A"), ord("Z"))
WORD: Final = DIGITS | LETTERS | chars("_")
SPACE: Final = chars(" \t\n\r\f")
LINE: Final = ANY & ~(1 << NEWLINE)
UPPER: Final = span(ord("A"), ord("Z"))
LOWER: Final = span(ord("a"), ord("z"))


def caseless(mask: int) -> int:
    """A set with both cases of its letters."""
    return mask | (mask & UPPER) << 32 | (mask & LOWER) >> 32


def inverse(mask: int) -> int:
    """All other characters."""
    return ANY & ~mask


CLASSES: Final = {
    "d": DIGITS, "D": inverse(DIGITS), "w": WORD, "W": inverse(WORD), "s": SPACE,
    "S": inverse(SPACE),
}  # fmt: skip
NAMED: Final = {
    "alnum": LETTERS | DIGITS, "alpha": LETTERS, "digit": DIGITS, "lower": LOWER, "upper": UPPER,
    "word": WORD, "space": SPACE | chars("\v"), "blank": chars(" \t"),
    "xdigit": DIGITS | chars("abcdefABCDEF"), "punct": chars("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
}  # fmt: skip
CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
EDGES: Final = {"b": EdgeNode("word"), "A": EdgeNode("start"), "z": EdgeNode("end")}
MOST: Final = 1_000
"""How often something may be repeated by a number; RE2 has the same limit."""
DEEPEST: Final = 50


class PatternError(ValueError):
    """A pattern that cannot be scanned for; the text says why, and what to write instead."""


def read(text: str) -> Node:
    """The tree of a pattern."""
    reading = _Reading(text)
    node = reading.alternatives(0)
    if reading.at < len(text):
        reading.wrong("a `)` too many")
    return node


class _Reading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.caseless = False
        self.dots = False
        self.groups = 0

    def wrong(self, what: str) -> NoReturn:
        raise PatternError(
            f"the pattern `{self.text}` has {what}, at character {self.at + 1}: change it"
        )

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        char = self.text[self.at : self.at + 1]
        if not char:
            self.wrong("no end")
        self.at += 1
        return char

    def alternatives(self, depth: int) -> Node:
        if depth > DEEPEST:
            self.wrong(f"more than {DEEPEST} brackets in each other")
        kept = (self.caseless, self.dots)
        found = [self.sequence(depth)]
        while self.peek() == "|":
            self.at += 1
            found.append(self.sequence(depth))
        self.caseless, self.dots = kept
        return found[0] if len(found) == 1 else Or(tuple(found))

    def sequence(self, depth: int) -> Node:
        items: list[Node] = []
        while (char := self.peek()) and char not in "|)":
            if char in "*+?":
                self.wrong(f"a `{char}` with nothing before it")
            items.append(self.repeated(self.one(depth)))
        return items[0] if len(items) == 1 else Seq(tuple(items))

    def repeated(self, item: Node) -> Node:
        char = self.peek()
        if char == "{":
            bounds = self.bounds()
            if bounds is None:
                return item
        elif char and char in "*+?":
            self.at += 1
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        else:
            return item
        low, high = bounds
        lazy = self.peek() == "?"
        self.at += lazy
        if self.peek() and self.peek() in "*+?":
            self.wrong("one repetition right behind another")
        if item == EMPTY or isinstance(item, EdgeNode):
            return item
        return Repeat(item, low, high, lazy)

    def bounds(self) -> tuple[int, int | None] | None:
        """The numbers of a `{}`; `None` where it is none and so means itself."""
        inner, closed, _ = self.text[self.at + 1 :].partition("}")
        first, comma, last = inner.partition(",")
        if not closed or not _is_number(first) or (last and not _is_number(last)):
            return None
        low = int(first)
        high = low if not comma else int(last) if last else None
        if low > MOST or (high is not None and not low <= high <= MOST):
            self.wrong(f"a number of repetitions that is out of order or above {MOST:,}")
        self.at += len(inner) + 2
        return low, high

    def one(self, depth: int) -> Node:
        char = self.take()
        match char:
            case "(":
                return self.group(depth)
            case "[":
                return Chars(self.folded(self.bracket()))
            case ".":
                return Chars(ANY if self.dots else LINE)
            case "^":
                return EdgeNode("start")
            case "$":
                return EdgeNode("end")
            case "\\" if self.peek() and self.peek() in EDGES:
                return EDGES[self.take()]
            case "\\" if self.peek() == "Q":
                return self.quoted()
            case "\\":
                return Chars(self.folded(self.escape()))
            case _:
                return Chars(self.folded(self.plain(char)))

    def folded(self, mask: int) -> int:
        return caseless(mask) if self.caseless else mask

    def plain(self, char: str) -> int:
        if ord(char) > 255:
            self.wrong(f"the character `{char}`, which is beyond Latin-1")
        return 1 << byte(char)

    def quoted(self) -> Node:
        self.at += 1
        inner, _, _ = self.text[self.at :].partition("\\E")
        self.at = min(len(self.text), self.at + len(inner) + 2)
        return Seq(tuple([Chars(self.folded(self.plain(char))) for char in inner]))

    def escape(self) -> int:
        char = self.take()
        if char in CLASSES:
            return CLASSES[char]
        if char in CONTROLS:
            return 1 << byte(CONTROLS[char])
        if char == "x":
            digits = self.text[self.at : self.at + 2]
            width = 2
            if digits[:1] == "{":
                digits = self.text[self.at + 1 :].partition("}")[0]
                width = len(digits) + 2
            if (
                width == 2 != len(digits)
                or not digits
                or any(digit not in "0123456789abcdefABCDEF" for digit in digits)
                or int(digits, 16) > 255
            ):
                self.wrong("an escape `\\x` without two hexadecimal digits")
            self.at += width
            return 1 << byte(chr(int(digits, 16)))
        if char.isalnum():
            self.wrong(f"the escape `\\{char}`, which is not known here")
        return self.plain(char)

    def bracket(self) -> int:
        negated = self.peek() == "^"
        self.at += negated
        mask = 0
        first = True
        while first or self.peek() != "]":
            first = False
            mask |= self.member()
        self.at += 1
        mask = self.folded(mask)
        mask = inverse(mask) if negated else mask
        if not mask:
            self.wrong("a set of characters with nothing in it")
        return mask

    def member(self) -> int:
        if self.text.startswith("[:", self.at):
            name, closed, _ = self.text[self.at + 2 :].partition(":]")
            if closed and name.lstrip("^") in NAMED:
                self.at += len(name) + 4
                mask = NAMED[name.lstrip("^")]
                return inverse(mask) if name.startswith("^") else mask
        char = self.take()
        mask = self.escape() if char == "\\" else self.plain(char)
        following = self.text[self.at + 1 : self.at + 2]
        if self.peek() != "-" or following in ("]", "") or mask & (mask - 1):
            return mask
        self.at += 1
        last = self.take()
        end = self.escape() if last == "\\" else self.plain(last)
        if end & (end - 1) or end.bit_length() - 1 < _low(mask):
            self.wrong("a range of characters that is out of order")
        return span(_low(mask), end.bit_length() - 1)

    def group(self, depth: int) -> Node:
        if self.peek() != "?":
            return self.captured(depth)
        self.at += 1
        if self.text.startswith(("P<", "<"), self.at) and self.text[
            self.at + 1 : self.at + 2
        ] not in ("=", "!"):
            name = self.text[self.at :].partition(">")[0]
            self.at += len(name) + 1
            return self.captured(depth)
        flags = ""
        while (char := self.take()) not in ":)":
            flags += char
        kept = (self.caseless, self.dots)
        self.set_flags(flags)
        if char == ")":
            return EMPTY
        node = self.closed(self.alternatives(depth + 1))
        self.caseless, self.dots = kept
        return node

    def set_flags(self, flags: str) -> None:
        on, _, off = flags.partition("-")
        for names, value in ((on, True), (off, False)):
            for name in names:
                if name == "i":
                    self.caseless = value
                elif name == "s":
                    self.dots = value
                else:
                    self.wrong(
                        f"`(?{flags}`, of which only `i` and `s` are known here: no lookaround, no "
                        f"lines"
                    )

    def captured(self, depth: int) -> Node:
        self.groups += 1
        number = self.groups
        node = self.closed(self.alternatives(depth + 1))
        return GroupNode(node) if number == 1 else node

    def closed(self, node: Node) -> Node:
        if self.peek() != ")":
            self.wrong("a `(` that is never closed")
        self.at += 1
        return node


def _low(mask: int) -> int:
    """Where a range begins: the end of a line stands elsewhere than it is."""
    first = mask.bit_length() - 1
    return BORDER if first == NEWLINE else first


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
