"""The moves of the first law, and how it reads a player's words, faults included: results that were
published depend on them.

A reply may become several moves, the same one twice, or another one than was meant.
`stanchion.tutor.moves.typed` reads exactly one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.regex import regex


class MoveType(Enum):
    """What a move is."""

    ASSERT = "ASSERT"
    ASK = "ASK"
    PROPOSE = "PROPOSE"
    CHALLENGE = "CHALLENGE"
    REFORMULATE = "REFORMULATE"
    LINK = "LINK"
    RESPOND = "RESPOND"


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """What all moves have: the words of the player that it was read from. Fields hold what a player
    wrote, and only the second law sees to it that they have the right type."""

    move_type: ClassVar[MoveType] = MoveType.RESPOND
    raw_text: str = ""


class AssertMove(Move, frozen=True, kw_only=True):
    """Claim something."""

    move_type = MoveType.ASSERT
    text: Any = ""
    kind: Any = "property"
    domain: Any = "bash"
    scope: Any = ""


class AskMove(Move, frozen=True, kw_only=True):
    """Ask something."""

    move_type = MoveType.ASK
    text: Any = ""
    targets: Any = ()


class ProposeMove(Move, frozen=True, kw_only=True):
    """Propose a command."""

    move_type = MoveType.PROPOSE
    intent: Any = ""
    command: Any = ""
    mode: Any = "read"
    verify: Any = ()


class ChallengeMove(Move, frozen=True, kw_only=True):
    """Assume something, and say how it could be proven wrong."""

    move_type = MoveType.CHALLENGE
    text: Any = ""
    falsify: Any = ""


class ReformulateMove(Move, frozen=True, kw_only=True):
    """Say a claim in other words."""

    move_type = MoveType.REFORMULATE
    original_id: Any = ""
    new_text: Any = ""


class RespondMove(Move, frozen=True, kw_only=True):
    """Answer, which is no move in the game."""

    move_type = MoveType.RESPOND
    message: Any = ""


AnyMove = AssertMove | AskMove | ProposeMove | ChallengeMove | ReformulateMove | RespondMove


INTENT: Final = "Execute command"
SHORTEST: Final = 3
"""How many characters a command has at least, where it is found in a text."""

_OBJECT: Final = regex(r"\{[^{}]+\}")
_TO_TAG: Final = r"[:\s]+(.+?)(?=\n(?:ASSERT|ASK|PROPOSE|CHALLENGE|REFORMULATE)|$)"
_TO_END: Final = r"[:\s]+(.+?)(?=\n|$)"
_FLAGS: Final = re.IGNORECASE | re.DOTALL

_SAYINGS: Final = {
    MoveType.ASSERT: ("ASSERT" + _TO_TAG, "I claim" + _TO_END, "I assert" + _TO_END),
    MoveType.ASK: ("ASK" + _TO_TAG, "I ask" + _TO_END, "Question" + _TO_END),
    MoveType.PROPOSE: (
        "PROPOSE" + _TO_TAG,
        "I propose" + _TO_END,
        "Let me run" + _TO_END,
        r"Run[:\s]+`([^`]+)`",
    ),
    MoveType.CHALLENGE: ("CHALLENGE" + _TO_TAG, "I assume" + _TO_END, "Assumption" + _TO_END),
    MoveType.REFORMULATE: ("REFORMULATE" + _TO_END, "Let me rephrase" + _TO_END),
}
"""How moves are said in words. They are looked for in this order, whatever their order in the
text."""
_SAID: Final = {kind: [regex(one, _FLAGS) for one in sayings] for kind, sayings in _SAYINGS.items()}
_WORDED: Final[Mapping[MoveType, tuple[type[AnyMove], str]]] = {
    MoveType.ASSERT: (AssertMove, "text"),
    MoveType.ASK: (AskMove, "text"),
    MoveType.CHALLENGE: (ChallengeMove, "text"),
    MoveType.REFORMULATE: (ReformulateMove, "new_text"),
}
"""The move that is said in words, and its field that the words are."""

_COMMANDS: Final = tuple(
    regex(one, _FLAGS)
    for one in (r"`([^`]+)`", r"```(?:bash|sh)?\n([^`]+)```", f"command{_TO_END}", f"run{_TO_END}")
)


def parse_move(text: str) -> list[AnyMove]:
    """The moves in a reply, one at least.

    Cases, in this order: objects of JSON that name an action; words that say a move; commands in
    the text; none of these, so that it is an answer. Raises what the first law raised: an action
    that is no text has no upper case.
    """
    return (
        _in_json(text)
        or _in_words(text)
        or _in_commands(text)
        or [RespondMove(raw_text=text, message=text)]
    )


def _in_json(text: str) -> list[AnyMove]:
    moves: list[AnyMove] = []
    for found in _OBJECT.finditer(text):
        try:
            data = json.loads(found.group())
        except json.JSONDecodeError:
            continue
        made = _MADE.get(data.get("action", "").upper())
        if made is not None:
            move, fields = made
            data = {"intent": INTENT, **data}
            told = {
                field: data[name]
                for field, names in fields.items()
                for name in reversed(names)
                if name in data
            }
            moves.append(move(raw_text=text, **told))
    return moves


def _in_words(text: str) -> list[AnyMove]:
    moves: list[AnyMove] = []
    for kind, patterns in _SAID.items():
        for pattern in patterns:
            moves += [
                _worded(kind, found.group(1).strip(), text) for found in pattern.finditer(text)
            ]
    return moves


def _in_commands(text: str) -> list[AnyMove]:
    return [
        ProposeMove(raw_text=text, intent=INTENT, command=command) for command in commands(text)
    ]


def commands(text: str) -> list[str]:
    """What looks like commands in a text."""
    found = [match.group(1).strip() for pattern in _COMMANDS for match in pattern.finditer(text)]
    return [one for one in found if len(one) >= SHORTEST and not one.startswith("#")]


def _worded(kind: MoveType, said: str, text: str) -> AnyMove:
    if kind in _WORDED:
        move, field = _WORDED[kind]
        return move(raw_text=text, **{field: said})
    found = commands(said)
    return ProposeMove(raw_text=text, intent=said, command=found[0] if found else said)


_PROPOSED: Final = (
    ProposeMove,
    {"intent": ("intent",), "command": ("command",), "mode": ("mode",), "verify": ("verify",)},
)
_MADE: Final[Mapping[str, tuple[type[AnyMove], Mapping[str, tuple[str, ...]]]]] = {
    "ASSERT": (
        AssertMove,
        {
            "text": ("text", "claim"),
            "kind": ("kind",),
            "domain": ("domain",),
            "scope": ("scope",),
        },
    ),
    "ASK": (AskMove, {"text": ("text", "question"), "targets": ("targets",)}),
    "PROPOSE": _PROPOSED,
    "BASH": _PROPOSED,
    "BASH_AND_RESPOND": _PROPOSED,
    "CHALLENGE": (
        ChallengeMove,
        {"text": ("text", "assumption"), "falsify": ("falsify", "falsification")},
    ),
    "REFORMULATE": (
        ReformulateMove,
        {
            "original_id": ("original", "original_id"),
            "new_text": ("new_text", "reformulation"),
        },
    ),
    "RESPOND": (RespondMove, {"message": ("message", "text")}),
}
"""The move that an action is, and the names under which each of its fields is looked for, in their
order."""
