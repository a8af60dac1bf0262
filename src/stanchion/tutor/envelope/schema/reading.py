"""`read_move`: the one move that a reply means."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.moves import FIRST
from stanchion.tutor.envelope.schema.shape import MoveShape, is_named, is_remark, last_word
from stanchion.tutor.moves.typed import LONGEST, Misread, UnreadReply, refuse_constant, take_once

M = TypeVar("M")
Mode = Literal["off", "strict", "lenient"]

GIVEN: Final = frozenset({"arguments", "args", "parameters", "params", "input", "action_input"})
"""Under which names models put the fields of an action, where those stand apart."""
_BESIDE: Final = frozenset({"id", "index", "role"})
"""What stands beside fields that stand apart, and is none of them."""

_FENCE: Final = regex(
    r"\s*(?:```(?:[\w-]{0,20}\s)?(?P<lines>.*?)```|`(?P<ticks>[^`]*)`)\s*", re.DOTALL
)
"""A reply that is in one fence or in backticks, and nothing else."""
_SHELL: Final = regex(r"\s*```(?:bash|sh|shell|console)\n(?P<command>[^`]*)```\s*")
_THOUGHT: Final = regex(
    r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAGGED: Final = regex(r"(?:I )?(?P<action>[A-Za-z]{2,20}):[ \t]*(?P<said>[^\s{][^\n]*)")
"""A line whose name is the action, and nothing else."""
_WRAPPED: Final = regex(
    r"```(?:json)?(?=\s|\Z)|`|</?(?:tool_call|function_call|action|move|answer)>"
)
"""What a call stands in, and nothing else."""
_LABEL: Final = regex(
    r"(?:sure|ok|okay)\s*:|(?:(?:here is|this is|my|the|next|final)\s+)*"
    r"(?:action|move|answer|json|reply|response|output|command|proposal|call|step)\s*:",
    re.IGNORECASE,
)
_INTENT: Final = regex(
    r"(?:(?:first|next|now|then|okay|ok|sure),?\s+)?(?:I'll|I will|I am going to|let me|let's)\s"
    r"[\w\s,'./-]{1,200}[:.]",
    re.IGNORECASE,
)
_AGAINST: Final = regex(
    r"n't|\b(?:not|never|no|none|without|cannot|refuse|refrain|avoid|stop|skip|prevent|instead|"
    r"rather|if|unless|until|would|could|should|might|maybe|but|except|example|explain|show|"
    r"quote|cite|repeat|say|said|tell|told|ask|asked|wait|mention|warn|report|describe|note|write|"
    r"reply|answer|respond|message|text|sentence|user|tool|instructions?|forbidden|dangerous|"
    r"bad|wrong|previous|earlier|old|pretend|imagine|later|someone|somebody|anyone|else)\b",
    re.IGNORECASE,
)
"""What turns an intent into something else, or makes a text of the move."""


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
    """It is a line whose name is the action."""
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
    `lenient` also takes one that stands behind a thought, a label or a plain intent, with its
    action and fields under other names, a command alone in a fence, and a line such as
    `PROPOSE: ls`. Neither raises, and neither gives two moves. `off` reads as the law does, and
    raises what that raises.
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


_decoder: Final = json.JSONDecoder(
    strict=False, object_pairs_hook=take_once, parse_constant=refuse_constant
)


def _leniently(text: str, shape: MoveShape[Any]) -> MoveReading[Any]:
    """A reply without what was only thought: a command alone in a fence, a line that is a move, or
    an object."""
    unfit = _unfit(text)
    if unfit is not None:
        return unfit
    said = _THOUGHT.sub("\n", text).strip()
    if not said:
        return _refused(
            Misread.EMPTY, "the reply is only a thought: give one move as a JSON object"
        )
    shell, tagged = _SHELL.fullmatch(said), _TAGGED.fullmatch(said)
    if shell is not None and "PROPOSE" in shape.words:
        fields = {shape.words["PROPOSE"]: shell["command"].strip()}
        return _made(shape.make("PROPOSE", fields, text, False), ReadVerdict.FENCE)
    action = None if tagged is None else shape.name_of(tagged["action"])
    if tagged is not None and action is not None and action in shape.words:
        fields = {shape.words[action]: tagged["said"]}
        return _made(shape.make(action, fields, text, False), ReadVerdict.DEGRADED)
    return _in_words(said, text, shape)


def _in_words(said: str, text: str, shape: MoveShape[Any]) -> MoveReading[Any]:
    """The object in a reply. Cases, in this order: there is none, one that cannot be read, or
    several; words round it that leave open whether it is meant."""
    begin = said.find("{")
    if begin < 0:
        return _refused(
            Misread.NO_OBJECT, "there is no move in the reply: give one as a JSON object"
        )
    try:
        value, end = _decoder.raw_decode(said, begin)
    except (ValueError, RecursionError) as error:
        return _refused(Misread.NO_JSON, f"the object in the reply cannot be read: {error}")
    if "{" in said[end:]:
        return _refused(
            Misread.SEVERAL, "the reply has several objects: give exactly one move a turn"
        )
    if not _introduces(said[:begin]) or _WRAPPED.sub("", said[end:]).strip():
        return _refused(
            Misread.UNCLEAR, "the words round it leave open whether it is meant: give it alone"
        )
    action, fields = _called(value, shape)
    if action is None:
        return _unknown(shape)
    fenced, alone = "```" in said[:begin], len(said) == end - begin
    verdict = ReadVerdict.CLEAN_JSON if alone else ReadVerdict.EXTRACTED
    made = shape.make(action, fields, text, False)
    return _made(made, ReadVerdict.FENCE if fenced else verdict)


def _introduces(before: str) -> bool:
    """Whether nothing stands before a move but a label, or one sentence of what somebody does
    now."""
    words = _WRAPPED.sub("", before).replace("\u2019", "'").strip()
    if not words or _LABEL.fullmatch(words) is not None:
        return True
    return _INTENT.fullmatch(words) is not None and _AGAINST.search(words) is None


def _called(value: dict[str, Any], shape: MoveShape[Any]) -> tuple[str | None, dict[str, Any]]:
    """The action that an object names, and its fields: beside it, or apart with nothing beside them
    that is one."""
    actions = {name: shape.name_of(one) for name, one in value.items() if is_named(name)}
    named = [(name, action) for name, action in actions.items() if action is not None]
    if len(named) != 1:
        return None, {}
    (own, action) = named[0]
    rest = {name: one for name, one in value.items() if name != own}
    apart = [name for name in rest if name.strip().lower() in GIVEN]
    if len(apart) != 1:
        return action, rest
    inner = rest.pop(apart[0])
    if isinstance(inner, str):
        try:
            inner = _decoder.decode(inner)
        except (ValueError, RecursionError):
            inner = None
    if not isinstance(inner, dict):
        return None, {}
    beside = {
        name: one
        for name, one in rest.items()
        if not (is_named(name) or last_word(name) in _BESIDE or is_remark(name, one))
    }
    return action, {**beside, **inner}


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
