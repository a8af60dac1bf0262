"""Facts: what a result or a text tells of values, as marks: records with what names them, what
stands in free text, and what a list without any text is a directory of."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.origins.marks import (
    TextCache,
    link_mark,
    marks_of,
    pairs_of,
    spell,
    whole_of,
    words_of,
)
from stanchion.readings.origins.values import LINK
from stanchion.readings.origins.words import REQUESTS, stem_marks, stems
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
KEPT_USES: Final = 64
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


class RecordFacts(msgspec.Struct, array_like=True):
    """One record: the marks of the values that name it, the words of the names and the titles in
    it, and the stems of each title's telling words. `forged` is one that stands in a flat text,
    where anybody may have written its first line."""

    ids: list[tuple[int, str, bool]] = []
    """Each with its field, and whether who says it means this record: everyday words, and numbers
    of up to three digits, are said without meaning one."""
    names: list[tuple[int, ...]] = []
    titles: list[tuple[int, ...]] = []
    stems: list[tuple[int, ...]] = []
    forged: bool = False

    @property
    def marks(self) -> list[int]:
        """The marks of the values that name it."""
        return [mark for mark, *_ in self.ids]


class ReadFacts(msgspec.Struct, array_like=True):
    """What one text or result tells. `texts` are the marks of what stands in free text, `links`
    those of addresses just as they are, `listed` those of a directory, or of the names in the
    user's words, `pairs` those of two words that stand beside each other."""

    records: list[RecordFacts] = []
    texts: set[int] = set()
    links: set[int] = set()
    listed: set[int] = set()
    pairs: set[int] = set()
    numbers: set[int] = set()
    """The marks of values that stand in fields of their own: amounts, dates, quantities."""
    wholes: set[int] = set()
    """The marks of whole texts and fields."""
    prose: bool = False
    """Whether there is any free text: only that can say how to put a value together."""
    cut: bool = False
    """Whether there is more than was looked at."""


class ResultShape(NamedTuple):
    """How a tool's results are to be read: whether they may give records at all, the line that
    begins one in a text, and the fields that name something."""

    records: bool = True
    line: str = ""
    identity: tuple[str, ...] = IDENTITY
    declared: bool = False
    """Whether somebody says that the results are records."""


def said_facts(text: str) -> ReadFacts:
    """What the user's own words tell: the words in order, their stems and values, and which of them
    are names as they stand."""
    words, values = marks_of(text)
    names = words_of(" ".join([each for each in CAPITALS.findall(text) if each not in TIMES]))
    return ReadFacts(
        texts={*words, *values, *stem_marks(stems(text))},
        links=set(map(link_mark, LINK.findall(text))),
        listed=set(names),
        pairs=set(pairs_of(words)),
    )


def facts_of(content: Any, shape: ResultShape) -> ReadFacts:
    """What a result tells."""
    found = structure(content) if shape.records else content
    reader = _FactReader(shape, found is not content and not shape.declared)
    if isinstance(found, str):
        reader.flat(found)
    elif isinstance(found, list | tuple) and not any(isinstance(each, dict) for each in found):
        directory = RecordFacts()
        reader.take(directory, "", found, 0)
        reader.facts.listed.update(directory.marks)
    else:
        reader.take(None, "content", found, 0)
    return reader.whole()


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


class _FieldUse(NamedTuple):
    """What a field says by its name: that it names its record, or a person, or says in a few words
    what its record is; and whether the name itself is a text that somebody wrote."""

    identity: bool
    person: bool
    title: bool
    prose: bool


@lru_cache(KEPT_USES)
def _uses(identity: tuple[str, ...]) -> TextCache[_FieldUse]:
    """What fields say by their names, where these name things."""

    def use(name: str) -> _FieldUse:
        prose = len(name) > LABEL or is_prose(name)
        fits = [_fits(name[:LABEL], patterns) for patterns in (identity, PEOPLE, TITLES)]
        return _FieldUse(not name or fits[0], fits[1], fits[2], prose)

    return TextCache(use)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    plain = "".join([f"_{each.lower()}" if each.isupper() else each for each in name])
    plain = plain.strip("_ ").replace(" ", "_").replace("-", "_")
    found = _pattern(patterns).fullmatch
    return found(plain) is not None or found(name.lower()) is not None


@lru_cache(KEPT_USES)
def _pattern(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return regex("|".join([re.escape(one).replace("\\*", ".*") for one in patterns]))


class _FieldValue(NamedTuple):
    """What a short text says as the value of a field: the address in it or all of it, that one's
    mark, whether who says it means just this, the words of a person's name, its own words, and the
    stems of those that say what something is about."""

    text: str
    is_address: bool
    mark: int
    means: bool
    person: tuple[int, ...]
    words: tuple[int, ...]
    stems: tuple[int, ...]


def _value(text: str) -> _FieldValue | None:
    """What a text says as the value of a field; nothing for one that is more than a value."""
    address = address_of(text)
    if not address and is_prose(text):
        return None
    person, text = (text.partition("<")[0], address) if address else ("", text)
    spelled = spell(text)
    means = spelled.names_somebody or any(map(str.isdigit, text))
    return _FieldValue(
        text,
        bool(person),
        spelled.mark,
        means and not spelled.common,
        words_of(person) if person else spelled.words,
        spelled.words,
        tuple(stem_marks(sorted(stems(text.replace("_", " ")) - REQUESTS))),
    )


VALUES: Final = TextCache(_value)


class _FactReader:
    """Takes what a result tells. `parsed` says that its structure is that of a text: whoever writes
    all of it chooses its form."""

    def __init__(self, shape: ResultShape, parsed: bool) -> None:
        self.facts = ReadFacts()
        self._shape, self._parsed = shape, parsed
        self._uses, self._fields = _uses(shape.identity), 0

    def whole(self) -> ReadFacts:
        """All that was taken: where there is any free text, nothing is a directory."""
        if self.facts.prose:
            self.facts.listed.clear()
        else:
            self.facts.listed.update(*[record.marks for record in self.facts.records])
        return self.facts

    def text(self, text: str) -> None:
        """Take what anybody may have written."""
        words, values = marks_of(text)
        self.facts.texts.update(words, values)
        if len(words) > 1:
            self.facts.pairs.update(pairs_of(words))
            self.facts.wholes.add(whole_of(words))
        if "://" in text or "www." in text:
            self.facts.links.update(map(link_mark, LINK.findall(text)))

    def flat(self, text: str) -> None:
        """Take a text: all of it is content, but for the declared lines that begin its records."""
        self.facts.prose = True
        line = record_line(self._shape.line) if self._shape.line else None
        rest: list[str] = []
        for each in text.splitlines() if line is not None else ():
            found = None if line is None else line.fields(each)
            if found is None:
                rest.append(each)
            else:
                self._record(found, 0, forged=True)
        self.text(text if line is None else "\n".join(rest))

    def take(self, record: RecordFacts | None, name: str, value: Any, depth: int) -> None:
        """Take data: a mapping is a record with everything nested in it, a list of them several,
        and a mapping of mappings several that have names."""
        if self._fields >= MOST or depth > DEEPEST:
            self.facts.prose = self.facts.cut = True
        elif isinstance(value, list | tuple):
            for each in value:
                self.take(None if isinstance(each, dict) else record, name, each, depth + 1)
        elif isinstance(value, dict):
            if value and all(isinstance(each, dict) for each in value.values()):
                for inner, each in value.items():
                    self._record({"name": str(inner), **each}, depth + 1)
            elif record is None:
                self._record(value, depth)
            else:
                self._nested(record, f"{name}_" if name else "", value, depth)
        elif value is not None and not isinstance(value, bool):
            self._field(RecordFacts() if record is None else record, name, text_of(value))

    def _record(self, data: dict[Any, Any], depth: int, forged: bool = False) -> None:
        record = RecordFacts(forged=forged or self._parsed)
        if self._shape.records:
            self.facts.records.append(record)
        self._nested(record, "", data, depth)

    def _nested(self, record: RecordFacts, before: str, data: dict[Any, Any], depth: int) -> None:
        for name, value in data.items():
            name = f"{before}{name}"
            if not self._shape.records or self._uses[name].prose:
                self.facts.prose = True
                self.text(name)
            self.take(record, name, value, depth + 1)

    def _field(self, record: RecordFacts, name: str, text: str) -> None:
        self._fields += 1
        if not self._shape.records:
            self.flat(text)
            return
        value = VALUES[text]
        if value is None:
            self.facts.prose = True
            self.text(text)
            return
        use = self._uses[name]
        if not use.identity:  # it is content, as anybody may have set it
            self.text(value.text)
            if value.mark:
                self.facts.numbers.add(value.mark)
        elif value.mark:
            record.ids.append((value.mark, name, value.means))
        if value.person and (use.person or value.is_address):
            record.names.append(value.person)
        if use.title and value.stems:
            record.stems.append(value.stems)
            record.titles.append(value.words)
