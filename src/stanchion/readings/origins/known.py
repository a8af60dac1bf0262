"""What a task knows of values: the user's words, records that were read, what stands in texts, what
it has made; and by that where a value comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal, NamedTuple

from stanchion.readings.origins.facts import ReadFacts, RecordFacts
from stanchion.readings.origins.marks import Spelled, says

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


class ValueOrigin(NamedTuple):
    """Where a value comes from: the word for it, the number of the result and its tool, the field;
    whether its record stands in a flat text, where anybody may have written it."""

    word: Word
    result: int = 0
    tool: str = ""
    field: str = ""
    forged: bool = False


NOWHERE: Final = ValueOrigin("nowhere")


class RecordListing:
    """One result with records: of which number and tool, and whether it answers a question for one
    thing that is known by itself."""

    __slots__ = ("lone", "number", "pointed", "records", "tool", "version")

    def __init__(self, number: int, tool: str, records: list[RecordFacts], lone: bool):
        self.number, self.tool, self.records, self.lone = number, tool, records, lone
        self.version, self.pointed = -1, frozenset[int]()


class RecordPlace(NamedTuple):
    """Where a value names a record: the listing, the number of the record in it, the field."""

    listing: RecordListing
    record: int
    field: str

    def origin(self, word: Word) -> ValueOrigin:
        """Where it is, for people."""
        at = self.listing
        return ValueOrigin(word, at.number, at.tool, self.field, at.records[self.record].forged)


MarkTable = dict[int, int]
"""Marks, each with the number of the result that had it first."""


class KnownMarks:
    """What somebody's texts have, each kind of marks as `ReadFacts` has it, and no more than `MOST`
    of each."""

    def __init__(self) -> None:
        self.texts: MarkTable = {}
        self.links: MarkTable = {}
        self.listed: MarkTable = {}
        self.pairs: MarkTable = {}
        self.numbers: MarkTable = {}
        self.wholes: MarkTable = {}

    def take(self, facts: ReadFacts, number: int = 0) -> bool:
        """Remember what a text tells; says whether there was room."""
        kinds = self.__dict__.items()
        rooms = [put(kept, getattr(facts, kind), number) for kind, kept in kinds]
        return all(rooms)


def put(kept: MarkTable, marks: Iterable[int], number: int = 0) -> bool:
    """Remember marks; says whether there was room."""
    new = [mark for mark in marks if mark not in kept]
    room = MOST - len(kept)
    kept.update(dict.fromkeys(new[:room], number))
    return len(new) <= room


class TaskKnowledge:
    """What a task knows. It holds marks and no texts."""

    def __init__(self) -> None:
        self.opened = False
        """Whether anything was read that others may have written."""
        self.instructed = False
        """Whether free text was among it, which may say how to put a value together."""
        self.full = False
        self.said, self.trusted, self.read = KnownMarks(), KnownMarks(), KnownMarks()
        """What the user has said, what trusted results have, and what all others have."""
        self.owned: Collection[int] = ()
        """Values that the host says are the user's."""
        self.own: MarkTable = {}
        self.places: dict[int, list[RecordPlace]] = {}
        self.listings: list[RecordListing] = []
        self.tools: list[str] = []
        self.files: set[int] = set()
        """The numbers of results that are files which the user named."""
        self.page: ValueOrigin | None = None
        """Where the address of the page comes from that a browser shows."""
        self._version = 0

    def hear(self, facts: ReadFacts) -> None:
        """The user says something."""
        self._version += 1
        self._mind(self.said.take(facts))

    @property
    def spoke(self) -> bool:
        """Whether the user has said anything."""
        return self._version > 0

    def trust(self, facts: ReadFacts) -> None:
        """Something that is trusted was read: its values are as good as those of the host."""
        self.tools.append("")
        self._mind(self.trusted.take(facts))
        for record in facts.records:
            self._mind(put(self.trusted.listed, record.marks))

    def learn(
        self,
        tool: str,
        facts: ReadFacts,
        lone: bool,
        makes: bool,
        instructs: bool = True,
        file: bool = False,
    ) -> None:
        """Something was read. `lone` says that it was looked up by values of the user's alone,
        `makes` that it tells what the task itself has made, `instructs` that it is more than what
        an acting tool says of what it did, `file` that it is what files have that were read."""
        self.opened = True
        self.instructed = self.instructed or (facts.prose and instructs)
        self.tools.append(tool)
        number = len(self.tools)
        if lone and file and not facts.records:
            self.files.add(number)
        self._mind(self.read.take(facts, number) and not facts.cut)
        if makes:
            for record in facts.records:
                self.make(record.marks)
            return
        listing = RecordListing(number, tool, facts.records, lone and len(facts.records) == 1)
        self.listings.append(listing)
        del self.listings[:-MOST_LISTINGS]
        for at, record in enumerate(facts.records):
            for mark, field, _ in record.ids:
                places = self.places.setdefault(mark, [])
                if len(places) < PLACES:
                    places.append(RecordPlace(listing, at, field))

    def make(self, marks: Iterable[int]) -> None:
        """The task has made or acted on values with these marks, which it was allowed to."""
        self._mind(put(self.own, filter(None, marks)))

    def _mind(self, had_room: bool) -> None:
        self.full = self.full or not had_room

    def origin(self, value: Spelled) -> ValueOrigin:
        """Where a value comes from, by the best of all there is."""
        mark, said, trusted, read = value.mark, self.said, self.trusted, self.read
        if not mark:
            return NOWHERE
        if not value.common and value.is_said(said.texts, said.pairs):
            return ValueOrigin("user")
        is_mine = mark in self.owned or mark in trusted.listed
        if is_mine or value.is_said(trusted.texts, trusted.pairs):
            return ValueOrigin("me")
        if mark in self.own:
            return ValueOrigin("own")
        places = self.places.get(mark, ())
        for place in places:
            if self._is_named(place):
                return place.origin("named")
        if mark in read.listed and mark not in read.numbers and not value.stands_in(read.texts):
            return self._at("directory", read.listed[mark])
        return places[0].origin("other record") if places else self.read_in(value)

    def read_in(self, value: Spelled) -> ValueOrigin:
        """The free text or the field that a value stands in."""
        found = self.read.numbers.get(value.mark, 0)
        if found:
            return self._at("content", found)
        if value.stands_in(self.read.texts):
            return self.place_of([*value.words, *[way for one in value.groups for way in one]])
        return ValueOrigin("content") if self.full else NOWHERE

    def place_of(self, marks: Iterable[int]) -> ValueOrigin:
        """The text in which the last of some marks was found."""
        return self._at("content", max([self.read.texts.get(each, 0) for each in marks], default=0))

    def _at(self, word: Word, number: int) -> ValueOrigin:
        return ValueOrigin(word, number, self.tools[number - 1] if number else "")

    def _is_named(self, place: RecordPlace) -> bool:
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

    def _pointed_in(self, listing: RecordListing) -> frozenset[int]:
        """The records of a listing that the user's words may mean, until the user says more."""
        if listing.version != self._version:
            listing.version = self._version
            listing.pointed = self._pointed(listing.records)
        return listing.pointed

    def _pointed(self, records: list[RecordFacts]) -> frozenset[int]:
        """The records that the user's words may mean. Whoever takes the name or the title of
        another makes it a question, so that the weaker ways of meaning one count beside the others:

        1. By an id, or by a title that is said word for word.
        2. By a person's whole name; by most words of a title.
        3. By a part of a name, where no whole one is said.
        """
        said, pairs, names = self.said.texts, self.said.pairs, self.said.listed
        ids, quoted = set[int](), set[int]()
        whole, entitled, partly = set[int](), set[int](), set[int]()
        for at, record in enumerate(records):
            if not said.keys().isdisjoint([mark for mark, _, means in record.ids if means]):
                ids.add(at)
            if any(len(words) >= FEW and says(words, said, pairs) for words in record.titles):
                quoted.add(at)
            if any(len(words) > 1 and all(map(said.__contains__, words)) for words in record.names):
                whole.add(at)
            elif any(not names.keys().isdisjoint(words) for words in record.names):
                partly.add(at)
            if any(map(self._entitles, record.stems)):
                entitled.add(at)
        if quoted:
            return frozenset(ids | quoted)
        whole |= ids
        return frozenset(whole | entitled if whole else entitled | partly)

    def _entitles(self, words: tuple[int, ...]) -> bool:
        said = sum(map(self.said.texts.__contains__, words))
        return said >= FEW and said >= ENOUGH * len(words)


def _contradicts(one: RecordFacts, other: RecordFacts) -> bool:
    """Whether two records of one name or title have no address or number in common."""
    if set(one.names).isdisjoint(other.names) and set(one.titles).isdisjoint(other.titles):
        return False
    mine, others = ({mark for mark, _, means in each.ids if means} for each in (one, other))
    return bool(others) and mine.isdisjoint(others)
