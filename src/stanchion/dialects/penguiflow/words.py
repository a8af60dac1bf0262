"""The words of PenguiFlow's guardrails: actions, what each of them needs to be carried out, and a
rule's decision. Values are held to the types of their fields when they are made, and a mistake is
named by its field."""

from __future__ import annotations

import re
from enum import Enum, StrEnum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.kernel.findings import ALERT, ASK, FINAL, FLAG, GUIDE, ROLLBACK, STRIKE, TELL
from stanchion.policy.nearest import hint, nearest
from stanchion.typed import convert

SHOWN: Final = 60
"""How many characters of a wrong value are shown."""
LISTS: Final = {tuple, frozenset}
WORDS: Final = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    dict: "a dict",
}
"""How a type is called to somebody who gave another one."""


def typed(made: msgspec.Struct, *names: str) -> None:
    """Hold a value to the types of its fields, or of those named. A list is taken for a tuple, a
    word for the member that it names; everything else raises `DialectError` with the names of the
    value and its field."""
    kinds = (type(made), *[_kind(one) for one in msgspec.structs.astuple(made)])
    if kinds in _fit:
        return
    fit = True
    for name, (plain, whole) in _fields(type(made)).items():
        given = getattr(made, name)
        if _kind(given) not in plain and (not names or name in names):
            fit = False
            taken = _taken(f"{type(made).__name__}.{name}", whole, given)
            msgspec.structs.force_setattr(made, name, taken)
    if fit:
        _fit.add(kinds)


class Nothing:
    """The kind of an empty tuple, which fits wherever a tuple does."""


def _kind(given: Any) -> type:
    return Nothing if given is EMPTY else type(given)


EMPTY: Final[tuple[()]] = ()
_fit: set[tuple[type, ...]] = set()
"""Types of values, each with those of its fields, that fit as they are."""


def one_text(name: str, given: Any) -> None:
    """Raise where something that is meant to be a text is none, or an empty one."""
    if not isinstance(given, str) or not given:
        raise DialectError(f"{name} is {shown(given)}: give a text")


def shown(given: Any) -> str:
    """A wrong value as it stands in a message: a text, a number or nothing itself, anything else by
    its type."""
    if isinstance(given, str | int | float | NoneType):
        said = str(given)
        return f"`{said if len(said) <= SHOWN else said[:SHOWN] + '…'}`"
    return f"`{type(given).__name__}`"


def _taken(name: str, whole: Any, given: Any) -> Any:
    try:
        return convert(given, whole, _as_it_is)
    except (msgspec.ValidationError, NotImplementedError, TypeError):
        pass
    kinds = _kinds(whole)
    words = [word for one in kinds for word in _words(one)]
    if words:
        raise DialectError(f"{name} is {shown(given)}: {hint(str(given), words)}")
    if isinstance(given, str) and not LISTS.isdisjoint(map(get_origin, kinds)):
        raise DialectError(f'{name} is a text: write `("{given}",)`')
    called = " or ".join([_called(one) for one in kinds if one is not NoneType])
    raise DialectError(f"{name} is {shown(given)}: give {called}")


@lru_cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, tuple[frozenset[type], Any]]:
    """The fields of a struct, each with the types that fit as they are, and its whole type.
    Mappings of anything by texts are looked at no further."""
    hints, made = get_type_hints(kind), {}
    for name in kind.__struct_fields__:
        kinds = _kinds(hints[name])
        plain = {one for one in kinds if isinstance(one, type) and get_origin(one) is None}
        plain |= {int} if float in plain else set()
        plain |= {Nothing} if any(get_origin(one) is tuple for one in kinds) else set()
        plain |= {dict} if dict[str, Any] in kinds else set()
        made[name] = frozenset(plain), hints[name]
    return made


def _kinds(whole: Any) -> tuple[Any, ...]:
    return get_args(whole) if get_origin(whole) is UnionType else (whole,)


def _called(kind: Any) -> str:
    if kind in WORDS:
        return WORDS[kind]
    origin = getattr(kind, "__origin__", kind)
    if origin in LISTS:
        inner = get_args(kind)[0]
        return f"a {'tuple' if origin is tuple else 'set'} of {_several(inner)}"
    if origin is dict:
        return "a dict"
    if kind is re.Pattern or origin is re.Pattern:
        return "a compiled pattern"
    return f"a {kind.__name__}" if isinstance(kind, type) else "another value"


def _words(kind: Any) -> list[Any]:
    """The words that a field takes, where it takes no others."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [one.value for one in kind]
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _several(kind: Any) -> str:
    return "texts" if kind is str else f"{kind.__name__}s" if isinstance(kind, type) else "values"


def _as_it_is(kind: Any, given: Any) -> Any:
    """Values of other libraries' types are taken as they are, where they are of that type."""
    if isinstance(given, getattr(kind, "__origin__", kind)):
        return given
    raise NotImplementedError


RESERVED: Final = frozenset({ASK, FINAL, GUIDE, ROLLBACK, TELL})
"""Effects that mean something to Stanchion and nothing to PenguiFlow: a rule cannot have them."""
EFFECTS: Final = (FLAG, STRIKE, ALERT)
"""Effects that are carried out. A rule may have others, which are joined and recorded, unless they
look like one of these."""
MOST_ATTEMPTS: Final = 100

AGAIN: Final = "The last step was not accepted. Try it again in another way."
"""What the model is told where a RETRY says nothing."""
ASKED: Final = "This step needs your approval. May it go ahead?"
"""What a person is asked where a PAUSE says nothing."""
REFUSED: Final = "This request cannot be completed."
"""What the user is told where a STOP says nothing. The reason of a rule is for operators, and never
said instead."""


class GuardrailAction(StrEnum):
    """What a rule wants done."""

    ALLOW = "ALLOW"
    REDACT = "REDACT"
    RETRY = "RETRY"
    PAUSE = "PAUSE"
    STOP = "STOP"


class GuardrailSeverity(StrEnum):
    """How bad it is that a rule found something."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class RuleCost(StrEnum):
    """How much a rule costs: FAST ones are judged inline, DEEP ones from a queue."""

    FAST = "fast"
    DEEP = "deep"


class RedactionSpec(msgspec.Struct, frozen=True):
    """What is taken out: the characters `start_offset` to `end_offset` of the text at `path`, or
    the whole value there.

    `text` is the event's text. Other paths lead into arguments and results: `rows.0.name`, or
    `/rows/0/name`. A replacement is a text; of a whole value it may be data, as where something is
    taken out of the names of an object.
    """

    path: str = "text"
    replacement: Any = "[REDACTED]"
    entity_type: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None

    def __post_init__(self) -> None:
        typed(self)
        if not self.path:
            raise DialectError(
                f"RedactionSpec.path is `{self.path}`: write `text`, or the path of a value"
            )
        if (self.start_offset is None) != (self.end_offset is None):
            raise DialectError(
                "RedactionSpec has one offset: give `start_offset` and `end_offset`, or neither"
            )
        if (
            self.start_offset is not None
            and self.end_offset is not None
            and not 0 <= self.start_offset < self.end_offset
        ):
            said = f"{self.start_offset} to {self.end_offset}"
            raise DialectError(
                f"RedactionSpec has the offsets {said}: give a start that lies before the end"
            )
        self._checked_replacement()

    def _checked_replacement(self) -> None:
        given = self.replacement
        if isinstance(given, str):
            return
        data = isinstance(given, dict | list) or (
            isinstance(given, int | float | None) and self.path != "text"
        )
        if self.start_offset is not None or not data:
            raise DialectError(f"RedactionSpec.replacement is {shown(given)}: give a text")


class RetrySpec(msgspec.Struct, frozen=True):
    """How often a step is tried again, and what the model is told then."""

    max_attempts: int = 2
    corrective_message: str = ""

    def __post_init__(self) -> None:
        typed(self)
        if not 0 <= self.max_attempts <= MOST_ATTEMPTS:
            limit = f"a whole number from 0 to {MOST_ATTEMPTS}"
            raise DialectError(f"RetrySpec.max_attempts is `{self.max_attempts}`: give {limit}")


class PauseSpec(msgspec.Struct, frozen=True):
    """Who is asked, in which words, for how long, and what waits meanwhile."""

    scope: Literal["run", "step", "tool_call"] = "tool_call"
    approver_roles: tuple[str, ...] = ()
    prompt: str = ""
    timeout_s: float = 300.0

    def __post_init__(self) -> None:
        typed(self)
        if not 0 < self.timeout_s <= 31_536_000:
            raise DialectError(
                f"PauseSpec.timeout_s is `{self.timeout_s}`: give seconds, more than 0, a year at "
                f"most"
            )


class StopSpec(msgspec.Struct, frozen=True):
    """What a run that ends says: a code for programs, the final answer for the user, the reason for
    operators."""

    error_code: str = "GUARDRAIL_STOP"
    user_message: str = REFUSED
    internal_reason: str = ""

    def __post_init__(self) -> None:
        typed(self)


class GuardrailDecision(msgspec.Struct, frozen=True):
    """What a rule says of an event, and what the gateway says of all rules together.

    A rule gives its action, its reason, and the specification of the action. The gateway fills in
    the rest: `decision_id` is the id under which the decision is recorded.
    """

    action: GuardrailAction
    rule_id: str = ""
    reason: str = ""
    decision_id: str = ""
    correlation_id: str | None = None
    severity: GuardrailSeverity = GuardrailSeverity.MEDIUM
    confidence: float | None = None
    was_sync: bool = True
    effects: tuple[str, ...] = ()
    redactions: tuple[RedactionSpec, ...] | None = None
    retry: RetrySpec | None = None
    pause: PauseSpec | None = None
    stop: StopSpec | None = None
    classifier_result: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        typed(self)
        if self.effects:
            self._checked_effects()
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise DialectError(
                f"GuardrailDecision.confidence is `{self.confidence}`: give a number from 0 to 1"
            )
        if self.action is GuardrailAction.REDACT and not self.redactions:
            raise DialectError(
                "a GuardrailDecision that says REDACT has no `redactions`: say what is taken out"
            )

    def _checked_effects(self) -> None:
        wrong = sorted(RESERVED.intersection(self.effects))
        if wrong:
            raise DialectError(f"the effect `{wrong[0]}` is Stanchion's own: give it another name")
        for effect in self.effects:
            if effect not in EFFECTS and nearest(effect, EFFECTS) is not None:
                raise DialectError(f"there is no effect `{effect}`: {hint(effect, EFFECTS)}")
