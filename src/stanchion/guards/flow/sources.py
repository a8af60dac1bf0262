"""Sources: one thing that was read, its records, and the texts in it that ask for something."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.flow.tools import Tool
from stanchion.readings.prose.asking import Sentence, asked
from stanchion.readings.prose.fields import fields
from stanchion.readings.prose.lexicon import stem, stems, words
from stanchion.readings.prose.values import LINK, Value, squash, values

SHORT: Final = 80
"""Up to how many characters a field says what its record is."""
WHOLE: Final = (60, 4_000)
"""How long a field is of which a whole copy is a reference."""


class Record:
    """One record of a result: the words and values of its short fields."""

    __slots__ = ("ident", "values")

    def __init__(self) -> None:
        self.ident: set[str] = set()
        self.values: set[Value] = set()


class Part:
    """A sentence of a span: its stems and values, and whether it commands something."""

    __slots__ = ("commands", "normal", "stems", "values")

    def __init__(self, sentence: Sentence) -> None:
        self.commands = sentence.commands
        self.stems = stems(sentence.text)
        self.values = frozenset(values(sentence.text))
        self.normal = f" {' '.join(words(sentence.text))} "

    def holds(self, value: Value) -> bool:
        """Whether a value stands in this sentence."""
        return f" {value.text} " in self.normal if value.kind in ("text", "num") else value in self.values


class Span:
    """A run of sentences in one field that asks for something."""

    __slots__ = (
        "_squashed", "field", "hostile", "normal", "number", "parts", "record", "source", "stems", "text", "values",
    )  # fmt: skip

    def __init__(self, sentences: list[Sentence], field: str, record: int, source: Source, hostile: bool) -> None:
        self.text = " ".join([each.text for each in sentences])
        self.field, self.record, self.source, self.hostile = field, record, source, hostile
        self.number = 0
        self.parts = [Part(each) for each in sentences]
        self.stems = frozenset().union(*[part.stems for part in self.parts])
        self.values = frozenset().union(*[part.values for part in self.parts], values(self.text))
        self.normal = f" {' '.join(words(self.text))} "
        self._squashed = ""

    @property
    def squashed(self) -> str:
        """Only its letters and digits."""
        if not self._squashed:
            self._squashed = squash(self.text)
        return self._squashed

    def holds(self, value: Value) -> bool:
        """Whether a value stands here."""
        return value in self.values or (value.kind in ("text", "num") and f" {value.text} " in self.normal)


class Source:
    """One result. It is taken apart when that is first needed."""

    __slots__ = (
        "_entrusted", "_normal", "_text", "args",
        "because", "content", "data", "ident", "links", "number", "records", "spans",
        "tool", "trusted", "wholes",
    )  # fmt: skip

    def __init__(self, number: int, tool: Tool, args: Any, content: Any, trusted: bool = False) -> None:
        self.number, self.tool, self.args, self.content, self.trusted = number, tool, args, content, trusted
        self.because: Span | None = None
        self.ident: set[str] = set()
        self.records: dict[int, Record] = {}
        self.spans: list[Span] = []
        self.data: list[tuple[Value, int]] = []
        self.wholes: list[int] = []
        self.links: list[str] = []
        self._text: list[str] = []
        self._normal = ""
        self._entrusted = False

    @property
    def normal(self) -> str:
        """All its words, in order."""
        if not self._normal:
            self._normal = f" {' '.join(words(chr(10).join(self._text)))} "
        return self._normal

    @property
    def acted(self) -> bool:
        """Whether it is what a tool said of what it did, and no page that it opened, nor of a tool without a verb."""
        return bool(self.tool.verbs) and not self.tool.reads and not self.tool.prepares

    def open(self, entrusted: bool = False) -> None:
        """Take it apart; `entrusted` says that the user handed the work to it, so that it may speak to an agent."""
        self._entrusted = entrusted
        for _, text in flat(self.args):
            self.ident |= stems(text)
        last, speaks = -1, False
        for field in fields(self.content):
            record = self.records.setdefault(field.record, Record())
            carried = speaks and field.record == last and field.loose and (not field.name or " " in field.name)
            speaks = self._take(record, field.record, field.name, field.text, carried)
            last = field.record
        self.content = None

    def _take(self, record: Record, number: int, name: str, text: str, carried: bool) -> bool:
        """Take one field; says whether it speaks to a machine."""
        self._text.append(text)
        if "://" in text or "www." in text:
            self.links += [squash(link.partition("://")[2] or link) for link in LINK.findall(text)]
        if WHOLE[0] < len(text) < WHOLE[1]:
            self.wholes.append(hash(squash(text)))
        found = asked(text, carried, self._entrusted)
        for each in found.data:
            self._data(record, number, each)
        hot = False
        for run in found.spans:
            at = next((at for at, one in enumerate(run) if one.hostile), len(run))
            hot = hot or at < len(run)
            for part, hostile in ((run[:at], False), (run[at:], True)):
                if part:
                    self.spans.append(Span(part, name, number, self, hostile and not self.trusted))
        return hot

    def _data(self, record: Record, number: int, text: str) -> None:
        found = values(text)
        self.data += [(value, number) for value in found]
        if len(text) <= SHORT:
            record.ident |= stems(text)
            record.values.update(found)
            if "@" in text or "_" in text:
                record.ident |= {stem(piece) for piece in words(text.replace("_", " ")) if len(piece) > 2}
            plain = " ".join(words(text))
            if len(plain) > 2:
                self.data.append((Value("text", plain), number))


def flat(args: Any, name: str = "", depth: int = 0) -> list[tuple[str, str]]:
    """The arguments of a call as texts, each with the name of the innermost parameter it is of."""
    found: list[tuple[str, str]] = []
    if isinstance(args, dict):
        for key, value in args.items() if depth < 24 else ():
            found += flat(value, str(key), depth + 1)
    elif isinstance(args, list | tuple):
        for value in args if depth < 24 else ():
            found += flat(value, name, depth + 1)
    elif args is not None and not isinstance(args, bool):
        text = args if isinstance(args, str) else str(args)
        if text and not text.isspace():
            found.append((name, text))
    return found[:400]
