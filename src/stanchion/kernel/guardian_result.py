"""Guardian results: a decision in the fields of GuardianLayer's check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.kernel.actions import PROCEEDS
from stanchion.kernel.findings import Finding
from stanchion.kernel.tuples import NamedTuple

PROBE: Final = "breaker.probe"
HEALTH: Final = frozenset({"health.known", "health.low", "health.unsteady"})
"""Codes whose second argument is the health of the tool."""


class GuardianResult(NamedTuple):
    """Whether a call goes ahead, why not, what to do instead, what else to know, how healthy its
    tool is (0 to 100, or `None` where nothing is known), and whether it tests a tool that was
    down."""

    allowed: bool
    reason: str
    suggestion: str
    advice: str
    health_score: int | None
    is_probe: bool


def guardian_result(
    allowed: bool, reason: str, suggestion: str, findings: Iterable[Finding], advice: str
) -> GuardianResult:
    """The result of a decision; what goes ahead has no reason and no suggestion. Advice is what was
    given, and else what its warnings and remarks say."""
    found = list(findings)
    said = [_words(one) for one in found if one.action <= PROCEEDS] if not advice else []
    score = next((one.args[1] for one in found if one.code in HEALTH and len(one.args) > 1), None)
    return GuardianResult(
        allowed,
        reason,
        suggestion,
        advice if advice else "; ".join([words for words in said if words]),
        score if isinstance(score, int) else None,
        allowed and PROBE in [one.code for one in found],
    )


def _words(one: Finding) -> str:
    """What a finding advises, after what it says; what advises nothing is no advice. Where the
    engine met trouble and the call goes ahead all the same, what it advises is for one that does
    not."""
    if one.code.startswith("kernel."):
        return one.message
    advice = one.advice
    return f"{one.message}: {advice}" if advice else ""
