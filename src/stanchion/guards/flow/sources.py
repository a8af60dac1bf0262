"""Sources: one thing that was read, its records, and the texts in it that ask for something."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.user import is_kind
from stanchion.kernel.regex import regex
from stanchion.readings.prose.asking import Sentence, asked, is_value, labelled, wanted
from stanchion.readings.prose.fields import fields
from stanchion.readings.prose.lexicon import NONE, stem, stems_of, words
from stanchion.readings.prose.phrases import CHANGED_BY
from stanchion.readings.prose.tokens import (
    NO_VALUES,
    stems_and_values,
    stems_in,
    tokens,
    values_in,
    words_in,
)
from stanchion.readings.prose.values import LINK, Value, squash, values

PASSIVE: Final = regex(r" be(?: [a-z]+ly)? ([a-z]+(?:ed|en|t|id|d)) ")
"""What is to be done to something."""
SHORT: Final = 80
"""Up to how many characters a field says what its record is."""
BRIEF: Final = 300
"""Up to how many characters a result is no more than a status."""
DEEPEST: Final = 24
MOST: Final = 400
"""How deep arguments are looked at, and how many values of a call."""
KEPT: Final = 4_096
LABEL: Final = 40
"""How many fields are remembered as they were understood, and how long they may be."""
WHOLE: Final = (60, 4_000)
"""How long a field is of which a whole copy is a reference."""


class Record:
    """One record of a result: the words and values of its short fields."""

    __slots__ = ("_telling", "ident", "values")

    def __init__(self) -> None:
        self.ident: set[str] = set()
        self.values: set[Value] = set()
        self._telling: tuple[str, ...] | None = None

    @property
    def telling(self) -> tuple[str, ...]:
        """Its words that do not only name a kind of text; asked for once it is whole."""
        if self._telling is None:
            self._telling = tuple([word for word in self.ident if not is_kind(word)])
        return self._telling


class Part:
    """A sentence of a span: its stems and values, whether it commands something, whether it
    announces a change."""

    __slots__ = ("_normal", "_verbs", "announces", "asks", "commands", "stems", "text", "values")

    def __init__(self, sentence: Sentence) -> None:
        self.text, self.asks, self.commands, _, self.announces = sentence
        self._verbs: frozenset[str] | None = None
        self._normal = ""
        self.stems, self.values = stems_and_values(self.text)
        if self.announces:
            self.stems |= CHANGED_BY

    @property
    def normal(self) -> str:
        """Its words, in order."""
        if not self._normal:
            self._normal = f" {' '.join(words(self.text))} "
        return self._normal

    @property
    def verbs(self) -> frozenset[str]:
        """The stems that stand where a verb wants something, those of what is to be done to
        something included."""
        if self._verbs is None:
            passive = [stem(word) for word in PASSIVE.findall(self.normal)]
            self._verbs = wanted(self.text).union(passive, CHANGED_BY if self.announces else ())
        return self._verbs

    def holds(self, value: Value) -> bool:
        """Whether a value stands in this sentence."""
        return (
            f" {value.text} " in self.normal
            if value.kind in ("text", "num")
            else value in self.values
        )


class Span:
    """A run of sentences in one field that asks for something."""

    __slots__ = (
        "_normal", "_squashed", "field", "hostile", "number", "parts", "record", "source", "stems",
        "text", "values",
    )  # fmt: skip

    def __init__(
        self, sentences: list[Sentence], field: str, record: int, source: Source, hostile: bool
    ) -> None:
        self.text = " ".join([each.text for each in sentences])
        self.field, self.record, self.source, self.hostile = field, record, source, hostile
        self.number = 0
        self.parts = [Part(each) for each in sentences]
        if len(self.parts) == 1:
            (only,) = self.parts
            self.stems, self.values = only.stems, only.values
        else:
            self.stems = NONE.union(*[part.stems for part in self.parts])
            self.values = NO_VALUES.union(*[part.values for part in self.parts])
        self._squashed = self._normal = ""

    @property
    def normal(self) -> str:
        """Its words, in order."""
        if not self._normal:
            joined = "".join([part.normal for part in self.parts])
            self._normal = joined if len(self.parts) == 1 else joined.replace("  ", " ")
        return self._normal

    @property
    def squashed(self) -> str:
        """Only its letters and digits."""
        if not self._squashed:
            self._squashed = squash(self.text)
        return self._squashed

    def holds(self, value: Value) -> bool:
        """Whether a value stands here."""
        return value in self.values or (
            value.kind in ("text", "num") and f" {value.text} " in self.normal
        )

    def announces(self, value: Value) -> bool:
        """Whether a sentence announces that somebody is reached or paid by a value from now on."""
        return any(part.announces and part.holds(value) for part in self.parts)


class Source:
    """One result. It is taken apart when that is first needed."""

    __slots__ = (
        "_normal",
        "_text",
        "args",
        "because",
        "content",
        "data",
        "entrusted",
        "ident",
        "links",
        "number",
        "records",
        "spans",
        "tool",
        "trusted",
        "wholes",
    )  # fmt: skip

    def __init__(
        self, number: int, tool: Tool, args: Any, content: Any, trusted: bool = False
    ) -> None:
        self.number, self.tool, self.args, self.content, self.trusted = (
            number,
            tool,
            args,
            content,
            trusted,
        )
        self.because: Span | None = None
        self.ident: set[str] = set()
        self.records: dict[int, Record] = {}
        self.spans: list[Span] = []
        self.data: list[tuple[Value, int]] = []
        self.wholes: list[bytes] = []
        self.links: list[str] = []
        self._text: list[str] = []
        self._normal = ""
        self.entrusted = False

    def text(self, most: int) -> str:
        """What it says, up to so many characters."""
        return "\n".join(self._text)[:most]

    @property
    def normal(self) -> str:
        """All its words, in order."""
        if not self._normal:
            self._normal = f" {' '.join(words(chr(10).join(self._text)))} "
        return self._normal

    @property
    def acted(self) -> bool:
        """Whether it is what a tool said of what it did: one that is known to do something, and not
        to open a page."""
        return bool(self.tool.verbs) and not self.tool.reads and not self.tool.prepares

    @property
    def status(self) -> bool:
        """Whether it is what a tool said of what it did, and no longer than such words are."""
        return self.acted and sum(map(len, self._text)) <= BRIEF

    def open(self, entrusted: bool = False) -> None:
        """Take it apart; `entrusted` says that the user handed the work to it, so that it may speak
        to an agent."""
        self.entrusted = entrusted
        for _, text in flat(self.args):
            self.ident |= stems_of(words(text))
        last, speaks = -1, False
        for number, name, text, loose in fields(self.content):
            record = self.records.get(number)
            if record is None:
                record = self.records[number] = Record()
            carried = speaks and number == last and loose and (not name or " " in name)
            whole = labelled(name, text) if loose and name else text
            speaks = self._take(record, number, name, whole, carried)
            last = number
        self.content = None

    def _take(self, record: Record, number: int, name: str, text: str, carried: bool) -> bool:
        """Take one field; says whether it speaks to a machine."""
        self._text.append(text)
        if not text:
            return False
        if "://" in text or "www." in text:
            self.links += [squash(link.partition("://")[2] or link) for link in LINK.findall(text)]
        if WHOLE[0] < len(text) < WHOLE[1]:
            self.wholes.append(digest(text))
        if is_value(text):
            self._data(record, number, text)
            return False
        if len(text) <= LABEL and not carried:
            found = _asked(text, False, self.entrusted)
        else:
            found = asked(text, carried, self.entrusted)
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
        if len(text) > SHORT:
            self.data += [(value, number) for value in values(text)]
            return
        stems, own, placed = _known(text) if len(text) <= LABEL else _facts(text)
        record.ident |= stems
        if own:
            record.values.update(own)
        self.data += [(value, number) for value in placed]


class Facts(NamedTuple):
    """What a short text says as data: its stems, its values, and those with the whole of it as
    one."""

    stems: frozenset[str]
    values: tuple[Value, ...]
    placed: tuple[Value, ...]


def _facts(text: str) -> Facts:
    read = tokens(text)
    found = tuple(values_in(text, read))
    plain = " ".join(words_in(read))
    return Facts(stems_in(read), found, (*found, Value("text", plain)) if len(plain) > 2 else found)


_known = lru_cache(KEPT)(_facts)
_asked = lru_cache(KEPT)(asked)
"""The shortest fields of records are often the same: what they say and ask for is found once."""


def digest(text: str) -> bytes:
    """A text whatever its blanks and signs are, in few bytes."""
    return blake2b(squash(text).encode("utf-8", "replace"), digest_size=16).digest()


def flat(args: Any) -> list[tuple[str, str]]:
    """The arguments of a call as texts, each with the name of the innermost parameter it is of."""
    found: list[tuple[str, str]] = []
    if type(args) is dict:
        for name, value in args.items():
            if type(value) is str:
                if value and not value.isspace():
                    found.append((name, value))
            elif type(value) is int or type(value) is float:
                found.append((str(name), str(value)))
            elif value is not None and value is not True and value is not False:
                _flatten(value, str(name), found, 1)
    else:
        _flatten(args, "", found, 0)
    return found[:MOST]


def _flatten(value: Any, name: str, found: list[tuple[str, str]], depth: int) -> None:
    if isinstance(value, dict):
        for key, each in value.items() if depth < DEEPEST else ():
            _flatten(each, str(key), found, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value if depth < DEEPEST else ():
            _flatten(each, name, found, depth + 1)
    elif value is not None and not isinstance(value, bool) and len(found) < MOST:
        text = value if isinstance(value, str) else str(value)
        if text and not text.isspace():
            found.append((name, text))
