"""Pointing: how surely a user's words point at what was read, and which work they hand to it."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.sources import Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.user import Words, is_kind
from stanchion.readings.prose.values import Value, values

BY_VALUE: Final = 3.0
"""By a value of its own: the path, the address, the sender."""
BY_NAME: Final = 2.0
"""By its kind and a word of its record."""
BY_TOPIC: Final = 1.5
"""By its kind and what it speaks of."""
BY_KIND: Final = 1.0
MORE: Final = 0.1
MOST_MORE: Final = 0.9
"""What every further word adds."""
CLOSE: Final = 0.15
"""How much better another text may be pointed at."""
SHORT: Final = 300
"""Up to how many characters what a tool says of what it did is a step."""
LONGEST: Final = 8_192
"""How much of a text that work was handed to counts as the user's words."""
LITTLE: Final = 0.2
"""How well what a tool said has to explain the step that comes next."""
ACCOUNT: Final = 14
DIGITS: Final = 8
"""How long the number of an account is, and how many of it are digits."""
COMPARED: Final = 64
"""With how many of the newest texts one is compared."""


def points(memory: Memory, span: Span, who: Words | None = None) -> float:
    """How surely words point at where a text stands: the user's, or others; 0 where they do not."""
    source = span.source
    if source.because is not None:
        return 0.0
    by = memory.user.all if who is None else who
    record = source.records.get(span.record)
    ident = source.ident | record.ident if record is not None else source.ident
    words = [word for word in ident & by.stems if not is_kind(word)]
    more = min(MOST_MORE, MORE * len(words))
    if (record is not None and not record.values.isdisjoint(by.values)) or _opened(span, by):
        return BY_VALUE + more
    kinds = source.tool.kinds
    if kinds.isdisjoint(by.kinds):
        return 0.0
    if words:
        return BY_NAME + more
    for request in memory.user.requests:
        if not kinds.isdisjoint(request.kinds) and any(
            not is_kind(word) for word in request.stems & span.stems
        ):
            return BY_TOPIC
    return BY_KIND


def named(memory: Memory, span: Span) -> bool:
    """Whether the user names whom or what the record of a text is of."""
    record = span.source.records.get(span.record)
    return record is not None and not memory.user.all.stems.isdisjoint(record.telling)


def _opened(span: Span, by: Words) -> bool:
    """Whether words have the very value that a source was read by, or the folder that it is in."""
    for _, text in flat(span.source.args):
        if any(value in by.values for value in values(text)):
            return True
        if "/" in text and any(start in by.lower for start in _starts(text)):
            return True
    return False


def _starts(path: str) -> list[str]:
    pieces = path.lower().strip("/").split("/")
    return ["/".join(pieces[:at]) for at in range(2, len(pieces))]


def entrusted(memory: Memory, span: Span) -> bool:
    """Whether the user handed work to a text: words that hand work on point at it, and at no other
    much better."""
    if span.hostile or "handed" not in memory.how.rules:
        return False
    for who in memory.user.handed:
        sure = points(memory, span, who)
        if sure >= BY_NAME:
            others = (other for other in memory.spans[-COMPARED:] if not other.hostile)
            if all(points(memory, other, who) <= sure + CLOSE for other in others):
                return True
    return False


def hear(memory: Memory) -> None:
    """Take what newly read texts say on behalf of the user: work that was handed to them, and the
    steps that a tool which acted wants next."""
    for source in memory.unheard():
        if source.because is not None:
            continue
        if source.entrusted and not any(span.hostile for span in source.spans):
            memory.user.say(_handed(memory, source.text(LONGEST), source.spans), own=False)
        elif memory.user.handed:
            for span in source.spans:
                if entrusted(memory, span):
                    memory.user.say(_handed(memory, span.text, [span]), own=False)
        if source.status and not any(span.hostile for span in source.spans):
            memory.next_steps([span.stems for span in source.spans if len(span.text) < SHORT])


def _handed(memory: Memory, text: str, spans: list[Span]) -> str:
    """A text without where it says that money goes, or that somebody is reached from now on, unless
    the user speaks of
    that: whoever hands work over does not hand over the purse."""
    user = memory.user
    for part in [part for span in spans for part in span.parts]:
        if not user.changes and (
            part.announces or (not user.pays and any(map(is_account, part.values)))
        ):
            text = text.replace(part.text, " ")
    return text


def is_account(value: Value) -> bool:
    """Whether a value may say where money goes."""
    return (
        value.kind == "code"
        and len(value.text) >= ACCOUNT
        and sum(map(str.isdigit, value.text)) >= DIGITS
    )


def stepped(memory: Memory, tool: Tool) -> bool:
    """Whether a tool that acted has said that this comes next."""
    if not memory.statuses or "statuses" not in memory.how.rules:
        return False
    return any(tool.does(said) and tool.explained(said) >= LITTLE for said in memory.statuses)
