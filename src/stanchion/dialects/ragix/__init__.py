"""The words of RAGIX's Safety Envelope: the Tutor and what stands round it, as its document names
them.

Everything here is Stanchion's own Tutor. What the document leaves open is as it was published; what
is wrong in that is mended round the law, or in `TutorV2`, for under the first law published results
have to stay what they are.
"""

from __future__ import annotations

from stanchion.dialects.errors import DialectError
from stanchion.dialects.ragix.tutor import (
    ContradictionDetector,
    FailureDetector,
    MetaCardSelector,
    SemanticIntentTracker,
    StrategicAdvisor,
    Tutor,
    TutorEnvelope,
)
from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.advice.failures import FailureType
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
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
from stanchion.tutor.moves.legacy import Move, parse_move
from stanchion.tutor.playing.runners import ShellExecutor

TutorV1 = Tutor

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
    "ContradictionDetector",
    "DialectError",
    "EnvelopeConfig",
    "EnvelopeError",
    "FailureDetector",
    "FailureType",
    "GameState",
    "MetaCardSelector",
    "Move",
    "MoveResult",
    "MoveVerdict",
    "SemanticIntentTracker",
    "ShellExecutor",
    "StrategicAdvisor",
    "Tutor",
    "TutorEnvelope",
    "TutorV1",
    "TutorV2",
    "parse_move",
]
