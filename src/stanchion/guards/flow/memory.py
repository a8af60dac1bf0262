"""A run's memory: what the user said, what was read, and where each value of it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from stanchion.guards.flow.sources import Source, Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.user import User, Words
from stanchion.readings.prose.values import Value, values

MOST_SIZE: Final = 16 * 1024 * 1024
"""How many characters are remembered in all."""
LONGEST: Final = 1024 * 1024
"""How many of one result."""
PLACES: Final = 24
"""How many places of a value, and spans of a word, are remembered from the start; as many of the newest."""
STATUSES: Final = 6
"""How many of the last things that acting tools said are steps to go on with."""
SHORT_STATUS: Final = 300


class Places(list[Any]):
    """The oldest and the newest of something."""

    def put(self, one: Any) -> None:
        """Add one; what is neither among the oldest nor the newest is forgotten."""
        if len(self) >= 2 * PLACES:
            del self[PLACES]
        self.append(one)


class Memory:
    """What one run and its children know. What it costs to ask does not grow with what was read."""

    def __init__(self) -> None:
        self.user = User()
        self.sources: list[Source] = []
        self.spans: list[Span] = []
        self.hostile = Places()
        self.by_value: dict[Value, Places] = defaultdict(Places)
        self.by_stem: dict[str, Places] = defaultdict(Places)
        self.data: dict[Value, Places] = defaultdict(Places)
        self.settled: set[Value] = set()
        self.approved: set[tuple[str, Value]] = set()
        self.wholes: set[int] = set()
        self.statuses: list[frozenset[str]] = []
        self.full = False
        self._waiting: list[tuple[str, Any]] = []
        self._size = 0
        self._best: dict[str, tuple[int, float, Span | None]] = {}

    def say(self, text: str) -> None:
        """The user says something."""
        self._open()
        self.user.say(text)

    def read(self, tool: Tool, args: Any, content: Any, trust: str = "untrusted") -> None:
        """A call has brought this. It is taken apart when something is judged that it may matter to."""
        if content is None or content == "":
            return
        size = len(content) if isinstance(content, str) else len(str(content))
        if trust == "user":
            self.say(content if isinstance(content, str) else str(content))
        elif self._size + size > MOST_SIZE or size > LONGEST:
            self.full = True
        else:
            self._size += size
            self._waiting.append(("read", Source(len(self.sources) + 1, tool, args, content, trust == "trusted")))
            self.sources.append(self._waiting[-1][1])

    def went(self, tool: Tool, args: Any) -> None:
        """A call goes ahead."""
        self._waiting.append(("went", (tool, args)))

    def approve(self, tool: Tool, args: Any) -> None:
        """A person has said yes to a call: its values may be used by this tool from now on."""
        for _, text in flat(args):
            self.approved.update([(tool.name, value) for value in given_values(text)])

    @property
    def idle(self) -> bool:
        """Whether nothing was read yet."""
        return not self.sources

    def settle(self, attribute: Any) -> None:
        """Take apart what waits. `attribute` gives the text that explains a call, if one does."""
        self._open(attribute)

    def _open(self, attribute: Any = None) -> None:
        attribute = attribute if attribute is not None else self._attribute
        waiting, self._waiting = self._waiting, []
        for kind, what in waiting:
            if kind == "read":
                self._take(what, attribute)
            elif attribute is None or attribute(self, *what) is None:
                for _, text in flat(what[1]):
                    self.settled.update(values(text))

    _attribute: Any = None

    def _take(self, source: Source, attribute: Any) -> None:
        if attribute is not None and source.tool.reads:
            source.because = attribute(self, source.tool, source.args)
        source.open()
        for value, record in source.data:
            self.data[value].put((source, record))
        self.wholes.update(source.wholes)
        for span in source.spans:
            span.number = len(self.spans)
            self.spans.append(span)
            if span.hostile:
                self.hostile.put(span)
            for value in span.values:
                self.by_value[value].put(span)
            for stemmed in span.stems:
                self.by_stem[stemmed].put(span)
        if source.because is None:
            self._hear(source)

    def _hear(self, source: Source) -> None:
        """What a source may say on behalf of the user: work that was handed to it, and steps of a tool that acted."""
        for span in source.spans:
            if not span.hostile and self.user.handed and self.entrusted(span):
                self.user.say(span.text, own=False)
        if source.act and not any(span.hostile for span in source.spans):
            found = [span.stems for span in source.spans if len(span.text) < SHORT_STATUS]
            self.statuses = [*self.statuses, *found][-STATUSES:]

    def points(self, span: Span, who: Words | None = None) -> float:
        """How surely words point at where a text stands: 3 by a value of its own, 2 by its kind and a word of its
        record, 1.5 by its kind and its topic, 1 by its kind, 0 not at all."""
        source = span.source
        if source.because is not None:
            return 0.0
        by = self.user.all if who is None else who
        record = source.records.get(span.record)
        ident = source.ident | record.ident if record is not None else source.ident
        named = [word for word in ident & by.stems if not self.is_kind(word)]
        bonus = min(0.9, 0.1 * len(named))
        if record is not None and not record.values.isdisjoint(by.values):
            return 3.0 + bonus
        for _, text in flat(source.args):
            if any(value in by.values for value in values(text)):
                return 3.0 + bonus
            if len(text) > 3 and "/" in text and any(start in by.lower for start in _starts(text)):
                return 3.0 + bonus
        if self.kinds(source.tool).isdisjoint(by.kinds):
            return 0.0
        if named:
            return 2.0 + bonus
        if any(
            not self.kinds(source.tool).isdisjoint(request.kinds)
            and any(not self.is_kind(word) for word in request.stems & span.stems)
            for request in self.user.requests
        ):
            return 1.5
        return 1.0

    def entrusted(self, span: Span) -> bool:
        """Whether the user handed work to this text: words that hand work on point at it, and at no other better."""
        for who in self.user.handed:
            sure = self.points(span, who)
            if sure >= 2.0 and all(
                self.points(other, who) <= sure + 0.15 for other in self.spans[-64:] if not other.hostile
            ):
                return True
        return False

    def kinds(self, tool: Tool) -> frozenset[str]:
        """The kinds of text that a tool brings."""
        from stanchion.guards.flow.user import kinds_of

        return tool.kinds

    def is_kind(self, word: str) -> bool:
        """Whether a word only names a kind of text."""
        from stanchion.readings.prose.lexicon import Mark, known

        return any(mark[0] == Mark.TEXT and len(mark) > 1 for mark in known(word).marks)

    def ours(self, value: Value) -> bool:
        """Whether a value is the user's, or was used by a call that no text explains."""
        return value in self.settled or self.user.has(value)

    def clean(self, value: Value) -> list[tuple[Source, int]]:
        """Where a value stands in data that no text led to."""
        return [place for place in self.data.get(value, ()) if place[0].because is None]


def _starts(path: str) -> list[str]:
    pieces = path.lower().strip("/").split("/")
    return ["/".join(pieces[:at]) for at in range(2, len(pieces))]


def given_values(text: str) -> list[Value]:
    """The values of an argument: what is distinctive in it, or the whole of a short one."""
    from stanchion.readings.prose.lexicon import words
    from stanchion.readings.prose.values import DATE

    found = values(text)
    if len(text) > 200 or DATE.fullmatch(text.strip()):
        return found
    blanks = text.split()
    if len(blanks) <= 8:
        plain = " ".join(words(text))
        strong = any(value.kind in ("mail", "host", "path", "code") for value in found)
        if len(plain) > 2 and not strong and not plain.replace(" ", "").isdigit():
            found.append(Value("text", plain))
    return found


Known = Mapping[str, float]
