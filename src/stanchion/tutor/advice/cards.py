"""Cards: what a player is told when something goes wrong, a few times a game."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

import msgspec

from stanchion.tutor.advice.failures import FailureType

MOST: Final = 5
"""How many cards a player is given in one game."""


class CardType(Enum):
    """The cards."""

    ESCAPE_LOOP = "ESCAPE_LOOP"
    COMPASS = "COMPASS"
    ERROR_ANALYSIS = "ERROR_ANALYSIS"
    PROGRESS_BOOST = "PROGRESS_BOOST"
    STRATEGIC_RESET = "STRATEGIC_RESET"
    SEGMENT_TASK = "SEGMENT_TASK"
    DEFINE_CRITERIA = "DEFINE_CRITERIA"
    LIST_INSTEAD = "LIST_INSTEAD"
    WIP_OVERFLOW = "WIP_OVERFLOW"


class Card(msgspec.Struct, frozen=True):
    """One card: what to do, why, and what not to do."""

    card_type: CardType
    card_id: str
    title: str
    instruction: str
    rationale: str
    example: str = ""
    anti_pattern: str = ""
    trigger_context: str = ""

    @property
    def text(self) -> str:
        """The card as a player reads it."""
        said = [f"{self.title}. {self.instruction}"]
        said += [f"Example: {self.example}"] if self.example else []
        said += [f"Not: {self.anti_pattern}"] if self.anti_pattern else []
        return "\n".join(said)


FOR: Final[Mapping[str, CardType]] = {
    FailureType.EXPLICIT_ERROR.value: CardType.ERROR_ANALYSIS,
    FailureType.REPETITION.value: CardType.ESCAPE_LOOP,
    FailureType.CIRCULAR.value: CardType.COMPASS,
    FailureType.STALL.value: CardType.PROGRESS_BOOST,
    FailureType.EXHAUSTION.value: CardType.STRATEGIC_RESET,
    "resource_depletion": CardType.SEGMENT_TASK,
    "blind_reading": CardType.DEFINE_CRITERIA,
    "repeated_failure": CardType.LIST_INSTEAD,
    "wip_overflow": CardType.WIP_OVERFLOW,
}
"""Which card is for what."""

_TEXTS: Final[Mapping[CardType, tuple[str, str, str, str, str]]] = {
    CardType.ESCAPE_LOOP: (
        "Leave the loop",
        (
            "You have made the same move several times. Make another one: other words for the same "
            "command do not count."
        ),
        "The same command on the same files gives the same output.",
        "if `grep a f` finds nothing, look at the file: `head -n 20 f`",
        "the same command with another flag",
    ),
    CardType.COMPASS: (
        "Find your way back to the goal",
        "You go round in a circle. Read the goal again, and name the one fact that is missing.",
        "Each step of a circle looks reasonable; together they lead nowhere.",
        "",
        "one more round",
    ),
    CardType.ERROR_ANALYSIS: (
        "Read the error",
        "The last moves failed. Say what the error names, and change that.",
        "An error names its cause more often than not.",
        "`No such file` means: list the folder first",
        "the next guess",
    ),
    CardType.PROGRESS_BOOST: (
        "Do something that brings a new fact",
        (
            "Nothing new was proven lately. Choose a command whose outcome would decide a claim of "
            "the goal."
        ),
        "Only what is proven counts.",
        "",
        "reading what you have read",
    ),
    CardType.STRATEGIC_RESET: (
        "Begin anew",
        "All advice was used. List what is proven, drop what is assumed, and choose another way.",
        "A wrong assumption early on spoils what follows.",
        "",
        "",
    ),
    CardType.SEGMENT_TASK: (
        "Take it apart",
        "You look at many things at once. Take one file, finish it, then the next.",
        "A part can be proven; the whole follows from its parts.",
        "one file a command",
        "`cat *.txt`",
    ),
    CardType.DEFINE_CRITERIA: (
        "Say what you look for",
        (
            "You read without a question. Say which text or number would decide the claim, and "
            "look for that."
        ),
        "Who knows what to look for reads less.",
        "`grep -F 'timeout' config.yaml`",
        "reading the next file in full",
    ),
    CardType.LIST_INSTEAD: (
        "List, do not guess",
        "The names you tried do not exist. List the folder, and take a name from the list.",
        "A list shows all names at once.",
        "`ls`",
        "another name that might exist",
    ),
    CardType.WIP_OVERFLOW: (
        "Finish something first",
        "Too many things are open. Settle one before you begin another.",
        "What is open costs attention in every turn.",
        "",
        "",
    ),
}


def card_for(
    what: str, given: int, off: frozenset[CardType] = frozenset(), context: str = ""
) -> Card | None:
    """The card for something that goes wrong, where so many were given before; `None` where it is
    not given."""
    kind = FOR.get(what)
    if kind is None or kind in off or given >= MOST:
        return None
    title, instruction, rationale, example, anti_pattern = _TEXTS[kind]
    name = f"{kind.value.lower()}_{given + 1}"
    return Card(kind, name, title, instruction, rationale, example, anti_pattern, context)
