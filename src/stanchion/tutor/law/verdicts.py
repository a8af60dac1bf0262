"""What the law says of claims and moves, and what it counts."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.graph import Entity, Observation, Truth

TUTOR_API_VERSION: Final = "1.0.0"
"""The version of the first law: what it decides never changes under the same one."""

SCORE_TRUTH_DIRECT: Final = 3
SCORE_TRUTH_RULE: Final = 2
SCORE_QUESTION_RESOLVED: Final = 2
SCORE_GOOD_REFORMULATION: Final = 1
SCORE_ILLEGAL_MOVE: Final = -3
SCORE_POLICY_VIOLATION: Final = -5


class MoveVerdict(Enum):
    """Whether a move may be made."""

    LEGAL = "legal"
    ILLEGAL = "illegal"
    BLOCKED = "blocked"


class CheckResult(msgspec.Struct, frozen=True):
    """What is known of a claim, by which evidence, and what is missing."""

    verdict: CheckVerdict
    proof: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""


class MoveResult(msgspec.Struct, frozen=True):
    """What came of a move."""

    verdict: MoveVerdict
    reason: str = ""
    observation: Observation | None = None
    truths: tuple[Truth, ...] = ()
    entities: tuple[Entity, ...] = ()


class GameState(msgspec.Struct):
    """Where a game stands."""

    turn: int = 0
    score: int = 0
    validated_truths: int = 0
    open_questions: int = 0
    pending_actions: int = 0
    goal_satisfied: bool = False
