"""The one vocabulary of actions, ordered by severity."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Literal


class NamedNumber(IntEnum):
    """Numbers that have an order, and are printed as their names."""

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


class Action(NamedNumber):
    """What is to be done with an event; a larger number is more severe."""

    ALLOW = 0
    WARN = 1
    REDACT = 2
    DEGRADE = 3
    RETRY = 4
    QUEUE = 5
    ESCALATE = 6
    BLOCK = 7
    QUARANTINE = 8
    HALT = 9


PROCEEDS: Final = Action.DEGRADE
"""The most severe action under which the event still goes ahead."""

UNCHANGED: Final = Action.REDACT
"""The most severe action under which a first attempt is written down: a lesser request is judged
once more, and only the attempt that starts takes anything."""

STOPS: Final = Action.BLOCK
"""The mildest action that skips the rest of a chain."""

NAMES: Final = tuple(action.name for action in Action)
"""Names by number: a tuple index, because an enum's `name` is slow."""


def severer(old: Action, new: Action) -> bool:
    """Whether an action lets nothing through that another would not.

    What only records can become anything. A warning counts towards the one that escalates, and what
    is redacted goes ahead without the part that was found: both can only become what refuses, or,
    for a warning, what asks a person.
    """
    if old == new or old == Action.ALLOW:
        return True
    if new >= STOPS:
        return new > old
    return old == Action.WARN and new == Action.ESCALATE


class Risk(NamedNumber):
    """How much harm a tool can do, declared in the policy's tool table."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


RiskName = Literal["low", "medium", "high", "critical"]
"""A risk as policies and hosts write it."""

RISK_NAMES: Final[tuple[RiskName, ...]] = ("low", "medium", "high", "critical")
"""From the least to the worst."""


class Category(NamedNumber):
    """The order that breaks ties between guards of one priority."""

    SAFETY = 0
    COMPLIANCE = 1
    BUDGET = 2
    SCOPE = 3
    QUALITY = 4
