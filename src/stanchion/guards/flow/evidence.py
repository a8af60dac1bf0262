"""Evidence: which text that somebody else wrote explains a call, by its values, by what they stand
for, by what is done."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from stanchion.guards.flow.licences import asked, commanded, licensed
from stanchion.guards.flow.memory import Best, Given, Memory
from stanchion.guards.flow.sources import Part, Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.readings import names
from stanchion.readings.prose.lexicon import is_listed, known, stems, telling
from stanchion.readings.prose.values import Value, squash

STRONG: Final = ("mail", "host", "code")
DISTINCT: Final = (*STRONG, "path", "num")
NAMING: Final = (*STRONG, "path", "text")
THINGS: Final = ("code", "path")
OBJECTS: Final = (*THINGS, "mail")
LONG: Final = 12
"""From how many characters on a code is a destination."""
PIECE: Final = 6
"""From how many characters on a value is looked for in other spellings."""
SHORTEST: Final = 3
"""From how many characters on a phrase names something."""
COPIED: Final = 4
"""From how many words on a phrase is a copy."""
LOOKED_AT: Final = 12
"""How many places of a value are looked at for what it stands for."""
LATEST: Final = 64
"""How many of the newest texts may want what the user does not."""
KEPT: Final = 1_024
"""How many phrases and names of parameters are remembered as they were understood."""
FEW: Final = 4
CONTENT: Final = 2_000
"""From how many words on a call says what it is about, and how much of an argument counts."""
SHARED: Final = 2
"""So many words of a record, and a third of them, name it."""


class Blame(NamedTuple):
    """The text that explains a call: by which rule, by which value."""

    rule: str
    span: Span
    given: Given | None = None


def blame(memory: Memory, tool: Tool, args: Any, acts: bool) -> Blame | None:
    """The text that explains a call which the user does not explain."""
    rules, mine = memory.how.rules, memory.given(args)
    found = _values(memory, tool, mine) if "values" in rules else None
    if found is None and acts and "unknown" in rules:
        found = _unknown(memory, tool, mine)
    if found is None and "objects" in rules:
        found = _objects(memory, tool, mine)
    if (
        found is None
        and acts
        and "actions" in rules
        and not (tool.prepares and "prepares" in rules)
    ):
        found = (
            _action(memory, tool, mine, args)
            or _marked(memory, tool, mine)
            or _unasked(memory, tool, mine)
        )
    return found


def _values(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    for one in mine:
        if one.value.kind == "num" and not (one.alone and (memory.hostile or is_id(one.name))):
            continue
        if (
            memory.ours(one.value)
            or memory.approved(tool, one.value)
            or tool.chosen(one.value.text)
        ):
            continue
        span = _attributed(memory, tool, one)
        if span is None or (
            one.inside and not span.hostile and not commanded(memory, span, tool, one.value)
        ):
            continue
        if _counts(memory, span) and not licensed(memory, span, tool, one.value.kind, one):
            return Blame("dictated", span, one)
    return None


def _counts(memory: Memory, span: Span) -> bool:
    """Whether a text may be held against a call: without a user's words only one that speaks to a
    machine."""
    return span.hostile or memory.user.spoke


@lru_cache(KEPT)
def is_id(name: str) -> bool:
    """Whether a parameter names one thing by its number."""
    said = names.words(name)
    return bool(said) and is_listed(said[-1], "numbers")


def _attributed(memory: Memory, tool: Tool, one: Given) -> Span | None:
    """The text that a value was read in, where nothing else has it."""
    how, value = memory.how, one.value
    hit: Span | None = None
    for span in holding(memory, tool, value):
        if value.kind == "text" and not tool.reads and not _phrased(memory, span, tool, value):
            continue
        if value.kind == "num" and not _numbered(memory, span, tool, one):
            continue
        if not span.hostile and not tool.reads and not _asks_with(memory, span, tool, value):
            continue
        if hit is None or (span.hostile and not hit.hostile):
            hit = span
    if hit is None:
        if value.kind == "text" or "derived" not in how.rules or memory.clean(value):
            return None
        return next(
            (place.source.because for place in memory.data.get(value, ()) if place.source.because),
            None,
        )
    if (
        value.kind != "num"
        and memory.clean(value)
        and (tool.reads or not _wants(memory, hit, tool, value))
    ):
        return None
    return hit


def _asks_with(memory: Memory, span: Span, tool: Tool, value: Value) -> bool:
    """Whether a text asks for something with a value, and does not only say it beside what it asks
    for."""
    if any(
        (part.asks and part.holds(value)) or (part.commands and tool.named_by(part.stems))
        for part in span.parts
    ):
        return True
    return not any(part.holds(value) for part in span.parts) or _wants(memory, span, tool, value)


def _phrased(memory: Memory, span: Span, tool: Tool, value: Value) -> bool:
    """Whether a phrase is from a text: one that explains the tool a little, or that commands
    something with so long a phrase that nobody else finds the same words."""
    if _explains(span, tool, memory.how.thresholds.phrase):
        return True
    if value.text.count(" ") < COPIED - 1:
        return False
    return any(part.commands and part.holds(value) for part in span.parts)


def _numbered(memory: Memory, span: Span, tool: Tool, one: Given) -> bool:
    """Whether a bare number is from a text: one that speaks to a machine where the user does not
    ask for the tool, or, of a number that names something, one that commands the tool with it."""
    if span.hostile and not asked(memory, tool):
        return True
    return is_id(one.name) and commanded(memory, span, tool, one.value)


def _wants(memory: Memory, span: Span, tool: Tool, value: Value) -> bool:
    """Whether a text wants what a tool does, so that a value is the text's though it stands
    elsewhere as well."""
    return _explains(span, tool, memory.how.thresholds.commanded) or commanded(
        memory, span, tool, value
    )


def _explains(span: Span, tool: Tool, enough: float) -> bool:
    return any(tool.dictated(part.stems) >= enough for part in span.parts)


def holding(memory: Memory, tool: Tool, value: Value) -> list[Span]:
    """The texts that a value stands in; of a host also those with the one it belongs to."""
    if value.kind == "text":
        return _saying(memory, tool, value)
    found = list(memory.by_value.get(value, ()))
    if value.kind == "host":
        above = value.text.partition(".")[2]
        while "." in above:
            found += memory.by_value.get(Value("host", above), ())
            above = above.partition(".")[2]
    if not found and memory.hostile and value.kind in ("code", "mail", "path", "link"):
        piece = value.text if value.kind == "code" else squash(value.text)
        if len(piece) >= PIECE and piece in memory.hostile_text():
            found = [span for span in memory.hostile if piece in span.squashed]
    return found


def _saying(memory: Memory, tool: Tool, value: Value) -> list[Span]:
    """The texts that have a phrase; they are found by its rarest word."""
    if not _names_something(tool, value.text):
        return []
    rarest: list[Span] | None = None
    for word in value.text.split():
        stemmed = telling(word)
        if stemmed:
            found: list[Span] = memory.by_stem.get(stemmed) or []
            rarest = found if rarest is None or len(found) < len(rarest) else rarest
    phrase = f" {value.text} "
    return [span for span in rarest or () if phrase in span.normal]


def _names_something(tool: Tool, text: str) -> bool:
    """Whether words name something in particular, and are not those of the tool itself."""
    said = _naming(text)
    return bool(said) and not tool.own.issuperset(said)


@lru_cache(KEPT)
def _naming(text: str) -> tuple[str, ...]:
    """The telling words of a phrase; none where it names nothing in particular."""
    said = tuple([word for word in text.split() if telling(word)])
    if len(text) < SHORTEST or len(said) > 1 or not said:
        return said if len(text) >= SHORTEST else ()
    about = known(telling(said[0]))
    return said if not said[0].isdigit() and not about.wide and not about.marks else ()


def _unknown(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    """After a text that speaks to a machine a destination has to come from somewhere."""
    if not memory.hostile:
        return None
    for one in mine:
        kind, text = one.value
        if kind in ("mail", "host") or (kind == "code" and len(text) >= LONG):
            value = one.value
            if memory.approved(tool, value):
                continue
            if not memory.ours(value) and value not in memory.data and value not in memory.by_value:
                return Blame("unknown_origin", memory.hostile[0], one)
    return None


def _objects(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    for one in mine:
        if (
            one.value.kind not in OBJECTS
            or memory.ours(one.value)
            or memory.approved(tool, one.value)
        ):
            continue
        span = _named(memory, one.value)
        if (
            span is not None
            and _counts(memory, span)
            and not licensed(memory, span, tool, "object", one)
        ):
            return Blame("stands_for", span, one)
    return None


def _named(memory: Memory, value: Value) -> Span | None:
    """The text that names the record which a value stands for, where the user does not."""
    best: Span | None = None
    for source, number in memory.data.get(value, ())[:LOOKED_AT]:
        record = source.records.get(number)
        if record is None:
            continue
        if not memory.user.all.stems.isdisjoint(record.telling):
            return None
        counts: dict[int, int] = {}
        for word in record.telling:
            for span in memory.by_stem.get(word, ()):
                counts[span.number] = counts.get(span.number, 0) + 1
        for at, count in counts.items():
            span = memory.spans[at]
            own = span.source is source and span.record == number
            if (
                count >= SHARED
                and count * 3 >= len(record.ident)
                and not own
                and (span.hostile or not span.source.acted)
            ):
                best = span
    return best


def _action(memory: Memory, tool: Tool, mine: list[Given], args: Any) -> Blame | None:
    """The text that explains what is done clearly better than the user does."""
    if memory.approved(tool):
        return None
    values = {one.value for one in mine}
    wants = asked(memory, tool)
    named = [value for value in values if value.kind in NAMING]
    if (wants and any(memory.ours(value) for value in named)) or _said(memory, tool, named):
        return None
    best = explaining(memory, tool)
    loud = best.span is not None and best.span.hostile
    if not loud and wants and any(value in memory.data for value in named):
        return None
    if not loud and _wanted(memory, tool) and any(memory.clean(value) for value in named):
        return None
    if best.span is None or not _counts(memory, best.span):
        return None
    counted = not wants and any(
        value.kind == "num" and best.span.holds(value) and not memory.user.has(value)
        for value in values
    )
    if not _enough(memory, tool, best, values, wants, counted):
        return None
    span = best.span if loud else _about(memory, tool, best.span, args)
    if span is None or licensed(memory, span, tool, "num" if counted else "action"):
        return None
    return Blame("action", span)


def _about(memory: Memory, tool: Tool, best: Span, args: Any) -> Span | None:
    """The text that explains a tool and speaks of what this call is about, too: who asks for mails
    does not ask for every mail. A call that hardly says anything is about what its tool does."""
    said = [text[:CONTENT] for _, text in flat(args)]
    about = tool.beside(frozenset().union(*map(stems, said)))
    if len(about) <= FEW or _speaks_of(best, tool, about):
        return best
    enough = memory.how.thresholds.floor
    for span in reversed(memory.spans[-LATEST:]):
        if span.source.acted or not _speaks_of(span, tool, about):
            continue
        if any(tool.dictated(part.stems) >= enough for part in span.parts):
            return span
    return None


def _speaks_of(span: Span, tool: Tool, about: frozenset[str]) -> bool:
    """Whether a sentence that wants what a tool does has words of what a call is about."""
    return any(
        tool.named_by(part.verbs) and len(about & part.stems) >= SHARED for part in span.parts
    )


def _wanted(memory: Memory, tool: Tool) -> bool:
    """Whether the user has the verb of a tool, or one that is related."""
    return tool.does(memory.user.verbs)


def _said(memory: Memory, tool: Tool, named: list[Value]) -> bool:
    """Whether one request has both the verb of a tool and what the call names."""
    return _wanted(memory, tool) and any(
        tool.does(request.verbs)
        and any(value in request.values or value.text in request.lower for value in named)
        for request in memory.user.requests
    )


def _marked(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    """The text in the record of what a call is about that commands what is done to it, where the
    user asks for nothing of the kind: `to be deleted`."""
    if memory.approved(tool) or _wanted(memory, tool) or asked(memory, tool):
        return None
    for one in mine:
        if one.value.kind not in THINGS or not one.alone:
            continue
        for source, number in memory.data.get(one.value, ())[:LOOKED_AT]:
            for span in source.spans if not source.acted else ():
                if span.record == number and _counts(memory, span) and _commands(span, tool):
                    return None if licensed(memory, span, tool, "action") else Blame("action", span)
    return None


def _unasked(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    """The text that commands something with a word or a value of a call, where the user only wants
    to be told
    something: nothing is to be done then."""
    if not memory.user.only_reads or not tool.verbs or memory.approved(tool) or asked(memory, tool):
        return None
    for span in reversed(memory.spans[-LATEST:]):
        if span.source.acted or not any(
            part.commands and _shares(part, tool, mine) for part in span.parts
        ):
            continue
        if not licensed(memory, span, tool, "action"):
            return Blame("action", span)
    return None


def _shares(part: Part, tool: Tool, mine: list[Given]) -> bool:
    return tool.shares(part.stems) or any(part.holds(one.value) for one in mine)


def _commands(span: Span, tool: Tool) -> bool:
    return any(part.commands and tool.named_by(part.verbs) for part in span.parts)


def _enough(
    memory: Memory, tool: Tool, best: Best, values: set[Value], wants: bool, counted: bool
) -> bool:
    """Whether a text explains a tool well enough."""
    at = memory.how.thresholds
    hostile = best.span is not None and best.span.hostile
    if counted and best.much >= (at.hostile if hostile else at.commanded):
        return True
    user = _by_user(memory, tool)
    bare = hostile and not wants and not any(value.kind in DISTINCT for value in values)
    if bare and best.much >= at.hostile and best.much > user:
        return True
    if best.much < at.floor or best.much < user + at.margin:
        return False
    strong = {value for value in best.values if value.kind in STRONG}
    if not strong or not strong.isdisjoint(values):
        return True
    kinds = {value.kind for value in strong}
    return not wants and not any(
        (value.kind in kinds and value in memory.data)
        or (value.kind != "num" and memory.ours(value))
        for value in values
    )


def _by_user(memory: Memory, tool: Tool) -> float:
    """How well the user's words explain a tool; those of one sentence count for more than all
    together."""
    single = max([tool.explained(request.stems) for request in memory.user.requests], default=0.0)
    return max(single, TOGETHER * tool.explained(memory.user.all.stems))


TOGETHER: Final = 0.85


def explaining(memory: Memory, tool: Tool) -> Best:
    """The text that explains a tool best; every text is weighed once for every tool."""
    best = memory.best[tool]
    name = tool.name.lower()
    for span in memory.spans[best.upto :]:
        if span.source.acted and not span.hostile:
            continue
        for part in span.parts:
            worth = tool.dictated(part.stems)
            if worth > best.much and (span.hostile or tool.named_by(part.verbs)):
                best.span, best.much, best.values = span, worth, part.values or span.values
        if best.much < 1.0 and name in span.text.lower():
            best.span, best.much, best.values = span, 1.0, span.values
    best.upto = len(memory.spans)
    return best
