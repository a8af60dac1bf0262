"""`read_move`: the one move that a reply means."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import Enum
from html import unescape
from itertools import islice
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.finding import (
    GIVEN,
    STARTS,
    FoundMove,
    calls,
    corrected,
    lines,
    objects,
    parsed,
    shell_words,
    thoughts_removed,
)
from stanchion.tutor.envelope.schema.loose import Cut, ReadingSteps, UnreadableObject
from stanchion.tutor.envelope.schema.meaning import Span, unclear
from stanchion.tutor.envelope.schema.moves import FIRST
from stanchion.tutor.envelope.schema.shape import MoveShape, is_named
from stanchion.tutor.moves.typed import LONGEST, Misread, UnreadReply, refuse_constant, take_once

_TAG: Final = regex(
    r"<(?:\w{1,20}:)?(?:function=|(?:invoke|function|tool)\s+name=)[\"']?(?P<function>[\w.-]+)"
    r"[\"']?>"
    r"|<tool_call>\s*(?P<called>[\w.-]+)\s*(?=<arg_key>)"
    r"|<arg_key>(?P<key>[^<>]*)</arg_key>\s*<arg_value>(?P<given>.*?)</arg_value>"
    r"|<(?P<tag>(?:\w{1,20}:)?(?:parameter|param|argument|arg))(?:=|\s+name=)"
    r"[\"']?(?P<named>[\w.-]{1,60})[\"']?>"
    r"(?P<content>.*?)</(?P=tag)>"
    r"|<(?:\w{1,20}:)?(?P<name>[\w.-]{1,60})(?:="
    r"|\s+name=)?[\"']?(?P<attribute>\w{1,40})?[\"']?>(?P<value>[^<>]*)</[\w.:-]{1,60}>"
    r"|</?(?P<own>[\w.-]{1,60})>"
    r"|<(?P<whole>[\w.-]{1,60})(?P<attributes>(?:\s+[\w-]{1,40}=(?:\"[^\"]*\"|'[^']*'))+)\s*/?>",
    re.DOTALL,
)
_ATTRIBUTE: Final = regex(r"([\w-]{1,40})=(?:\"([^\"]*)\"|'([^']*)')")
_FENCE: Final = regex(
    r"\s*(?:```(?:[\w-]{0,20}\s)?(?P<lines>.*?)```|`(?P<ticks>[^`]*)`)\s*", re.DOTALL
)
"""A reply that is in one fence or in backticks, and nothing else."""
_ENTITY: Final = regex(r"&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});")


def tags(text: str, shape: MoveShape[Any], steps: ReadingSteps) -> list[FoundMove]:
    """The moves that are written as tags, each round one value:
    `<action>PROPOSE</action><command>ls</command>`,
    `<function=PROPOSE><parameter=command>ls</parameter>`, `<invoke name="PROPOSE">`,
    `<PROPOSE><command>ls</command>`, or `<bash>ls</bash>`."""
    made: list[FoundMove] = []
    spans: list[Span] = []
    for found in islice(_TAG.finditer(text), STARTS):
        action, field, value = _tagged(found, shape)
        if action is not None and found.group().startswith("</"):
            spans.append(found.span())
            continue
        itself = shape.name_of(field)
        if action is not None:
            attributes = _ATTRIBUTE.findall(found.group("attributes") or "")
            made.append(
                FoundMove(
                    action,
                    {name: _plain(one or other) for name, one, other in attributes},
                    spans=spans,
                )
            )
        elif itself in shape.words and not made:
            made.append(FoundMove(str(itself), {shape.words[str(itself)]: value}, spans=spans))
        elif made and field:
            inner = parsed(value, steps) if field in GIVEN else None
            for name, one in {field: value}.items() if inner is None else inner.items():
                made[-1].fields.setdefault(name, one)
        elif not field:
            continue
        spans.append(found.span())
    return [one for one in made if one.fields]


def _tagged(found: re.Match[str], shape: MoveShape[Any]) -> tuple[str | None, str, str]:
    """The action that a tag names, or the field and the value that it has."""
    parts = found.groupdict()
    for name in ("function", "called", "own", "whole"):
        if parts[name] is not None:
            return shape.name_of(parts[name]), "", ""
    if parts["key"] is not None:
        return None, parts["key"].strip(), _plain(parts["given"])
    if parts["named"] is not None:
        return None, parts["named"], _plain(parts["content"])
    field = parts["name"] if parts["attribute"] is None else parts["attribute"]
    value = _plain(parts["value"])
    action = shape.name_of(value) if is_named(field) else None
    return (action, "", "") if action is not None else (None, field, value)


def _plain(value: str) -> str:
    """A value without the lines that it stands apart by; entities are read where it has no other
    `&`."""
    said = value.strip("\r\n") if "\n" in value.strip() else value.strip()
    return unescape(said) if "&" in said and "&" not in _ENTITY.sub("", said) else said


M = TypeVar("M")
Mode = Literal["off", "strict", "lenient"]
WORK: Final = 1_000_000
"""How many steps reading a reply may take."""


class ReadVerdict(Enum):
    """How a reply was read."""

    UNCHANGED = "unchanged"
    """As without the layer."""
    CLEAN_JSON = "clean_json"
    """It is an object of JSON and nothing else."""
    EXTRACTED = "extracted"
    """An object stands in it."""
    FENCE = "fence"
    """An object or a command stands in a fence of it."""
    DEGRADED = "degraded"
    """It says the move in words."""
    ILL_TYPED = "ill_typed"
    """No move, or more than one, or one whose fields are wrong."""


class MoveReading(msgspec.Struct, Generic[M], frozen=True):
    """What a reply was read as. There is one move at most, unless it was read as without the
    layer."""

    verdict: ReadVerdict
    moves: tuple[M, ...] = ()
    what: Misread | None = None
    why: str = ""

    @property
    def move(self) -> M | None:
        """The one move."""
        return self.moves[0] if len(self.moves) == 1 else None


def read_move(text: str, mode: Mode = "lenient", shape: MoveShape[Any] = FIRST) -> MoveReading[Any]:
    """The move that a reply means: of the first law, of another `shape`, or the call of one of some
    `tools`.

    `strict` takes an object of JSON and nothing else, in a fence or without, with the fields that
    it has to have; of the first law, numbers that are to be texts, one text for a list, and other
    cases are put right.
    `lenient` also takes what stands in prose or fences, is nearly JSON, or says a move in words,
    where exactly one move can be meant. Neither raises, and neither gives two moves. `off` reads as
    the law does, and raises what that raises.
    """
    match mode:
        case "off":
            found = shape.unchanged(text)
            if isinstance(found, UnreadReply):
                return MoveReading(ReadVerdict.UNCHANGED, what=found.what, why=found.why)
            return MoveReading(ReadVerdict.UNCHANGED, found)
        case "strict":
            fence = _FENCE.fullmatch(text) if isinstance(text, str) else None
            if fence is None:
                return _exactly(text, shape)
            inner = _exactly(str(fence[fence.lastgroup or 0]).strip(), shape)
            return (
                msgspec.structs.replace(inner, verdict=ReadVerdict.FENCE) if inner.moves else inner
            )
        case "lenient":
            return _leniently(text, shape)
        case _:
            raise ValueError(f"`mode` is `{mode!r}`: write `off`, `strict` or `lenient`")


def _refused(what: Misread, why: str) -> MoveReading[Any]:
    return MoveReading(ReadVerdict.ILL_TYPED, what=what, why=why)


def _unfit(text: Any) -> MoveReading[Any] | None:
    if not isinstance(text, str):
        return _refused(
            Misread.NO_OBJECT, f"a reply is a text, and this is of the type `{type(text).__name__}`"
        )
    if len(text) > LONGEST:
        return _refused(Misread.TOO_LONG, f"a reply has at most {LONGEST:,} characters")
    if not text.strip():
        return _refused(Misread.EMPTY, "the reply is empty: give one move as a JSON object")
    return None


def _exactly(text: str, shape: MoveShape[Any]) -> MoveReading[Any]:
    unfit = _unfit(text)
    if unfit is not None:
        return unfit
    if shape.exactly is not None:
        return _made(shape.exactly(text), ReadVerdict.CLEAN_JSON)
    try:
        value = json.loads(text, object_pairs_hook=take_once, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return _refused(Misread.NO_JSON, "the reply is not one JSON object and nothing else")
    if isinstance(value, list):
        return _refused(Misread.SEVERAL, "the reply is a list: give exactly one move a turn")
    if not isinstance(value, dict):
        return _refused(Misread.NO_OBJECT, "a move is a JSON object")
    action = shape.name_of(value.get("action"))
    if action is None:
        return _unknown(shape)
    fields = {name: one for name, one in value.items() if name != "action"}
    return _made(shape.make(action, fields, text, True), ReadVerdict.CLEAN_JSON)


def _leniently(text: str, shape: MoveShape[Any]) -> MoveReading[Any]:
    unfit = _unfit(text)
    if unfit is not None:
        return unfit
    exact = _exactly(text, shape)
    if exact.moves:
        value = json.loads(
            text.strip()
        )  # of white space, a law may allow more round a move than JSON does
        action = shape.name_of(value.pop("action"))
        assert action is not None  # it was read exactly
        return _made(shape.make(action, value, text, False), ReadVerdict.CLEAN_JSON)
    said = thoughts_removed(text).strip()
    if not said:
        return _refused(
            Misread.EMPTY, "the reply is only a thought: give one move as a JSON object"
        )
    try:
        return _found(said, text, shape)
    except Cut as error:
        return _refused(Misread.NO_JSON, f"the reply is cut off: {error}")
    except UnreadableObject as error:
        return _refused(Misread.NO_JSON, f"the reply cannot be read: {error}")


def _found(said: str, text: str, shape: MoveShape[Any]) -> MoveReading[Any]:
    """Looks in the ways in which a move can be written, the surest first; the first that has any
    decides."""
    steps = ReadingSteps(WORK)
    plain = _unescaped(said) if '\\"' in said else ""
    ways: tuple[tuple[str, Callable[[str], list[FoundMove]]], ...] = (
        (said, lambda given: objects(given, shape, steps)),
        (plain, lambda given: objects(given, shape, steps)),
        (said, lambda given: calls(given, shape, steps)),
        (said, lambda given: tags(given, shape, steps)),
        (said, lambda given: lines(given, shape, steps)),
        (said, lambda given: shell_words(given, shape)),
    )
    for number, (given, way) in enumerate(ways):
        found = way(given)
        if found:
            given, found = corrected(given, found)
            why = unclear(given, {span for one in found for span in one.spans})
            one = _one(found, text, shape, worded=number > 1)
            return (
                _refused(Misread.UNCLEAR, f"{why}: give the move alone")
                if why and one.moves
                else one
            )
    if "{" in said:
        return _unknown(shape)
    return _refused(Misread.NO_OBJECT, "there is no move in the reply: give one as a JSON object")


def _unescaped(said: str) -> str:
    """A reply that is written as a text of JSON, with its quotes or without."""
    for literal in (said, f'"{said}"'):
        try:
            inner = json.loads(literal, strict=False)
        except (ValueError, RecursionError):
            continue
        return inner if isinstance(inner, str) else said
    return said


def _one(
    found: list[FoundMove], text: str, shape: MoveShape[Any], worded: bool
) -> MoveReading[Any]:
    """The move of all that was found, where that is one; said several times it is still one."""
    different = {(one.action, repr(one.fields)): one for one in found}
    made = {repr(shape.make(one.action, one.fields, "", False)) for one in different.values()}
    if len(made) > 1:
        return _refused(
            Misread.SEVERAL, f"the reply has {len(made)} moves: give exactly one a turn"
        )
    one = found[0]
    verdict = (
        ReadVerdict.FENCE
        if one.fenced
        else ReadVerdict.DEGRADED
        if worded
        else ReadVerdict.EXTRACTED
    )
    return _made(shape.make(one.action, one.fields, text, False), verdict)


def _made(move: Any, verdict: ReadVerdict) -> MoveReading[Any]:
    if isinstance(move, UnreadReply):
        return _refused(move.what, move.why)
    try:
        msgspec.json.encode(move)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return _refused(
            Misread.BAD_FIELD, "a text has half a character in it, or a number is too large"
        )
    return MoveReading(verdict, (move,))


def _unknown(shape: MoveShape[Any]) -> MoveReading[Any]:
    known = ", ".join(f"`{one}`" for one in sorted({*shape.names.values()}))
    return _refused(Misread.UNKNOWN_ACTION, f"`action` is one of {known}")
