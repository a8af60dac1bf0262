"""The words of the dialect: its decisions, the context of a call, and how Stanchion's decisions are
said in them. Each value that is given to the dialect is checked where it comes in, and what is
wrong is said in its own words."""

from __future__ import annotations

import functools
import inspect
import math
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, NoReturn

from stanchion.dialects.errors import DialectError
from stanchion.kernel import decision as kernel
from stanchion.kernel.actions import Action
from stanchion.kernel.regex import regex
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING
from stanchion.kernel.units import MICRO
from stanchion.policy.formats.veronica import MOST, MOST_USD
from stanchion.policy.nearest import hint
from stanchion.runtime.calling.tool import ToolShape, shape_of
from stanchion.runtime.values.binary_text import encodable


class SealedList(list[str]):
    """A list that can be read, compared and copied like any other, and not be changed."""

    def __init__(self, name: str, items: Iterable[str] = ()) -> None:
        super().__init__(items)
        self._name = name

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return type(self), (self._name, list(self))

    def _refuse(self, *_args: Any, **_named: Any) -> NoReturn:
        said = (
            f"`{self._name}` is changed after an integration or a hook was made of it, which "
            f"does not see it"
        )
        raise DialectError(f"{said}: make a new configuration")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


_METHOD: Final = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")


class ArgumentNames(ABCMeta):
    """Makes objects of arguments that have names: an unknown or missing one, or one that comes
    twice, is refused."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        """An object of the class; `DialectError` where its arguments do not fit."""
        known = _parameters(cls)
        if len(args) > known.by_place:
            raise DialectError(
                f"`{cls.__name__}` is given {len(args)} values and has {known.by_place}: give them "
                f"by name"
            )
        for name in named:
            if name not in known.names:
                raise DialectError(
                    f"`{cls.__name__}` has no field `{name}`: {hint(name, known.names)}"
                )
        if named or len(args) < known.needed:
            given = known.names[: len(args)]
            twice = next((name for name in given if name in named), None)
            if twice is not None:
                raise DialectError(
                    f"`{twice}` of `{cls.__name__}` is given twice: leave one of the two out"
                )
            missing = next(
                (one for one in known.names[len(args) : known.needed] if one not in named), None
            )
            if missing is not None:
                raise DialectError(f"`{cls.__name__}` is made without `{missing}`: give it")
        return super().__call__(*args, **named)


class MadeByName(metaclass=ArgumentNames):
    """What is made of arguments that have names."""

    __slots__ = ()


class _Parameters(NamedTuple):
    """The arguments of a class: their names, how many of them can be given by their place, and how
    many have to be given."""

    names: tuple[str, ...]
    by_place: int
    needed: int


@functools.cache
def _parameters(kind: Any) -> _Parameters:
    taken = list(inspect.signature(kind.__init__).parameters.values())[1:]
    by_place = [one for one in taken if one.kind is not one.KEYWORD_ONLY]
    needed = [one for one in by_place if one.default is one.empty]
    return _Parameters(tuple([one.name for one in taken]), len(by_place), len(needed))


def several(name: str, given: Any, wanted: str) -> tuple[Any, ...]:
    """The items of a list, or of anything else that has items and is neither a text nor a
    mapping."""
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise DialectError(f"`{name}` is of the type `{type(given).__name__}`: give {wanted}")
    return tuple(given)


def whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """A whole number between two."""
    if type(value) is not int or value < least:
        raise DialectError(f"`{name}` is `{value!r}`: give a whole number, {least} or more")
    if value > most:
        raise DialectError(
            f"`{name}` is more than can be counted: give a whole number, {most:,} or less"
        )
    return value


def amount(name: str, value: Any, most: float = math.inf) -> float:
    """A finite number that is not negative, and not larger than another."""
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise DialectError(f"`{name}` is `{value!r}`: give a finite number that is not negative")
    if value > most:
        raise DialectError(f"`{name}` is `{value!r}`: give a number, {most:,} or less")
    return float(value)


def text(name: str, value: Any, least: int = 0) -> str:
    """A text of so many characters or more, which can be written down."""
    if not isinstance(value, str) or len(value) < least:
        raise DialectError(
            f"`{name}` is `{value!r}`: give a text{' that is not empty' if least else ''}"
        )
    if not encodable(value):
        raise DialectError(
            f"`{name}` is `{value!r}`, which has half a character: give a text that UTF-8 can hold"
        )
    return value


def function(
    value: Any, called: str | None = None, instead: str | None = None
) -> Callable[..., Any]:
    """Something that can be called. With `instead`, which says what to do with a function that has
    to be awaited, it is none of these; `called` is its name where it has one beside its own."""
    if not callable(value):
        raise DialectError(f"`fn` is `{value!r}`, which cannot be called: give the function itself")
    inner: Any = value
    while isinstance(inner, functools.partial):
        inner = inner.func
    if instead is not None and shape_of(inner) in (ToolShape.ASYNC, ToolShape.ASYNC_GENERATOR):
        name = called if called else getattr(inner, "__name__", type(inner).__name__)
        raise DialectError(f"`{name}` is async: {instead}")
    return value  # type: ignore[no-any-return] # callable, as was just seen


def dollars(name: str, value: Any, counted: bool = True) -> float:
    """An amount of dollars that can be counted exactly; `name` stands in backticks where it is a
    word of the code. Where nobody has `counted` it, one that is too large for that is as good as
    any."""
    if not counted and type(value) in (int, float) and MOST_USD <= value < math.inf:
        return float(MOST_USD - 1)
    if type(value) not in (int, float) or not 0 <= value < MOST_USD:
        raise DialectError(
            f"{name} is `{value!r}`: give a finite amount that is not negative and below "
            f"{MOST_USD:,}"
        )
    return float(value)


def limit(name: str, value: Any) -> float:
    """An amount of dollars that bounds others: nothing, or a millionth and more."""
    if 0 < (most := dollars(f"`{name}`", value)) < 1 / MICRO:
        raise DialectError(
            f"`{name}` is `{value!r}`, less than a millionth: give more, or 0 for nothing"
        )
    return most


def seconds(name: str, value: Any) -> float:
    """A time that is longer than nothing."""
    if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
        raise DialectError(f"`{name}` is `{value!r}`: give a finite number of seconds above 0")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Yes or no, and nothing that only counts as one of them."""
    if type(value) is not bool:
        raise DialectError(f"`{name}` is `{value!r}`: give `True` or `False`")
    return value


def web_address(value: Any) -> str:
    """The URL of a request, as a text."""
    if not isinstance(value, str):
        raise DialectError(f"`url` is `{value!r}`: give a text, as `https://api.example.com/`")
    return value


def http_method(value: Any) -> str:
    """The name of an HTTP method."""
    if not isinstance(value, str) or _METHOD.fullmatch(value) is None:
        raise DialectError(f"`method` is `{value!r}`: give the name of an HTTP method, as `GET`")
    return value


class Decision(StrEnum):
    """What a hook or the pipeline answers. HALT refuses one dispatch or one retry; the work itself
    goes on."""

    ALLOW = "ALLOW"
    RETRY = "RETRY"
    HALT = "HALT"
    DEGRADE = "DEGRADE"
    QUARANTINE = "QUARANTINE"
    QUEUE = "QUEUE"


class ShieldState(StrEnum):
    """The states of a shield, and of each tool."""

    NORMAL = "NORMAL"
    WARNING = "WARNING"
    QUARANTINE = "QUARANTINE"
    SAFE_MODE = "SAFE_MODE"
    HALT = "HALT"


TEXTS: Final = ("request_id", "user_id", "session_id", "tool_name", "model", "endpoint")


@dataclass(frozen=True, slots=True)
class ToolCallContext(MadeByName):
    """One call as hooks see it. `tool_name` is None where a model is asked and no tool is
    called."""

    request_id: str
    user_id: str | None = None
    session_id: str | None = None
    tool_name: str | None = None
    model: str | None = None
    endpoint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what could not be judged, where it is made."""
        for name in TEXTS:
            if not isinstance(given := getattr(self, name), str) and (
                given is not None or name == "request_id"
            ):
                raise DialectError(f"`{name}` of the context is `{given!r}`: give a text")
        for name in ("tokens_in", "tokens_out"):
            if (given := getattr(self, name)) is not None and (type(given) is not int or given < 0):
                raise DialectError(
                    f"`{name}` of the context is `{given!r}`: give a whole number that is not "
                    f"negative"
                )
        cost = self.cost_usd
        # How much can be counted is for those to say who count it: without a shield nobody does.
        if cost is not None and (type(cost) not in (int, float) or not 0 <= cost < math.inf):
            raise DialectError(
                f"`cost_usd` of the context is `{cost!r}`: give a finite amount that is not "
                f"negative"
            )
        if not isinstance(self.metadata, dict):
            raise DialectError(
                f"`metadata` of the context is of the type `{type(self.metadata).__name__}`: give "
                f"a dict"
            )


SAID: Final = "veronica.decided"
"""The code of what a hook of the user's own decides; its arguments are the hook's name and the
decision."""

ACTIONS: Final = {
    Decision.RETRY: Action.RETRY,
    Decision.HALT: Action.BLOCK,
    Decision.DEGRADE: Action.DEGRADE,
    Decision.QUARANTINE: Action.QUARANTINE,
    Decision.QUEUE: Action.QUEUE,
}
"""What each decision of a hook is to Stanchion; ALLOW is no finding at all."""

WORDS: Final = {
    Action.ALLOW: Decision.ALLOW,
    Action.WARN: Decision.ALLOW,
    Action.REDACT: Decision.ALLOW,
    Action.DEGRADE: Decision.DEGRADE,
    Action.RETRY: Decision.RETRY,
    Action.QUEUE: Decision.QUEUE,
    Action.ESCALATE: Decision.HALT,
    Action.BLOCK: Decision.HALT,
    Action.QUARANTINE: Decision.QUARANTINE,
    Action.HALT: Decision.HALT,
}

CODES: Final = {"kernel.quarantined": Decision.QUARANTINE, "kernel.no_lesser": Decision.DEGRADE}
"""Refusals that have a word of their own, whatever their action is."""

STATES: Final = {
    NORMAL: ShieldState.NORMAL,
    WARNING: ShieldState.WARNING,
    QUARANTINE: ShieldState.QUARANTINE,
    SAFE: ShieldState.SAFE_MODE,
    HALTED: ShieldState.HALT,
}


def spoken(decision: kernel.Decision) -> Decision:
    """A decision of Stanchion in the dialect's words. What a hook has said is said again in the
    same word, also where Stanchion refuses because nobody here could carry it out: DEGRADE where
    nothing says what less is. A call of a tool in quarantine is QUARANTINE."""
    found = decision.determining
    if found is None:
        return WORDS[decision.action]
    if found.code == SAID:
        return Decision(str(found.args[1]))
    return CODES.get(found.code, WORDS[decision.action])
