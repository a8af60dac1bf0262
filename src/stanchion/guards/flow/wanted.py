"""Wanted: what the texts that were read want, found by the words that they want it with."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.index import Index
from stanchion.guards.flow.segments import COMMAND, HOSTILE
from stanchion.guards.flow.source import Sighting
from stanchion.guards.flow.values import Value, words

MOST: Final = 20_000
"""How many commands are remembered word by word."""
MOST_WORDS: Final = 50_000


class Wanted:
    """The commands and hostile sentences of a run's texts."""

    def __init__(self) -> None:
        self.effects = 0
        self.hostile = False
        self.sensitive = False
        """Whether anything was read that may be told to nobody."""
        self.words: set[str] = set()
        self._places: list[Sighting] = []
        self._index = Index()

    def add(self, place: Sighting) -> None:
        """A text wants this."""
        segment = place.segment
        self.hostile = self.hostile or bool(segment.flags & HOSTILE)
        self.effects |= segment.effects
        found = set(words(segment.text))
        if segment.flags & COMMAND and len(self.words) < MOST_WORDS:
            self.words |= found
        if len(self._places) < MOST:
            self._places.append(place)
            self._index.add(found, len(self._places))

    def having(self, value: Value) -> list[Sighting]:
        """The commands and hostile sentences that a text stands in."""
        if not self._places:
            return []
        said = value.normal
        numbers = self._index.rarest(value.words)
        return [self._places[at - 1] for at in numbers if said in self._places[at - 1].segment.text]
