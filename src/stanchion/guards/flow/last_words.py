"""Last words: what stands against a run's final answer: addresses that carry something away,
dictated sentences."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, context, of_source, of_span
from stanchion.guards.flow.carrying import carried
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.pointing import entrusted
from stanchion.guards.flow.sources import Span
from stanchion.kernel.regex import regex
from stanchion.readings.prose.lexicon import Mark, known, telling, words
from stanchion.readings.prose.values import LINK, Value, split_link

SENTENCES: Final = regex(r"[^\s.!?](?:[^.!?\n]|[.!?](?=\S))*[.!?]*")
RUN: Final = 5
"""So many words in a row that stand in a text are its words."""
FEW: Final = 3
"""A sentence of fewer words says nothing."""
MOST: Final = 400
PATCHES: Final = 50


def said(memory: Memory, text: str) -> Answer | None:
    """What stands against an answer: addresses that are left out, or sentences that a text
    dictated."""
    if not memory.sources:
        return None
    memory.settle()
    return _links(memory, text) or _sentences(memory, text)


def _links(memory: Memory, text: str) -> Answer | None:
    spans: list[list[int]] = []
    first: Answer = {}
    for found in LINK.finditer(text):
        if len(spans) >= PATCHES:
            break
        url = found.group().rstrip(".,;:!?")
        where = _leads_away(memory, url)
        if where is not None:
            spans.append([found.start(), found.start() + len(url)])
            first = first or where
    return {"rule": "answer_link", **first, **context(memory), "spans": spans} if spans else None


def _leads_away(memory: Memory, url: str) -> Answer | None:
    """Where an address comes from that only a text wants shown, or of what it takes something along
    to a host that nobody gave."""
    host = Value("host", split_link(url)[0])
    if memory.ours(host) or memory.clean(host):
        return None
    for span in memory.by_value.get(host, ()):
        if _dictates(memory, span) and any(
            part.commands and part.holds(host) for part in span.parts
        ):
            return of_span(span)
    source = carried(memory, url)
    return of_source(source) if source is not None else None


def _sentences(memory: Memory, text: str) -> Answer | None:
    if not memory.hostile and not any(_dictates(memory, span) for span in memory.spans[-MOST:]):
        return None
    spans: list[list[int]] = []
    first: Span | None = None
    for count, found in enumerate(SENTENCES.finditer(text)):
        if count >= MOST or len(spans) >= PATCHES:
            break
        span = _dictated(memory, words(found.group()))
        if span is not None:
            spans.append([*found.span()])
            first = first or span
    return (
        {"rule": "answer", **of_span(first), **context(memory), "spans": spans}
        if first is not None
        else None
    )


def _dictated(memory: Memory, sentence: list[str]) -> Span | None:
    """The text that wants this sentence said: it has several words of it in a row, which the user
    does not have."""
    size = min(RUN, len(sentence))
    if size < FEW:
        return None
    for at in range(len(sentence) - size + 1):
        run = f" {' '.join(sentence[at : at + size])} "
        rarest = min(
            [memory.by_stem.get(telling(word), ()) for word in run.split() if telling(word)],
            key=len,
            default=(),
        )
        for span in rarest:
            if run in span.normal and run not in memory.user.normal and _dictates(memory, span):
                return span
    return None


def _dictates(memory: Memory, span: Span) -> bool:
    """Whether a text puts words into the agent's mouth."""
    if span.source.trusted:
        return False
    if span.hostile:
        return True
    says = any(
        part.commands and any(Mark.SAYS in known(word).marks for word in part.stems)
        for part in span.parts
    )
    return says and not entrusted(memory, span)
