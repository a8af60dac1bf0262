"""Reading a player's words as the first law does, faults included: results that were published
depend on them.

A reply may become several moves, the same one twice, or another one than was meant.
`stanchion.tutor.moves.typed` reads exactly one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.tutor.moves.kinds import (
    AnyMove,
    AskMove,
    AssertMove,
    ChallengeMove,
    MoveType,
    ProposeMove,
    ReformulateMove,
    RespondMove,
)

INTENT: Final = "Execute command"
SHORTEST: Final = 3
"""How many characters a command has at least, where it is found in a text."""

_OBJECT: Final = regex(r"\{[^{}]+\}")
_TO_TAG: Final = r"[:\s]+(.+?)(?=\n(?:ASSERT|ASK|PROPOSE|CHALLENGE|REFORMULATE)|$)"
_TO_END: Final = r"[:\s]+(.+?)(?=\n|$)"
_FLAGS: Final = re.IGNORECASE | re.DOTALL

_SAID: Final[Mapping[MoveType, tuple[re.Pattern[str], ...]]] = {
    MoveType.ASSERT: tuple(
        regex(one, _FLAGS)
        for one in (f"ASSERT{_TO_TAG}", f"I claim{_TO_END}", f"I assert{_TO_END}")
    ),
    MoveType.ASK: tuple(
        regex(one, _FLAGS) for one in (f"ASK{_TO_TAG}", f"I ask{_TO_END}", f"Question{_TO_END}")
    ),
    MoveType.PROPOSE: tuple(
        regex(one, _FLAGS)
        for one in (
            f"PROPOSE{_TO_TAG}",
            f"I propose{_TO_END}",
            f"Let me run{_TO_END}",
            r"Run[:\s]+`([^`]+)`",
        )
    ),
    MoveType.CHALLENGE: tuple(
        regex(one, _FLAGS)
        for one in (f"CHALLENGE{_TO_TAG}", f"I assume{_TO_END}", f"Assumption{_TO_END}")
    ),
    MoveType.REFORMULATE: tuple(
        regex(one, _FLAGS) for one in (f"REFORMULATE{_TO_END}", f"Let me rephrase{_TO_END}")
    ),
}
"""How moves are said in words. They are looked for in this order, whatever their order in the
text."""

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
    moves = []
    for found in _OBJECT.finditer(text):
        try:
            data = json.loads(found.group())
        except json.JSONDecodeError:
            continue
        make = _MADE.get(data.get("action", "").upper())
        if make is not None:
            moves.append(make(data, text))
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
    match kind:
        case MoveType.ASSERT:
            return AssertMove(raw_text=text, text=said)
        case MoveType.ASK:
            return AskMove(raw_text=text, text=said)
        case MoveType.CHALLENGE:
            return ChallengeMove(raw_text=text, text=said)
        case MoveType.REFORMULATE:
            return ReformulateMove(raw_text=text, new_text=said)
        case _:
            found = commands(said)
            return ProposeMove(raw_text=text, intent=said, command=found[0] if found else said)


def _assert(data: dict[str, Any], text: str) -> AnyMove:
    return AssertMove(
        raw_text=text,
        text=data.get("text", data.get("claim", "")),
        kind=data.get("kind", "property"),
        domain=data.get("domain", "bash"),
        scope=data.get("scope", ""),
    )


def _ask(data: dict[str, Any], text: str) -> AnyMove:
    return AskMove(
        raw_text=text,
        text=data.get("text", data.get("question", "")),
        targets=data.get("targets", ()),
    )


def _propose(data: dict[str, Any], text: str) -> AnyMove:
    return ProposeMove(
        raw_text=text,
        intent=data.get("intent", INTENT),
        command=data.get("command", ""),
        mode=data.get("mode", "read"),
        verify=data.get("verify", ()),
    )


def _challenge(data: dict[str, Any], text: str) -> AnyMove:
    return ChallengeMove(
        raw_text=text,
        text=data.get("text", data.get("assumption", "")),
        falsify=data.get("falsify", data.get("falsification", "")),
    )


def _reformulate(data: dict[str, Any], text: str) -> AnyMove:
    return ReformulateMove(
        raw_text=text,
        original_id=data.get("original", data.get("original_id", "")),
        new_text=data.get("new_text", data.get("reformulation", "")),
    )


def _respond(data: dict[str, Any], text: str) -> AnyMove:
    return RespondMove(raw_text=text, message=data.get("message", data.get("text", "")))


_MADE: Final[Mapping[str, Callable[[dict[str, Any], str], AnyMove]]] = {
    "ASSERT": _assert,
    "ASK": _ask,
    "PROPOSE": _propose,
    "BASH": _propose,
    "BASH_AND_RESPOND": _propose,
    "CHALLENGE": _challenge,
    "REFORMULATE": _reformulate,
    "RESPOND": _respond,
}
