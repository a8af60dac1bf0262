"""What a task knows of values: the user's words, records that were read, what stands in texts, what
it has made; and by that where a value comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from stanchion.readings.origins.facts import Facts, RecordFacts
from stanchion.readings.origins.marks import Spelled, pairs_of

Word = Literal[
    "granted", "user", "me", "own", "named", "directory", "other record", "content", "nowhere"
]
"""Where a value comes from, the best first."""

MOST: Final = 100_000
"""How many marks of texts, and how many of values, are remembered."""
MOST_LISTINGS: Final = 64
"""How many of the last results are held against each other."""
PLACES: Final = 16
"""In how many records a value is looked for."""
ENOUGH: Final = 0.6
FEW: Final = 2
"""How much of a title, and how many of its words, have to be said to mean its record."""


class Origin(NamedTuple):
    """Where a value comes from: the word for it, the number of the result and its tool, the field;
    whether its record stands in a flat text, where anybody may have written it."""

    word: Word
    result: int = 0
    tool: str = ""
    field: str = ""
    forged: bool = False


NOWHERE: Final = Origin("nowhere")


class Listing:
    """One result with records: of which number and tool, and whether it answers a question for one
    thing that is known by itself."""

    __slots__ = ("lone", "number", "pointed", "records", "tool", "version")

    def __init__(self, number: int, tool: str, records: tuple[RecordFacts, ...], lone: bool):
        self.number, self.tool, self.records, self.lone = number, tool, records, lone
        self.version, self.pointed = -1, frozenset[int]()


class Place(NamedTuple):
    """Where a value names a record: the listing, the number of the record in it, the field."""

    listing: Listing
    record: int
    field: str


class Known:
    """What a task knows. It holds marks and no texts, and no more than `MOST` of each kind."""

    def __init__(self) -> None:
        self.opened = False
        """Whether anything was read that others may have written."""
        self.instructed = False
        """Whether free text was among it, which may say how to put a value together."""
        self.full = False
        self.user: set[int] = set()
        self.pairs: set[int] = set()
        self.links: set[int] = set()
        self.names: set[int] = set()
        """What the user has said: words and values, pairs of words, addresses, names."""
        self.me: set[int] = set()
        self.owned: set[int] = set()
        """Values of trusted results, and those that the host says are the user's."""
        self.own: set[int] = set()
        self.texts: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self.phrases: set[int] = set()
        self.wholes: set[int] = set()
        """What was read: words and values with the number of their result, pairs of words, whole
        texts."""
        self.listed: dict[int, int] = {}
        self.read_links: set[int] = set()
        self.places: dict[int, list[Place]] = {}
        self.listings: list[Listing] = []
        self.tools: list[str] = []
        self.page: Origin | None = None
        """Where the address of the page comes from that a browser shows."""
        self._version = 0

    def say(self, facts: Facts) -> None:
        """The user says something."""
        self._version += 1
        self._put(self.user, facts.texts)
        self._put(self.pairs, facts.pairs)
        self._put(self.links, facts.links)
        self._put(self.names, facts.listed)

    @property
    def spoke(self) -> bool:
        """Whether the user has said anything."""
        return self._version > 0

    def trust(self, facts: Facts) -> None:
        """Something that is trusted was read: its values are as good as those of the host."""
        self.tools.append("")
        for record in facts.records:
            self._put(self.me, [mark for mark, *_ in record.ids])
        self._put(self.me, facts.listed)
        self._put(self.me, facts.texts)

    def read(
        self, tool: str, facts: Facts, lone: bool, makes: bool, instructs: bool = True
    ) -> None:
        """Something was read. `lone` says that it was looked up by values of the user's alone,
        `makes` that it tells what the task itself has made, `instructs` that it is more than what
        an acting tool says of what it did."""
        self.opened = True
        self.instructed = self.instructed or (facts.prose and instructs)
        self.tools.append(tool)
        number = len(self.tools)
        for marks, kept in ((facts.texts, self.texts), (facts.numbers, self.numbers)):
            for mark in marks:
                if len(kept) < MOST:
                    kept.setdefault(mark, number)
                elif mark not in kept:
                    self.full = True
        self._put(self.read_links, facts.links)
        self._put(self.phrases, facts.pairs)
        self._put(self.wholes, facts.wholes)
        if makes:
            for record in facts.records:
                self._put(self.own, [mark for mark, *_ in record.ids])
            return
        for mark in facts.listed:
            self.listed.setdefault(mark, number)
        self.full = self.full or facts.cut
        listing = Listing(number, tool, facts.records, lone and len(facts.records) == 1)
        self.listings.append(listing)
        del self.listings[:-MOST_LISTINGS]
        for at, record in enumerate(facts.records):
            for mark, field, _ in record.ids:
                places = self.places.setdefault(mark, [])
                if len(places) < PLACES:
                    places.append(Place(listing, at, field))

    def make(self, spelled: Iterable[Spelled]) -> None:
        """The task has acted on these values, which it was allowed to."""
        self._put(self.own, [one.mark for one in spelled if one.mark])

    def _put(self, kept: set[int], marks: Iterable[int]) -> None:
        room = MOST - len(kept)
        for mark in marks:
            if room <= 0:
                self.full = True
                return
            if mark not in kept:
                kept.add(mark)
                room -= 1

    def origin(self, value: Spelled) -> Origin:
        """Where a value comes from, by the best of all there is."""
        mark = value.mark
        if not mark:
            return NOWHERE
        if not value.common and value.is_said(self.user, self.pairs):
            return Origin("user")
        if mark in self.owned or mark in self.me or value.is_said(self.me, self.me):
            return Origin("me")
        if mark in self.own:
            return Origin("own")
        places = self.places.get(mark, ())
        for place in places:
            if self._is_named(place):
                return Origin("named", *_of(place))
        if mark in self.listed and mark not in self.numbers and not self._in_texts(value):
            return Origin("directory", self.listed[mark], self._tool(self.listed[mark]))
        if places:
            return Origin("other record", *_of(places[0]))
        return self.read_in(value)

    def read_in(self, value: Spelled) -> Origin:
        """The free text or the field that a value stands in."""
        found = self.numbers.get(value.mark, 0)
        if found:
            return Origin("content", found, self._tool(found))
        if self._in_texts(value):
            return self.place_of(_marks(value))
        return Origin("content") if self.full else NOWHERE

    def place_of(self, marks: Iterable[int]) -> Origin:
        """The text in which the last of some marks was found."""
        found = max([self.texts.get(each, 0) for each in marks], default=0)
        return Origin("content", found, self._tool(found))

    def _in_texts(self, value: Spelled) -> bool:
        return value.stands_in(self.texts)

    def _tool(self, number: int) -> str:
        return self.tools[number - 1] if 0 < number <= len(self.tools) else ""

    def _is_named(self, place: Place) -> bool:
        """Whether the user's words point at a record, and at no other of its listing; and no other
        listing has one of the same name or title that says otherwise."""
        pointed = self._pointed_in(place.listing)
        if pointed != {place.record} and not (place.listing.lone and not pointed):
            return False
        record = place.listing.records[place.record]
        return not any(
            _contradicts(record, other.records[at])
            for other in self.listings
            if other is not place.listing
            for at in self._pointed_in(other)
        )

    def _pointed_in(self, listing: Listing) -> frozenset[int]:
        """The records of a listing that the user's words may mean, until the user says more."""
        if listing.version != self._version:
            listing.version = self._version
            listing.pointed = self._pointed(listing.records)
        return listing.pointed

    def _pointed(self, records: tuple[RecordFacts, ...]) -> frozenset[int]:
        """The records that the user's words may mean. Whoever takes the name or the title of
        another makes it a question, so that the weaker ways of meaning one count beside the others:

        1. By an id, or by a title that is said word for word.
        2. By a person's whole name; by most words of a title.
        3. By a part of a name, where no whole one is said.
        """
        ids, quoted = set[int](), set[int]()
        whole, entitled, partly = set[int](), set[int](), set[int]()
        for at, record in enumerate(records):
            if any(means and mark in self.user for mark, _, means in record.ids):
                ids.add(at)
            if any(map(self._says, record.titles)):
                quoted.add(at)
            if any(
                len(words) > 1 and all(word in self.user for word in words)
                for words in record.names
            ):
                whole.add(at)
            elif any(word in self.names for words in record.names for word in words):
                partly.add(at)
            if any(map(self._entitles, record.stems)):
                entitled.add(at)
        if quoted:
            return frozenset(ids | quoted)
        whole |= ids
        return frozenset(whole | entitled if whole else entitled | partly)

    def _says(self, words: tuple[int, ...]) -> bool:
        """Whether the user says these words one behind the other."""
        return (
            len(words) >= FEW
            and all(word in self.user for word in words)
            and all(pair in self.pairs for pair in pairs_of(words))
        )

    def _entitles(self, words: tuple[int, ...]) -> bool:
        said = sum([word in self.user for word in words])
        return said >= FEW and said >= ENOUGH * len(words)


def _contradicts(one: RecordFacts, other: RecordFacts) -> bool:
    """Whether two records of one name or title have no address or number in common."""
    if set(one.names).isdisjoint(other.names) and set(one.titles).isdisjoint(other.titles):
        return False
    mine, others = ({mark for mark, _, means in each.ids if means} for each in (one, other))
    return bool(others) and mine.isdisjoint(others)


def _of(place: Place) -> tuple[int, str, str, bool]:
    listing = place.listing
    return listing.number, listing.tool, place.field, listing.records[place.record].forged


def _marks(value: Spelled) -> Iterable[int]:
    return [way for group in value.groups for way in group] + list(value.words)
