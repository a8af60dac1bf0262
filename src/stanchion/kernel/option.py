"""Options: which way one becomes stricter, as its type says it, and the types that many share. What
one means stands under its field."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from itertools import chain
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec

from stanchion.kernel.actions import Action

GLOB: Final = msgspec.Meta(extra={"glob": True})
Glob = Annotated[str, GLOB]
"""A name that is exact unless it is written with `*` or `?`; the lint finds regular expressions
among them."""

ACTIONS: Final[dict[str, Action]] = {action.name.lower(): action for action in Action}


class Stricter(StrEnum):
    """Which changes of a value are known to let nothing more through; any other change counts as
    loosening."""

    LOWER = "a smaller number; null is no limit"
    HIGHER = "a larger number; null is less than any"
    SOONER = "a smaller number; 0 is never"
    MORE = "a list with more in it"
    WIDER = "a list with more in it; null is everything"
    FEWER = "a list with less in it; null is everything"
    SHORTER = "a list with less in it; null is no list"
    NARROWER = "a list with less in it, and no values that it did not name; null is everything"
    ON = "true"
    OFF = "false"
    ACTION = "a severer action; null is none"
    LAST_ACTION = "a severer action, where nothing else was found; null is none"
    GIVEN_ACTION = "a severer action; null is unknown"
    BY_STAGE = "a severer action at every stage"
    ONCE_SET = "something where there was nothing"
    ASKING = "asking about more, of the same people"
    WORDS = "any: it is for people"
    SAME = "none"


AtLeastZero = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
UpToThousand = Annotated[int, msgspec.Meta(ge=0, le=1_000)]
DeadlineMs = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""Numbers that many options are, by where they begin and end."""

T = TypeVar("T")

Lower = Annotated[T, Stricter.LOWER]
Higher = Annotated[T, Stricter.HIGHER]
Sooner = Annotated[T, Stricter.SOONER]
More = Annotated[T, Stricter.MORE]
Wider = Annotated[T, Stricter.WIDER]
Fewer = Annotated[T, Stricter.FEWER]
Shorter = Annotated[T, Stricter.SHORTER]
Narrower = Annotated[T, Stricter.NARROWER]
On = Annotated[T, Stricter.ON]
Off = Annotated[T, Stricter.OFF]
Severer = Annotated[T, Stricter.ACTION]
LastSeverer = Annotated[T, Stricter.LAST_ACTION]
GivenSeverer = Annotated[T, Stricter.GIVEN_ACTION]
SevererByStage = Annotated[T, Stricter.BY_STAGE]
OnceSet = Annotated[T, Stricter.ONCE_SET]
AskingMore = Annotated[T, Stricter.ASKING]
ForPeople = Annotated[T, Stricter.WORDS]

ActionName = Literal[
    "allow",
    "warn",
    "redact",
    "degrade",
    "retry",
    "queue",
    "escalate",
    "block",
    "quarantine",
    "halt",
]
"""An action as policy files write it."""

PlainActionName = Severer[
    Literal["allow", "warn", "retry", "queue", "escalate", "block", "quarantine", "halt"]
]
"""An action of a guard that has nothing to patch; `allow` only records."""

Strictness: TypeAlias = Stricter | tuple[Any, ...]
"""A direction, or the choices there are, the mildest first."""


def list_actions(guard: Any) -> tuple[Action, ...]:
    """What a guard can answer that answers what its options say, at every stage: for its
    `actions`."""
    kind: Any = type(guard)
    names = [getattr(guard, option) for option in _answering(kind)]
    return tuple(dict.fromkeys([ACTIONS[name] for name in names if name is not None]))


@cache
def _answering(guard: Any) -> tuple[str, ...]:
    return tuple([name for name, way in directions(guard).items() if way is Stricter.ACTION])


def list_actions_by_stage(guard: Any) -> tuple[Action, ...]:
    """What a guard can answer that says it for each stage: for its `actions`."""
    said = [guard.actions_at(stage) for stage in sorted(guard.stages)]
    return tuple(dict.fromkeys(chain.from_iterable(said)))


def directions(struct: type[Any]) -> dict[str, Strictness]:
    """Which way each field of a struct becomes stricter, as its type says it: `Lower[int]`, or with
    the choices from the mildest on, `Annotated[str, ("allow", "refuse")]`. What is said last
    counts, and where nothing is said, every change may loosen."""
    return {
        field.name: next(_said_by(field.type), Stricter.SAME)
        for field in msgspec.structs.fields(struct)
    }


def _said_by(kind: Any) -> Iterator[Strictness]:
    for said in reversed(getattr(kind, "__metadata__", ())):
        if isinstance(said, Stricter | tuple):
            yield said
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        for part in get_args(kind):
            yield from _said_by(part)
