"""A run's memory: what the user said, what was read, and where each value of it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from stanchion.guards.flow.settings import How
from stanchion.guards.flow.sources import Source, Span, digest, flat
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.user import User
from stanchion.kernel.declared import CONTENT
from stanchion.readings.prose.tokens import tokens, values_in, words_in
from stanchion.readings.prose.values import DATE, Value, bare, of_token, squash, values

T = TypeVar("T")

MOST_SIZE: Final = 16 * 1024 * 1024
"""How many characters are remembered in all."""
LONGEST: Final = 1024 * 1024
"""How many of one result."""
MOST_VALUES: Final = 100_000
"""How many values that were used or approved are remembered."""
KEPT: Final = 24
MOST_KEPT: Final = 2 * KEPT
"""How many places of a value or a word are remembered from the start, and with as many of the
newest."""
STATUSES: Final = 6
"""How many of the last things that acting tools said are steps to go on with."""
WHOLE: Final = 60
"""From how many characters on an argument that is the whole of a field refers to it."""
CALLS: Final = 1_024
"""How many short arguments are remembered as they were understood."""
FEW_WORDS: Final = 8
SHORT: Final = 200
"""Up to how many words and characters an argument is a value as a whole."""


class Spot(NamedTuple):
    """Where a value stands as data: the source and the number of the record."""

    source: Source
    record: int


def put(kept: list[T], one: T) -> None:
    """Add one to the oldest and the newest of something; what is neither is forgotten."""
    if len(kept) >= MOST_KEPT:
        del kept[KEPT]
    kept.append(one)


class Given(NamedTuple):
    """A value of a call and the parameter it is of."""

    name: str
    value: Value
    alone: bool
    """Whether it is all that the parameter holds."""
    inside: bool = False
    """Whether it stands inside of a long text."""


class Best:
    """The text that explains a tool best, of as many texts as were weighed."""

    __slots__ = ("much", "span", "upto", "values")

    def __init__(self) -> None:
        self.upto, self.much = 0, 0.0
        self.span: Span | None = None
        self.values: frozenset[Value] = frozenset()


Explains = Callable[["Memory", Tool, Any], Span | None]
"""Gives the text that explains a call, if one does."""


class Memory:
    """What one run and its children know. What it costs to ask does not grow with what was read: a
    result is taken apart once, when something is judged that it may matter to."""

    def __init__(self, explains: Explains, most: int = MOST_SIZE) -> None:
        self._explains = explains
        self._most = most
        self.how = How()
        self.user = User()
        self.sources: list[Source] = []
        self.spans: list[Span] = []
        self.hostile: list[Span] = []
        self.by_value: dict[Value, list[Span]] = defaultdict(list)
        self.by_stem: dict[str, list[Span]] = defaultdict(list)
        self.data: dict[Value, list[Spot]] = defaultdict(list)
        self.best: dict[Tool, Best] = defaultdict(Best)
        self.statuses: list[frozenset[str]] = []
        self.full = False
        self._settled: set[Value] = set()
        self._asked: dict[Tool, tuple[int, bool]] = {}
        self._approved: set[tuple[str, Value]] = set()
        self._wholes: set[bytes] = set()
        self._links: set[str] = set()
        self._hostile_text, self._hostile_count = "", (0, 0)
        self._waiting: list[Source | tuple[Tool, Any]] = []
        self._size = 0
        self._taken: list[Source] = []

    def say(self, text: str) -> None:
        """The user says something."""
        self.settle()
        self.user.say(text)

    def read(self, tool: Tool, args: Any, content: Any, result: str = CONTENT) -> None:
        """A call has brought this."""
        if content is None or content == "":
            return
        if result == "user":
            self.say(content if isinstance(content, str) else str(content))
            return
        size = len(content) if isinstance(content, str) else len(str(content))
        if size > LONGEST or self._size + size > self._most:
            self.full = True
            return
        self._size += size
        source = Source(
            len(self.sources) + 1, tool.called(args), args, content, result == "trusted"
        )
        self.sources.append(source)
        self._waiting.append(source)

    def went(self, tool: Tool, args: Any) -> None:
        """A call goes ahead."""
        self._waiting.append((tool, args))

    def approve(self, tool: Tool, args: Any) -> None:
        """A person has said yes to a call: this tool may do that with these values from now on."""
        if len(self._approved) < MOST_VALUES:
            self._approved.add((tool.name, ANY))
            for _, text in flat(args):
                self._approved.update([(tool.name, value) for value in _values(text)])

    def approved(self, tool: Tool, value: Value | None = None) -> bool:
        """Whether a person has said yes to a value for a tool, or to the tool."""
        return (
            bool(self._approved) and (tool.name, ANY if value is None else value) in self._approved
        )

    def settle(self) -> None:
        """Take apart what waits, in its order."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if isinstance(one, Source):
                self._take(one)
            elif self.spans and self._explains(self, *one) is not None:
                continue
            elif len(self._settled) < MOST_VALUES:
                self._settled.update(
                    [each.value for each in self.given(one[1]) if each.value.kind != "text"]
                )

    def _take(self, source: Source) -> None:
        if self.spans and source.tool.reads:
            source.because = self._explains(self, source.tool, source.args)
        source.open(self._handed_to(source))
        self._taken.append(source)
        spots = {record: Spot(source, record) for record in source.records}
        for value, record in source.data:
            put(self.data[value], spots[record])
        self._wholes.update(source.wholes)
        self._links.update(source.links)
        for span in source.spans:
            span.number = len(self.spans)
            self.spans.append(span)
            if span.hostile:
                put(self.hostile, span)
            for value in span.values:
                put(self.by_value[value], span)
            for stemmed in span.stems:
                put(self.by_stem[stemmed], span)

    def _handed_to(self, source: Source) -> bool:
        """Whether the user handed work to a source by the very value that it was read by."""
        if not self.user.handed or source.because is not None or "handed" not in self.how.rules:
            return False
        own = {value for _, text in flat(source.args) for value in values(text)}
        return any(not own.isdisjoint(words.values) for words in self.user.handed)

    def unheard(self) -> list[Source]:
        """What was taken apart and not asked for before."""
        found, self._taken = self._taken, []
        return found

    def next_steps(self, said: list[frozenset[str]]) -> None:
        """A tool that acted says what comes next."""
        self.statuses = [*self.statuses, *said][-STATUSES:]

    def hostile_text(self) -> str:
        """The letters and digits of all texts that speak to a machine."""
        known = (len(self.hostile), self.hostile[-1].number) if self.hostile else (0, 0)
        if self._hostile_count != known:
            self._hostile_count = known
            self._hostile_text = "|".join([span.squashed for span in self.hostile])
        return self._hostile_text

    def knows_link(self, url: str) -> bool:
        """Whether an address was read or said just as it is."""
        whole = squash(url.partition("://")[2] or url)
        return whole in self.user.squashed or whole in self._links

    def given(self, args: Any) -> list[Given]:
        """The values of a call that say where it comes from. An argument that is the whole of a
        field refers to it."""
        found: list[Given] = []
        for name, text in flat(args):
            if len(text) <= WHOLE or " " not in text or digest(text) not in self._wholes:
                found += (
                    _known(name, text)
                    if len(text) <= SHORT and len(name) <= SHORT
                    else _given(name, text)
                )
        return found

    def asked(self, tool: Tool) -> bool:
        """Whether the user asked for what a tool does; looked at once, until the user says more."""
        version, asked = self._asked.get(tool, UNASKED)
        if version != self.user.version:
            asked = any(tool.asked_by(request) for request in self.user.requests)
            self._asked[tool] = (self.user.version, asked)
        return asked

    def ours(self, value: Value) -> bool:
        """Whether a value is the user's, or was used by a call that no text explains."""
        return value in self._settled or self.user.has(value)

    def clean(self, value: Value) -> bool:
        """Whether a value stands in data that no text led to."""
        return any(place.source.because is None for place in self.data.get(value, ()))


UNASKED: Final = (-1, False)
ANY: Final = Value("", "")
"""Stands for a call whatever its values are."""


def _values(text: str) -> list[Value]:
    """The values of an argument: what is distinctive in it, and the whole of a short one that has
    nothing stronger."""
    if text.replace(".", "", 1).isdigit():
        return of_token(bare(text))
    read = tokens(text)
    found = values_in(text, read)
    if (
        len(text) > SHORT
        or text.count(" ") >= FEW_WORDS
        or any(value.kind != "num" for value in found)
    ):
        return found
    plain = " ".join(words_in(read))
    if len(plain) > 2 and not plain.replace(" ", "").isdigit() and not DATE.fullmatch(text.strip()):
        found.append(Value("text", plain))
    return found


def _given(name: str, text: str) -> tuple[Given, ...]:
    alone = " " not in text.strip()
    return tuple([Given(name, value, alone, len(text) > SHORT) for value in _values(text)])


_known = lru_cache(CALLS)(_given)
"""A call that goes ahead is looked at a second time."""
