"""The Tutor: a game in which a player claims and proposes, and a law decides what is proven. Pure:
what runs commands, reads files or knows the time is handed in; `stanchion.tutor.playing` does so.

`Tutor` is the law of the published results, and `TutorV1` its other name. `TutorV2` is the law to
trust.
"""

from __future__ import annotations

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.envelope.schema.reading import read_move
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import (
    SCORE_GOOD_REFORMULATION,
    SCORE_ILLEGAL_MOVE,
    SCORE_POLICY_VIOLATION,
    SCORE_QUESTION_RESOLVED,
    SCORE_TRUTH_DIRECT,
    SCORE_TRUTH_RULE,
    TUTOR_API_VERSION,
    CheckResult,
    GameState,
    MoveResult,
    MoveVerdict,
)
from stanchion.tutor.moves.legacy import parse_move

Tutor = TutorV1

__all__ = [
    "SCORE_GOOD_REFORMULATION",
    "SCORE_ILLEGAL_MOVE",
    "SCORE_POLICY_VIOLATION",
    "SCORE_QUESTION_RESOLVED",
    "SCORE_TRUTH_DIRECT",
    "SCORE_TRUTH_RULE",
    "TUTOR_API_VERSION",
    "CheckResult",
    "CheckVerdict",
    "GameState",
    "MoveResult",
    "MoveVerdict",
    "Tutor",
    "TutorV1",
    "TutorV2",
    "parse_move",
    "read_move",
]
