"""A run's memory of where values come from: what the user said, what was read, what was done and approved."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.guards.flow.deeds import Deeds
from stanchion.guards.flow.index import Index
from stanchion.guards.flow.nouns import groups
from stanchion.guards.flow.roles import Role, role
from stanchion.guards.flow.segments import COMMAND, HOSTILE
from stanchion.guards.flow.source import Parse, Sighting, Source
from stanchion.guards.flow.tools import Tool, Vocabulary
from stanchion.guards.flow.user import User
from stanchion.guards.flow.values import ZEROS, Value, is_short_number, values, words
from stanchion.guards.flow.wanted import Wanted
from stanchion.kernel.regex import regex
from stanchion.readings.hostile import GRAMMAR, folded
from stanchion.readings.hostile.lexicon import VERBS, Verbs

MOST_SIZE: Final = 16 * 1024 * 1024
"""How many characters are remembered in all."""
LONGEST: Final = 1024 * 1024
"""How many of one result."""
MOST_SOURCES: Final = 100_000
MOST_NAMED: Final = 64
PLACES: Final = 48
"""How many places of a value are looked at."""
ESCAPES: Final = regex(r"\\(?:[nrtbf]|u[0-9a-f]{4})")
DIGITS: Final = regex(r"[\d\-: ]+")

_encode = msgspec.json.Encoder(enc_hook=str).encode


class Memory:
    """Where the values of one run come from. What it costs to ask does not grow with what was read."""

    def __init__(self, parse: Parse = lambda text: text, most: int = MOST_SIZE) -> None:
        self._parse = parse
        self._most = most
        self.user = User()
        self.index = Index()
        self.sources: list[Source] = []
        self.deeds = Deeds()
        self.names: frozenset[str] = frozenset()
        self.verbs: Verbs = VERBS
        self.grammar = GRAMMAR
        self.licences: dict[str, bool] = {}
        self.counts: dict[str, int] = {}
        """Which tools do what the user asks for, and how often that is, as far as it was looked up."""
        self._size = 0
        self._cut = False
        self._named: deque[Source] = deque(maxlen=MOST_NAMED)
        self._unseen: list[Source] = []
        self._wanted = Wanted()

    @property
    def full(self) -> bool:
        """Whether something was read that is not remembered."""
        return self._cut or self.index.full

    def know(self, vocabulary: Vocabulary) -> None:
        """These tools are there: their names are no words of honest texts, their verbs are verbs."""
        self.names, self.verbs, self.grammar = vocabulary
        self.licences.clear()
        self.counts.clear()

    def say(self, text: str) -> None:
        """The user says something."""
        self.user = self.user.saying(text, self.verbs)
        self.licences.clear()
        self.counts.clear()

    def read(self, tool: Tool, args: Any, content: Any, trust: str = "untrusted", failed: bool = False) -> None:
        """A call has brought this: remember where its values are, and how far the user referred to it."""
        if content is None or content == "":
            return
        is_text = isinstance(content, str)
        text: str = content if is_text else _encode(content).decode("utf-8", "replace")
        if trust == "user":
            self.say(text)
            return
        if len(text) > LONGEST:
            self._cut, text = True, text[:LONGEST]
            content, is_text = text, True
        if self._size + len(text) > self._most or len(self.sources) >= MOST_SOURCES:
            self._cut = True
            return
        lower = folded(text)
        if not is_text and "\\" in lower:
            lower = ESCAPES.sub(" ", lower)
        found = words(lower)
        known = set(found)
        source = Source(len(self.sources) + 1, tool.name, content, found, self.names & known)
        self._place(source, tool, args, trust, failed)
        self.sources.append(source)
        self._size += len(text)
        self.index.add(known, source.number)
        if not source.trusted:
            self._unseen.append(source)
        if source.named or self.user.quoted:
            self._named.append(source)

    def _place(self, source: Source, tool: Tool, args: Any, trust: str, failed: bool) -> None:
        """Say how far the user referred to a source."""
        given = [Value(name, each) for name, each in values(args)]
        theirs = [self.user.has(each) for each in given]
        source.trusted = trust == "trusted"
        source.own = bool(tool.effects) and not failed and not tool.commands(args)
        source.level = 2 if source.trusted or source.own else self._level(tool, given, theirs)
        source.given = bool(given) and all(theirs)
        telling = [
            (value, own)
            for value, own in zip(given, theirs, strict=True)
            if len(value.text) > 2 and not DIGITS.fullmatch(value.text)
        ]
        source.named = all(own for _, own in telling) and any(
            role(value.name) is not Role.CONTENT and self.user.quotes(value) for value, _ in telling
        )
        source.entrusted = source.named and self.user.hands_on
        if trust == "web" and not source.named:
            source.level = min(source.level, 1)

    def _level(self, tool: Tool, given: list[Value], theirs: list[bool]) -> int:
        """How far the user referred to what a call reads: by its arguments, or by what the tool is about."""
        if not given:
            return 2 if not tool.groups or tool.groups & self.user.groups else 1 if self.user.hands_on else 0
        level = 2
        for value, own in zip(given, theirs, strict=True):
            if own:
                continue
            places = self.places(value)
            if any(place.segment.flags & HOSTILE for place in places):
                return 0
            if any(place.clear(2) for place in places) or self.user.half(value):
                continue
            if places and not any(place.clear(1) for place in places):
                return 0
            level = 1
        return level

    def places(self, value: Value) -> list[Sighting]:
        """Where a value was read."""
        said, parts = value.normal, value.words
        if said[:1].isdigit() and ZEROS.search(said):
            said = ZEROS.sub("", said)
            parts = words(said)
        numbers = self.index.rarest(parts)
        if not numbers:
            return []
        found: list[Sighting] = []
        short, phrase = is_short_number(said), ""
        for number in numbers:
            source = self.sources[number - 1]
            if not source.open:
                phrase = phrase if phrase else f" {' '.join(parts)} "
                if not source.may_have(phrase):
                    continue
            hits = source.find(said, short, self.user.quoted, self._parse)
            if hits:
                may = source.signs(self.grammar, self.user.quoted, self._parse)
                found += [Sighting(source, leaf, leaf.around(at, len(said), self.grammar, may)) for leaf, at in hits]
                if len(found) >= PLACES:
                    break
        return found

    def wanted(self) -> Wanted:
        """What texts that were read want; each is looked through once, when that is first asked."""
        if self._unseen:
            waiting, self._unseen = self._unseen, []
            for source in waiting:
                may = source.signs(self.grammar, self.user.quoted, self._parse)
                self._wanted.sensitive = self._wanted.sensitive or may.sensitive
                for place in source.wants(self.grammar, self.user.quoted, self._parse):
                    self._wanted.add(place)
        return self._wanted

    def handed_on(self) -> Iterator[tuple[int, int]]:
        """What sources that the user named want, with what it is about."""
        for source in self._named:
            for place in source.wants(self.grammar, self.user.quoted, self._parse):
                if source.is_named(place.leaf) and place.segment.flags & COMMAND and not place.segment.flags & HOSTILE:
                    yield place.segment.effects, groups(words(place.segment.text))
