"""The rules: which text explains a call, and whether the user does."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from stanchion.guards.flow.memory import Memory, given_values
from stanchion.guards.flow.sources import Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.readings.prose.lexicon import known, parts, telling
from stanchion.readings.prose.values import Value, squash, values

ADDRESSES: Final = ("mail", "host", "link")
STRONG: Final = ("mail", "host", "code")
WHOLE: Final = 60
WEB: Final = "t2"
DISTINCT: Final = ("mail", "host", "code", "path", "num")


class Given(NamedTuple):
    """A value of a call and the parameter it is of."""

    name: str
    value: Value
    alone: bool
    """Whether it is all that the parameter holds."""


class Blame(NamedTuple):
    """The text that explains a call: by which rule, by which value."""

    rule: str
    span: Span
    given: Given | None = None


class Settings:
    values = True
    actions = True
    objects = True
    derive = True
    delegation = True
    compete = True
    margin = 0.12
    floor = 0.34
    hostile_floor = 0.15
    phrase = 0.2
    competes = 0.3
    said_floor = 0.3
    aligned = 0.25
    topic = 1.5
    unknown = True
    frames = True
    prepare = True
    follow = False
    firm = True


S = Settings()


def given(memory: Memory, args: Any) -> list[Given]:
    """The values of a call that say where it comes from. An argument that is the whole of a field refers to it."""
    found: list[Given] = []
    for name, text in flat(args):
        if len(text) <= WHOLE or hash(squash(text)) not in memory.wholes:
            alone = " " not in text.strip()
            found += [Given(name, value, alone) for value in given_values(text)]
    return found


def check(memory: Memory, tool: Tool, args: Any) -> Blame | None:
    """What stands against a call; nothing where it may go ahead."""
    if memory.idle:
        return None
    acts = tool.acts(args) or any(leads_out(text) for _, text in flat(args))
    if not acts:
        return None
    memory.settle(explains)
    if not memory.spans:
        return None
    return _blame(memory, tool, given(memory, args), acts)


def leads_out(text: str) -> bool:
    """Whether an argument names a host."""
    return "." in text and any(value.kind == "host" for value in values(text))


def explains(memory: Memory, tool: Tool, args: Any) -> Span | None:
    """The text that explains a call which goes ahead all the same."""
    if not memory.spans:
        return None
    found = _blame(memory, tool, given(memory, args), tool.acts(args))
    return found.span if found is not None else None


def _blame(memory: Memory, tool: Tool, mine: list[Given], acts: bool) -> Blame | None:
    return (
        (_values(memory, tool, mine) if S.values else None)
        or (_unknown(memory, mine) if S.unknown and acts else None)
        or (_objects(memory, tool, mine) if S.objects else None)
        or (_action(memory, tool, mine) if S.actions and acts and not (S.prepare and tool.prepares) else None)
    )


def _values(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    for one in mine:
        if (one.value.kind == "num" and not is_id(one.name)) or memory.ours(one.value) or (tool.name, one.value) in memory.approved:
            continue
        span = _attributed(memory, tool, one)
        if span is not None and not licensed(memory, span, tool, one.value.kind, one):
            return Blame("dictated", span, one)
    return None


def _attributed(memory: Memory, tool: Tool, one: Given) -> Span | None:
    """The text that a value was read in, where nothing else has it."""
    value = one.value
    hit = None
    for span in _holding(memory, tool, value):
        if value.kind == "text" and not tool.reads:
            if not any(tool.dictated(part.stems) >= S.phrase for part in span.parts):
                continue
        if value.kind == "num" and not _strong(span, tool, value):
            continue
        if hit is None or (span.hostile and not hit.hostile):
            hit = span
    clean = memory.clean(value)
    if hit is None:
        if clean or not S.derive or value.kind == "text":
            return None
        led = next((place for place in memory.data.get(value, ()) if place[0].because is not None), None)
        return led[0].because if led is not None else None
    if clean and not (not tool.reads and any(tool.dictated(part.stems) >= S.competes for part in hit.parts)):
        return None
    return hit


def is_id(name: str) -> bool:
    """Whether a parameter names one thing by its number."""
    return parts(name)[-1:] in (["id"], ["ids"], ["number"], ["no"], ["index"], ["key"])


def _holding(memory: Memory, tool: Tool, value: Value) -> list[Span]:
    """The spans that a value stands in."""
    if value.kind == "num":
        return [span for span in memory.by_value.get(value, ())]
    if value.kind == "text":
        if len(value.text) <= 3 or not _distinct(tool, value.text):
            return []
        rarest: list[Span] | None = None
        for word in value.text.split():
            said = telling(word)
            if said:
                found = memory.by_stem.get(said, [])
                rarest = found if rarest is None or len(found) < len(rarest) else rarest
        return [span for span in rarest or () if span.holds(value)]
    found = list(memory.by_value.get(value, ()))
    if value.kind == "host":
        parent = value.text.partition(".")[2]
        while "." in parent:
            found += memory.by_value.get(Value("host", parent), ())
            parent = parent.partition(".")[2]
    piece = squash(value.text) if value.kind in ("code", "mail", "path", "link") else ""
    if len(piece) >= 6 and not found:
        found = [span for span in memory.hostile if piece in squash(span.text)]
    return found


def _distinct(tool: Tool, text: str) -> bool:
    """Whether words name something in particular, and are not those of the tool itself."""
    said = [word for word in text.split() if telling(word)]
    if not said or all(word in tool.own for word in said):
        return False
    if len(said) >= 2:
        return True
    word = said[0]
    return len(word) > 3 and not word.isdigit() and not known(telling(word)).wide and not known(telling(word)).marks


def _unknown(memory: Memory, mine: list[Given]) -> Blame | None:
    """After a text that speaks to a machine a destination must come from somewhere."""
    if not memory.hostile:
        return None
    for one in mine:
        kind, text = one.value
        if kind not in ("mail", "host") and not (kind == "code" and len(text) >= 12):
            continue
        if not memory.ours(one.value) and one.value not in memory.data and one.value not in memory.by_value:
            return Blame("unknown_origin", memory.hostile[0], one)
    return None


def _objects(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    for one in mine:
        if one.value.kind not in ("code", "path", "mail", "text") or memory.ours(one.value):
            continue
        span = _named(memory, one.value)
        if span is not None and not licensed(memory, span, tool, "object", one):
            return Blame("object", span, one)
    return None


def _named(memory: Memory, value: Value) -> Span | None:
    """The text that names the record which a value stands for, where the user does not."""
    best = None
    for source, number in memory.data.get(value, ())[:12]:
        record = source.records.get(number)
        if record is None:
            continue
        ident = {word for word in record.ident if not memory.is_kind(word)}
        if not ident.isdisjoint(memory.user.all.stems):
            return None
        counts: dict[int, int] = {}
        for word in ident:
            for span in memory.by_stem.get(word, ()):
                counts[span.number] = counts.get(span.number, 0) + 1
        for at, count in counts.items():
            span = memory.spans[at]
            if (span.source is source and span.record == number) or (span.source.act and not span.hostile):
                continue
            if count >= 2 and count * 3 >= len(record.ident):
                best = span
    return best


def _asked(memory: Memory, tool: Tool, span: Span | None = None) -> bool:
    """Whether the user asked for what a tool does, or for what a text asks for."""
    if any(tool.asked_by(request) for request in memory.user.requests):
        return True
    if any(tool.does(said) and tool.explained(said) >= 0.2 for said in memory.statuses):
        return True
    if span is None:
        return False
    near = [other for other in span.source.spans if other.record == span.record and not other.hostile]
    return any(_aligned(other, tool, request.verbs) for other in near for request in memory.user.requests)


def _asked_there(memory: Memory, tool: Tool, span: Span) -> bool:
    """Whether one request both asks for this and points at this text."""
    near = [other for other in span.source.spans if other.record == span.record and not other.hostile]
    for request, around in zip(memory.user.requests, memory.user.neighbours, strict=True):
        wants = tool.asked_by(request) or any(_aligned(other, tool, request.verbs) for other in near)
        if wants and memory.points(span, around) >= 1:
            return True
    return False


def _aligned(span: Span, tool: Tool, verbs: frozenset[str]) -> bool:
    """Whether a user and a text use the same verb, and the text explains the tool."""
    return any(not verbs.isdisjoint(part.stems) and tool.explained(part.stems) >= S.aligned for part in span.parts)


def _action(memory: Memory, tool: Tool, mine: list[Given]) -> Blame | None:
    user = memory.user
    score = max([tool.explained(request.stems) for request in user.requests], default=0.0)
    score = max(score, 0.85 * tool.explained(user.all.stems))
    asked = _asked(memory, tool)
    have = {one.value for one in mine}
    if asked and any(
        value.kind in ("mail", "host", "code", "path", "text") and (memory.ours(value) or value in memory.data)
        for value in have
    ):
        return None
    best, much, named = _explaining(memory, tool)
    if best is None:
        return None
    numbers = [value for value in have if value.kind == "num"]
    said = not asked and any(best.holds(value) and not user.has(value) for value in numbers)
    if said and much >= S.said_floor:
        pass
    elif best.hostile and not asked and not any(v.kind in DISTINCT for v in have) and much >= S.hostile_floor and much > score:
        pass
    elif much < S.floor or much < score + S.margin:
        return None
    else:
        strong = {value for value in named if value.kind in STRONG}
        kinds = {value.kind for value in strong}
        if strong and strong.isdisjoint(have) and (
            asked
            or any(v.kind in kinds and v in memory.data for v in have)
            or any(v.kind != "num" and memory.ours(v) for v in have)
        ):
            return None
    if not best.hostile and licensed(memory, best, tool, "num" if said else "action", None):
        return None
    return Blame("action", best)


def _explaining(memory: Memory, tool: Tool) -> tuple[Span | None, float, frozenset[Value]]:
    """The text that explains a tool best; every text is weighed once for every tool."""
    best, much, named = None, 0.0, frozenset[Value]()
    for span in memory.spans:
        if span.source.act and not span.hostile:
            continue
        for part in span.parts:
            worth = tool.dictated(part.stems)
            if worth > much:
                best, much, named = span, worth, part.values or span.values
        if tool.name.lower() in span.text.lower():
            best, much, named = span, 1.0, span.values
    return best, much, named


def licensed(memory: Memory, span: Span, tool: Tool, kind: str, one: Given | None) -> bool:
    """Whether a text may have a call: only one that does not speak to a machine, and that the user points at."""
    if span.hostile:
        return False
    value = one.value if one is not None else None
    if S.prepare and tool.prepares and kind in ("code", "num", "text", "object"):
        return True
    if (tool.reads or tool.prepares) and value is not None and kind in ("host", "link") and _same_site(span, value):
        return True
    if span.source.act and kind in ("action", "text", "code", "object", "num", "path"):
        return True
    if kind in ("code", "num", "text") and any(
        tool.does(said) and tool.explained(said) >= 0.2 for said in memory.statuses
    ):
        return True
    if S.delegation and memory.user.handed and memory.entrusted(span):
        return True
    sure = memory.points(span)
    if sure < 1:
        return False
    if one is not None and one.alone and kind in ("host", "link"):
        return _follows(memory, span, one.value, sure, tool.reads)
    if tool.reads and kind not in ("host", "link"):
        asked = True
    elif kind in ("mail", "code", "path", "host", "link"):
        asked = _asked_there(memory, tool, span)
    else:
        asked = _asked(memory, tool, span)
    if kind == "action" or not asked:
        return asked
    if S.firm and one is not None and _strong(span, tool, one.value):
        return kind == "text" and sure >= 2 and _asked_there(memory, tool, span)
    if value is not None and kind in ("mail", "host", "code", "link", "path") and S.compete:
        same = "host" if kind == "link" else kind
        if any(each.kind == same for each in memory.user.all.values):
            return False
        if any(
            each.kind == same and each != value and number == span.record for each, number in span.source.data
        ):
            return False
    return sure >= 2 or kind not in ("mail", "code")


def _follows(memory: Memory, span: Span, value: Value, sure: float, reads: bool) -> bool:
    """Whether a link may be opened that stands in a text the user points at: where the text only says that something is
    there, where that is what the user speaks of, or where the user wants what is linked there."""
    held = [part for part in span.parts if part.holds(value)]
    topics = {word for part in held for word in part.stems & memory.user.all.stems if not memory.is_kind(word)}
    quiet = bool(held) and not any(part.commands for part in held)
    if quiet and topics and sure >= S.topic:
        return True
    if not reads:
        return False
    if len(topics) >= 2 or (quiet and sure >= 2):
        return True
    return any(
        WEB in request.kinds and not any(own.kind == "host" for own in around.values) and memory.points(span, around) >= 2
        for request, around in zip(memory.user.requests, memory.user.neighbours, strict=True)
    )


def _strong(span: Span, tool: Tool, value: Value) -> bool:
    """Whether a text both commands what a tool does and gives the value: in one sentence, or in several that belong
    together."""
    inside = False
    for part in span.parts:
        if part.commands and (tool.named_by(part.stems) or tool.reads):
            if part.holds(value):
                return True
            rival = any(other.kind == value.kind for other in part.values)
            inside = inside or (not rival and tool.dictated(part.stems) >= S.competes)
    return inside and span.holds(value)


def _same_site(span: Span, value: Value) -> bool:
    host = value.text.partition("/")[0]
    return any(
        each.kind == "host" and each.text == host for _, text in flat(span.source.args) for each in values(text)
    )
