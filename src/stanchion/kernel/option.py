"""Options of guards: what one means, which way it becomes stricter, and the types that many
share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.tuples import NamedTuple

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

PlainActionName = Literal[
    "allow", "warn", "retry", "queue", "escalate", "block", "quarantine", "halt"
]
"""An action of a guard that has nothing to patch; `allow` only records."""

GLOB: Final = msgspec.Meta(extra={"glob": True})
Glob = Annotated[str, GLOB]
"""A name that is exact unless it is written with `*` or `?`; the lint finds regular expressions
among them."""

ACTIONS: Final[dict[str, Action]] = {action.name.lower(): action for action in Action}


def list_action(guard: Any) -> tuple[Action, ...]:
    """What a guard can answer whose option `action` is its only answer: for its `actions`."""
    return (ACTIONS[guard.action],)


class Stricter(StrEnum):
    """Which changes of a value are known to let nothing more through; any other change counts as
    loosening. An option is declared by calling one with what the option means."""

    LOWER = "a smaller number; null is no limit"
    HIGHER = "a larger number; null is less than any"
    SOONER = "a smaller number; 0 is never"
    MORE = "a list with more in it"
    WIDER = "a list with more in it; null is everything"
    FEWER = "a list with less in it; null is everything"
    SHORTER = "a list with less in it; null is no list"
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

    def __call__(self, meaning: str) -> Option:
        """An option that becomes stricter this way, and its meaning: a sentence for people."""
        return Option(meaning, self)


Strictness: TypeAlias = Stricter | tuple[Any, ...]
"""A direction, or the choices there are, the mildest first."""


class Option(NamedTuple):
    """What an option of a guard means, a sentence for people, and which way it becomes stricter."""

    meaning: str
    stricter: Strictness
