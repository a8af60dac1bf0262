"""The moves that a player can make."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

import msgspec


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
