"""Sources: one thing that was read, with where each value in it stands; it is taken apart when that is first asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from stanchion.guards.flow.roles import Role, identifies, role
from stanchion.guards.flow.segments import COMMAND, HOSTILE, PLAIN, Segment, Signs, segments, signs
from stanchion.guards.flow.structure import read
from stanchion.guards.flow.values import IBAN, MAIL, URL, stands
from stanchion.kernel.regex import regex
from stanchion.readings.hostile import Grammar, normal

Parse = Callable[[str], Any]
"""Gives the structure of a text that is neither JSON nor a literal; the text itself where it has none."""

APART: Final = "\x1f"
HITS: Final = 24
"""How many places in one source are looked at, from its start."""
MOST_LEAVES: Final = 20_000
DEEPEST: Final = 32
AROUND: Final = 60
FIELD: Final = regex(r"[a-z_][A-Za-z_]*")
"""A name that is no value: one that a programmer gave."""
KEY: Final = "key"
"""The field of a name that is itself a value."""


class Record:
    """One object of a result. `exact`: the user quoted what it is called. `demoted`: another one is the exact one."""

    __slots__ = ("above", "demoted", "exact")

    def __init__(self, above: Record | None = None) -> None:
        self.above = above
        self.exact = self.demoted = False

    def up(self) -> Iterator[Record]:
        """Itself, and the records that it is a part of."""
        record: Record | None = self
        while record is not None:
            yield record
            record = record.above


class Leaf:
    """One value of a result: its text, the field it stands in, and its record."""

    __slots__ = ("_segments", "_starts", "field", "normal", "record", "text")

    def __init__(self, text: str, field: str, record: Record) -> None:
        self.text = text
        self.field = field
        self.record = record
        self.normal = normal(text)
        self._segments: tuple[Segment, ...] | None = None
        self._starts: list[int] | None = None

    @property
    def free(self) -> bool:
        """Whether somebody else writes in this field as they like."""
        return role(self.field) is Role.CONTENT

    def segments(self, grammar: Grammar, may: Signs) -> tuple[Segment, ...]:
        """Its text in its segments."""
        if self._segments is None:
            self._segments = segments(self.text, self.normal, self.field, grammar, may)
        return self._segments

    def around(self, at: int, size: int, grammar: Grammar, may: Signs) -> Segment:
        """The segment that a value stands in; where it spans several, these as one."""
        found = self.segments(grammar, may)
        if len(found) == 1:
            return found[0]
        here = [found[pos] for pos in range(self._number(at), self._number(at + size - 1) + 1)]
        if len(here) == 1:
            return here[0]
        flags, effects, plain = 0, 0, PLAIN
        for part in here:
            flags |= part.flags
            effects |= part.effects
            plain &= part.flags
        return Segment(self.normal[max(0, at - AROUND) : at + size + AROUND], flags & ~PLAIN | plain, effects)

    def _number(self, at: int) -> int:
        """Which segment a character stands in."""
        if self._starts is None:
            self._starts, end = [], 0
            for segment in self._segments if self._segments is not None else ():
                start = max(end, self.normal.find(segment.text, end))
                self._starts.append(start)
                end = start + len(segment.text)
        return max(0, bisect_right(self._starts, at) - 1)


def shape_of(text: str) -> str:
    """What kind of address a value is; empty where it is none."""
    if MAIL.fullmatch(text):
        return "mail"
    if URL.match(text):
        return "url"
    return "account" if IBAN.fullmatch(text) else ""


class Sighting(NamedTuple):
    """Where a value was found."""

    source: Source
    leaf: Leaf
    segment: Segment

    def clear(self, level: int) -> bool:
        """Whether it is in something that the user referred to, at least so far, and nothing hostile."""
        source = self.source
        if source.trusted:
            return True
        if self.segment.flags & HOSTILE or self.leaf.record.demoted:
            return False
        return source.level >= level or source.own


class Source:
    """One result, prompt of another agent, or error. `level` says how far the user referred to it (0 to 2), `own` that
    it came of a permitted change, `named` that the user named it, `given` that all of its arguments are theirs,
    `entrusted` that they handed their work to it."""

    __slots__ = (
        "_blob", "_content", "_leaves", "_names", "_raw", "_signs", "_starts", "entrusted", "given", "level", "named",
        "number", "own", "records", "tool", "trusted",
    )  # fmt: skip

    def __init__(self, number: int, tool: str, content: Any, found: list[str], names: frozenset[str]) -> None:
        self.number = number
        self._names = names
        self.tool = tool
        self.level = 0
        self.own = self.named = self.given = self.trusted = self.entrusted = False
        self.records: list[Record] = []
        self._content = content
        self._raw = f" {' '.join(found)} "
        self._leaves: list[Leaf] | None = None
        self._signs: Signs | None = None
        self._blob = ""
        self._starts: list[int] = []

    @property
    def open(self) -> bool:
        """Whether it was taken apart already."""
        return self._leaves is not None

    def may_have(self, phrase: str) -> bool:
        """Whether words stand in it in this order, as long as it was not taken apart; they may be of several values."""
        return phrase in self._raw

    def leaves(self, quoted: frozenset[str], parse: Parse) -> list[Leaf]:
        """Its values, in order; taken apart once."""
        if self._leaves is None:
            self._leaves = list(islice(self._walk(read(self._content, parse), None, "", 0, False), MOST_LEAVES))
            self._content, self._raw = None, ""
            self._mark(quoted)
            at, texts = 0, []
            for leaf in self._leaves:
                self._starts.append(at)
                texts.append(leaf.normal)
                at += len(leaf.normal) + 1
            self._blob = APART.join(texts)
        return self._leaves

    def find(self, value: str, number: bool, quoted: frozenset[str], parse: Parse) -> list[tuple[Leaf, int]]:
        """The values that a value stands in as whole words, and where in them."""
        leaves = self._leaves if self._leaves is not None else self.leaves(quoted, parse)
        blob, starts, size = self._blob, self._starts, len(value)
        found: list[tuple[Leaf, int]] = []
        at = blob.find(value)
        while at >= 0:
            if stands(blob, at, size, number):
                pos = bisect_right(starts, at) - 1
                found.append((leaves[pos], at - starts[pos]))
                if len(found) >= HITS:
                    break
            at = blob.find(value, at + size)
        return found

    def _walk(self, value: Any, record: Record | None, field: str, depth: int, listed: bool) -> Iterator[Leaf]:
        if isinstance(value, dict) and depth < DEEPEST:
            if record is None or listed:
                record = self._record(record)
            for key, each in value.items():
                name = str(key)
                if isinstance(each, dict) or not FIELD.fullmatch(name):
                    yield Leaf(name, KEY, record)
                yield from self._walk(each, record, name, depth + 1, False)
        elif isinstance(value, list | tuple) and depth < DEEPEST:
            for each in value:
                yield from self._walk(each, record, field, depth + 1, True)
        elif value is not None and value != "":
            yield Leaf(str(value), field, self._record(None) if record is None else record)

    def _record(self, above: Record | None) -> Record:
        self.records.append(Record(above))
        return self.records[-1]

    def _mark(self, quoted: frozenset[str]) -> None:
        """Find the records that the user quoted by what they are called; the others give way to them."""
        if not quoted or self._leaves is None:
            return
        for leaf in self._leaves:
            if leaf.normal in quoted and leaf.field != KEY and identifies(leaf.field):
                leaf.record.exact = True
        exact = [record for record in self.records if record.exact]
        kept = {id(each) for record in exact for each in record.up()}
        for record in self.records if exact else ():
            record.demoted = id(record) not in kept and not any(each.exact for each in record.up())

    def has_field_for(self, leaf: Leaf, shape: str) -> bool:
        """Whether the record of a value has a field of its own for addresses of that shape."""
        return any(
            each.record is leaf.record and not each.free and shape_of(each.normal) == shape
            for each in (self._leaves if self._leaves is not None else ())
        )

    def is_named(self, leaf: Leaf) -> bool:
        """Whether the user named this source, or the record in it."""
        return self.named or leaf.record.exact

    def signs(self, grammar: Grammar, quoted: frozenset[str], parse: Parse) -> Signs:
        """What may be in it; for most of what tools return neither commands nor hostile phrases."""
        if self._signs is None:
            if isinstance(self._content, str) and self._leaves is None:
                text, fields = self._content.replace("\\n", "\n"), ""
            else:
                leaves = self.leaves(quoted, parse)
                text, fields = "\n".join([leaf.text for leaf in leaves]), " ".join({leaf.field for leaf in leaves})
            self._signs = signs(text, fields, grammar, self._names, self.entrusted)
        return self._signs

    def wants(self, grammar: Grammar, quoted: frozenset[str], parse: Parse) -> Iterator[Sighting]:
        """The segments that command something or are hostile."""
        may = self.signs(grammar, quoted, parse)
        if not may.hostile and not may.commands:
            return
        for leaf in self.leaves(quoted, parse):
            for segment in leaf.segments(grammar, may):
                if segment.flags & (COMMAND | HOSTILE):
                    yield Sighting(self, leaf, segment)
