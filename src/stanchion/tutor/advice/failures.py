"""Failures of a player, found from the trace of a game. The host decides what to do about them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import msgspec

ERRORS: Final = 3
"""How many errors in a row are a failure."""
REPEATS: Final = 3
"""How often the same in a row is one."""
STALLED: Final = 4
"""Over how many turns nothing has to be new."""
CYCLES: Final = (2, 3)
"""How many actions a circle has that is looked for; it has to be gone round twice."""


class FailureType(Enum):
    """What goes wrong."""

    EXPLICIT_ERROR = "explicit_error"
    REPETITION = "repetition_loop"
    CIRCULAR = "circular_pattern"
    STALL = "progress_stall"
    EXHAUSTION = "exhaustion"


class Step(msgspec.Struct, frozen=True):
    """One action of a player: what it was, what it gave, whether that was an error."""

    action: str
    output: str = ""
    is_error: bool = False

    @property
    def same(self) -> str:
        """By what it is compared: spaces and case do not count."""
        return " ".join(self.action.split()).lower()


class Trace(msgspec.Struct, frozen=True):
    """What happened in a game: the steps, how much was known after each turn, and which cards there were.

    The first law counts all nodes as what is known, so that whoever runs commands never stalls; the second counts facts
    that are proven, each once.
    """

    steps: tuple[Step, ...] = ()
    known: tuple[int, ...] = ()
    cards: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    turn: int = 0


class Failure(msgspec.Struct, frozen=True):
    """A failure that was found."""

    failure_type: FailureType
    turn_detected: int
    details: str
    repeated_action: str = ""
    pattern_sequence: tuple[str, ...] = ()
    stall_turns: int = 0
    cards_tried: tuple[str, ...] = ()


def failure(trace: Trace) -> Failure | None:
    """The failure that a trace ends with, if any; the most certain first."""
    return _errors(trace) or _repeats(trace) or _circles(trace) or _stalls(trace) or _exhausts(trace)


def _errors(trace: Trace) -> Failure | None:
    last = trace.steps[-ERRORS:]
    if len(last) < ERRORS or not all(step.is_error for step in last):
        return None
    return Failure(FailureType.EXPLICIT_ERROR, trace.turn, f"the last {ERRORS} actions failed", last[-1].same)


def _repeats(trace: Trace) -> Failure | None:
    last = [step.same for step in trace.steps[-REPEATS:]]
    if len(last) < REPEATS or len(set(last)) > 1:
        return None
    return Failure(FailureType.REPETITION, trace.turn, f"the same action {REPEATS} times in a row", last[0])


def _circles(trace: Trace) -> Failure | None:
    for length in CYCLES:
        last = [step.same for step in trace.steps[-2 * length :]]
        if len(last) == 2 * length and last[:length] == last[length:] and len(set(last)) > 1:
            sequence = tuple(last[:length])
            return Failure(FailureType.CIRCULAR, trace.turn, f"{length} actions in a circle", pattern_sequence=sequence)
    return None


def _stalls(trace: Trace) -> Failure | None:
    if not _same(trace.known, STALLED):
        return None
    return Failure(FailureType.STALL, trace.turn, f"nothing new for {STALLED} turns", stall_turns=STALLED)


def _exhausts(trace: Trace) -> Failure | None:
    if not trace.cards or not trace.cards <= trace.used or not _same(trace.known, 2):
        return None
    tried = tuple(sorted(trace.used))
    return Failure(FailureType.EXHAUSTION, trace.turn, "every card was used, and nothing is new", cards_tried=tried)


def _same(known: Sequence[int], turns: int) -> bool:
    return len(known) >= turns and known[-1] == known[-turns]
