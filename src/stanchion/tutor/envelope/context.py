"""What a player of the second law is told before a turn."""

from __future__ import annotations

from typing import Final

from stanchion.tutor.graph.nodes import Observation, Question, Status, Truth
from stanchion.tutor.law.v2 import TutorV2

TRUTHS: Final = 10
OBSERVATIONS: Final = 5
SHOWN: Final = 500
"""How many characters of an output a player is shown."""
ANSWERS: Final = frozenset({"check", "move_rejected"})
"""Events that answer a move."""


def context_of(tutor: TutorV2) -> str:
    """The goal and how far it is, what is proven, what was seen last, what is open, and what the
    last move came to."""
    lines = ["=== GAME ===", f"Turn: {tutor.state.turn}", f"Score: {tutor.state.score}"]
    lines += _part(
        "TO BE PROVEN", [f"{one.text}: {tutor.check(one).verdict.value}" for one in tutor.goal]
    )
    proven = tutor.pcg.of(Truth, Status.VALIDATED)[-TRUTHS:]
    lines += _part("PROVEN", [f"[{one.id}] {one.text}" for one in proven])
    seen = tutor.pcg.of(Observation)[-OBSERVATIONS:]
    lines += _part(
        "SEEN", [f"[{one.id}] {one.command}: ended with {one.rc}{_output(one)}" for one in seen]
    )
    asked = tutor.pcg.of(Question, Status.OPEN)
    lines += _part("OPEN QUESTIONS", [f"[{one.id}] {one.text}" for one in asked])
    return "\n".join([*lines, *_part("LAST MOVE", _answer(tutor))])


def _part(title: str, rows: list[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {row}" for row in rows)] if rows else []


def _output(seen: Observation) -> str:
    text = (seen.stdout if seen.stdout else seen.stderr).rstrip("\n")
    more = "..." if len(text) > SHOWN else ""
    return f", and printed {text[:SHOWN]!r}{more}" if text else ", and printed nothing"


def _answer(tutor: TutorV2) -> list[str]:
    """The law's answer to the move of the turn before."""
    told = [
        one
        for one in tutor.pcg.events
        if one.turn == tutor.state.turn - 1 and one.event_type in ANSWERS
    ]
    return [f"{one.verdict}: {one.reason}" for one in told[-1:]]
