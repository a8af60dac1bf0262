"""Facts: what a result or a text tells of values, as marks: records with what names them, what
stands in free text, and what a list without any text is a directory of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.origins.marks import (
    STEM,
    kind_mark,
    link_mark,
    marks_of,
    spell,
    times,
    words_of,
)
from stanchion.readings.origins.values import LINK
from stanchion.readings.origins.words import REQUESTS, stems
from stanchion.readings.record_line import record_line
from stanchion.readings.word_lists import listed

LONGEST_LITERAL: Final = 65_536
DEEPEST: Final = 32
MOST: Final = 20_000
"""How many fields of one result are looked at."""
SENTENCE: Final = 7
"""From how many words on a text is one that somebody wrote, and no name."""
SHORTEST: Final = 5
CLOSE: Final = 8
"""From how many characters on a text is one whose language puts no blanks between words."""
BLANKS: Final = (" ", "\t", "_", "\u00a0")
"""What may stand between words."""
RUN: Final = regex(r"[\x00-\u2e7f]+")
"""Characters of languages that put blanks between words."""
LABEL: Final = 64
"""How much of a field's name is looked at."""
KEPT: Final = 4_096
ODD: Final = regex(r"\\[^\\'\"abfnrtvxuUN0-7\n]")
"""An escape that no literal has; Python would warn of it."""
PROSE: Final = regex(r"[.:;!?]\s|\n")
"""What no name has inside of it."""

CAPITALS: Final = regex(r"(?:[^\W_]|[,;:'\"(]) ['\"(]?([A-Z][^\W\d_]+)")
"""Words that begin with a capital, and no sentence does with them."""
TIMES: Final = listed(
    """
    January February March April May June July August September October November December Monday
    Tuesday Wednesday Thursday Friday Saturday Sunday
    """
)

IDENTITY: Final = (
    "id", "*_id", "id_", "*ids", "uuid", "guid", "key", "code", "*_code", "number", "*_number",
    "sender", "from", "to", "cc", "bcc", "recipient*", "participant*", "attendee*", "member*",
    "email*", "*_email", "mail", "*address*", "phone*", "mobile", "tel*", "contact",
    "account*", "iban", "bic", "username", "user", "login", "handle", "owner", "author",
    "assignee", "creator", "path", "file", "filename", "file_name", "url", "link", "href", "slug",
    "repo*", "project", "branch", "channel", "name", "*_name", "sku", "symbol",
)  # fmt: skip
"""Fields that name one thing, unless a policy or a tool says otherwise."""
PEOPLE: Final = ("name", "*_name", "*name", "sender", "from", "author", "owner", "display*", "user")
"""Fields by which people are named."""
TITLES: Final = (
    "title", "subject", "name", "*_name", "filename", "label", "summary", "headline", "description",
    "path", "merchant", "product*", "topic",
)  # fmt: skip
"""Fields that say in a few words what their record is."""


class RecordFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One record: the marks of the values that name it, the words of the names and the titles in
    it, and the stems of each title's telling words. `forged` is one that stands in a flat text,
    where anybody may have written its first line."""

    ids: tuple[tuple[int, str, bool], ...] = ()
    """Each with its field, and whether who says it means this record: everyday words, and numbers
    of up to three digits, are said without meaning one."""
    names: tuple[tuple[int, ...], ...] = ()
    titles: tuple[tuple[int, ...], ...] = ()
    stems: tuple[tuple[int, ...], ...] = ()
    forged: bool = False

    def times(self, key: int) -> RecordFacts:
        """The same with a key, or without it again."""
        marks = times([mark for mark, *_ in self.ids], key)
        ids = zip(marks, self.ids, strict=True)
        names, titles, stems = [
            tuple([tuple(times(words, key)) for words in several])
            for several in (self.names, self.titles, self.stems)
        ]
        return RecordFacts(
            tuple([(mark, field, means) for mark, (_, field, means) in ids]),
            names,
            titles,
            stems,
            self.forged,
        )


class Facts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one text or result tells. `texts` are the marks of what stands in free text, `links`
    those of addresses just as they are, `listed` those of a directory, or of the names in the
    user's words, `pairs` those of two words that stand beside each other."""

    records: tuple[RecordFacts, ...] = ()
    texts: frozenset[int] = frozenset()
    links: frozenset[int] = frozenset()
    listed: frozenset[int] = frozenset()
    pairs: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    """The marks of values that stand in fields of their own: amounts, dates, quantities."""
    wholes: frozenset[int] = frozenset()
    """The marks of whole texts and fields."""
    prose: bool = False
    """Whether there is any free text: only that can say how to put a value together."""
    cut: bool = False
    """Whether there is more than was looked at."""

    def times(self, key: int) -> Facts:
        """The same with a key, or without it again."""
        sets = (self.texts, self.links, self.listed, self.pairs, self.numbers, self.wholes)
        texts, links, listed, pairs, numbers, wholes = [frozenset(times(one, key)) for one in sets]
        records = tuple([record.times(key) for record in self.records])
        return Facts(records, texts, links, listed, pairs, numbers, wholes, self.prose, self.cut)


class Shape(NamedTuple):
    """How a tool's results are to be read: whether they may give records at all, the line that
    begins one in a text, and the fields that name something."""

    records: bool = True
    line: str = ""
    identity: tuple[str, ...] = IDENTITY
    declared: bool = False
    """Whether somebody says that the results are records."""
    parsed: bool = False
    """Whether the structure is that of a text: whoever writes all of it chooses its form."""


def said_facts(text: str) -> Facts:
    """What the user's own words tell: the words in order, their stems and values, and which of them
    are names as they stand."""
    marks = marks_of(text)
    stemmed = [kind_mark(STEM, each) for each in stems(text)]
    links = frozenset(map(link_mark, LINK.findall(text)))
    names = frozenset(
        words_of(" ".join([each for each in CAPITALS.findall(text) if each not in TIMES]))
    )
    known = frozenset([*marks.words, *marks.values, *stemmed])
    return Facts((), known, links, names, frozenset(marks.pairs))


def facts_of(content: Any, shape: Shape) -> Facts:
    """What a result tells."""
    found = structure(content) if shape.records else content
    taken = _Taken(shape._replace(parsed=found is not content and not shape.declared))
    if isinstance(found, str):
        taken.flat(found)
    elif shape.records:
        taken.walk(found)
    else:
        for text in _texts(found):
            taken.flat(text)
    return taken.facts()


def structure(content: Any) -> Any:
    """The structure of a result: its own, or that of a text which is one JSON or Python value as a
    whole; any other text is itself."""
    if not isinstance(content, str):
        return content
    text = content.strip()
    if text[:1] not in ("{", "[", "(", '"', "'"):
        return content
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = _literal(text)
    if isinstance(found, str) and found != content:
        return structure(found)
    return found if isinstance(found, dict | list | tuple) else content


def _literal(text: str) -> Any:
    if len(text) > LONGEST_LITERAL or ODD.search(text):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def text_of(value: Any) -> str:
    """A value as a text, also a number that has too many digits to be written out."""
    if isinstance(value, str):
        return value
    try:
        return str(value)
    except ValueError:
        return hex(value)


def address_of(text: str) -> str:
    """The address in `Name <address>`, as mails have it; empty for any other text."""
    name, opened, rest = text.strip().partition("<")
    address, closed, behind = rest.partition(">")
    plain = opened and closed and not behind and "@" in name + address and not PROSE.search(name)
    return address if plain and "@" in address and not address.strip(" ").count(" ") else ""


def is_prose(text: str) -> bool:
    """Whether a text is more than a name or a value: somebody may have written anything in it."""
    if len(text) < SHORTEST:
        return False
    if PROSE.search(text) is not None or sum(map(text.count, BLANKS)) >= SENTENCE - 1:
        return True
    return not text.isascii() and (len(text.split()) >= SENTENCE or len(RUN.sub("", text)) >= CLOSE)


@lru_cache(KEPT)
def _uses(name: str, identity: tuple[str, ...]) -> tuple[bool, bool, bool]:
    """Whether a field names its record, a person, or says in a few words what its record is."""
    return not name or _fits(name, identity), _fits(name, PEOPLE), _fits(name, TITLES)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    plain = "".join([f"_{each.lower()}" if each.isupper() else each for each in name[:LABEL]])
    plain = plain.strip("_ ").replace(" ", "_").replace("-", "_")
    found = _pattern(patterns).fullmatch
    return found(plain) is not None or found(name[:LABEL].lower()) is not None


@lru_cache(KEPT)
def _pattern(patterns: tuple[str, ...]) -> Any:
    return regex("|".join([_escaped(one).replace("\\*", ".*") for one in patterns]))


def _escaped(text: str) -> str:
    return "".join([each if each.isalnum() else f"\\{each}" for each in text])


class _Record:
    """A record while its fields are taken."""

    def __init__(self, forged: bool = False) -> None:
        self.ids: list[tuple[int, str, bool]] = []
        self.names: list[tuple[int, ...]] = []
        self.titles: list[tuple[int, ...]] = []
        self.stems: list[tuple[int, ...]] = []
        self.forged = forged

    def facts(self) -> RecordFacts:
        return RecordFacts(
            tuple(self.ids),
            tuple(self.names),
            tuple(self.titles),
            tuple(self.stems),
            self.forged,
        )


class _Taken:
    """What was taken from a result so far."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._records: list[_Record] = []
        self._texts: set[int] = set()
        self._pairs: set[int] = set()
        self._wholes: set[int] = set()
        self._links: set[int] = set()
        self._numbers: set[int] = set()
        self._listed: set[int] = set()
        self._prose = self._cut = False
        self._fields = 0

    def facts(self) -> Facts:
        listed = set(self._listed)
        if not self._prose:
            listed.update([mark for one in self._records for mark, *_ in one.ids])
        return Facts(
            tuple([one.facts() for one in self._records]),
            frozenset(self._texts),
            frozenset(self._links),
            frozenset(listed) if not self._prose else frozenset(),
            frozenset(self._pairs),
            numbers=frozenset(self._numbers),
            wholes=frozenset(self._wholes),
            prose=self._prose,
            cut=self._cut,
        )

    def text(self, text: str) -> None:
        """Take what anybody may have written."""
        words, values = marks = marks_of(text)
        self._texts.update(words)
        self._texts.update(values)
        if len(words) > 1:
            self._pairs.update(marks.pairs)
            self._wholes.add(marks.whole)
        if "://" in text or "www." in text:
            self._links.update(map(link_mark, LINK.findall(text)))

    def flat(self, text: str) -> None:
        """Take a text: all of it is content, but for the declared lines that begin its records."""
        self._prose = True
        if not self._shape.line:
            self.text(text)
            return
        line = record_line(self._shape.line)
        rest: list[str] = []
        for each in text.splitlines():
            found = line.fields(each)
            if found is None:
                rest.append(each)
                continue
            record = _Record(forged=True)
            self._records.append(record)
            for name, value in found.items():
                self._field(record, name, value)
        self.text("\n".join(rest))

    def walk(self, data: Any) -> None:
        """Take data: a mapping is a record with everything nested in it, a list of them several; a
        list of plain values is a directory."""
        if isinstance(data, list | tuple) and not any(isinstance(each, dict) for each in data):
            lone = _Record()
            for each in data:
                self._inner(lone, "", each, 1)
            self._listed.update([mark for mark, *_ in lone.ids])
            return
        self._several(data, 0)

    def _several(self, data: Any, depth: int) -> None:
        if depth > DEEPEST:
            self._prose = self._cut = True
            return
        if isinstance(data, list | tuple):
            for each in data:
                self._several(each, depth + 1)
        elif isinstance(data, dict):
            if data and all(isinstance(each, dict) for each in data.values()):
                for name, each in data.items():
                    self._record({"name": str(name), **each}, depth + 1)
            else:
                self._record(data, depth + 1)
        elif data is not None:
            self._field(_Record(), "content", data)

    def _record(self, data: dict[Any, Any], depth: int) -> None:
        record = _Record(self._shape.parsed)
        self._records.append(record)
        for name, value in data.items():
            if is_prose(str(name)) or len(str(name)) > LABEL:
                self._prose = True
                self.text(str(name))
            self._inner(record, str(name), value, depth)

    def _inner(self, record: _Record, name: str, value: Any, depth: int) -> None:
        """Take what stands in a record: mappings belong to it, lists of mappings are records of
        their own."""
        if self._fields >= MOST or depth > DEEPEST:
            self._prose = self._cut = True
            return
        if isinstance(value, dict):
            if value and all(isinstance(each, dict) for each in value.values()):
                self._several(value, depth + 1)
                return
            for inner, each in value.items():
                self._inner(record, str(inner) if not name else f"{name}_{inner}", each, depth + 1)
        elif isinstance(value, list | tuple):
            for each in value:
                if isinstance(each, dict):
                    self._several(each, depth + 1)
                else:
                    self._inner(record, name, each, depth + 1)
        elif value is not None and not isinstance(value, bool):
            self._field(record, name, value)

    def _field(self, record: _Record, name: str, value: Any) -> None:
        self._fields += 1
        text = text_of(value)
        address = address_of(text)
        if not address and is_prose(text):
            self._prose = True
            self.text(text)
            return
        person, text = (text.partition("<")[0], address) if address else ("", text)
        identity, of_people, of_titles = _uses(name, self._shape.identity)
        if identity:
            spelled = spell(text)
            if spelled.mark:
                means = spelled.names_somebody or any(map(str.isdigit, text))
                record.ids.append((spelled.mark, name, means and not spelled.common))
        else:
            self._value(text)
        if person or of_people:
            words = words_of(person or text)
            if words:
                record.names.append(words)
        if of_titles:
            said = sorted(stems(text.replace("_", " ")) - REQUESTS)
            if said:
                record.stems.append(tuple([kind_mark(STEM, each) for each in said]))
                record.titles.append(words_of(text))

    def _value(self, text: str) -> None:
        """Take a short value that names nothing: it is content, as anybody may have set it."""
        self.text(text)
        mark = spell(text).mark
        if mark:
            self._numbers.add(mark)


def _texts(data: Any) -> Iterator[str]:
    """All texts of some data, names included."""
    waiting = [data]
    count = 0
    while waiting and count < MOST:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting += [*value.values(), *value]
        elif isinstance(value, list | tuple):
            waiting += value
        elif value is not None:
            yield value if isinstance(value, str) else str(value)
