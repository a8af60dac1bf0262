"""Failures of a player, found from the trace of a game. The host decides what to do about them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import msgspec

from stanchion.readings.fingerprint import (
    Fingerprint,
    digest,
    fingerprint,
    name_digest,
)
from stanchion.readings.history import LoopHistory
from stanchion.readings.past_call import PastCall

REPEATS: Final = 3
"""How often the same is a repetition."""
STALLED: Final = 4
"""Over how many turns nothing has to be new."""
CYCLES: Final = (2, 3)
"""How many actions a circle has that is looked for; it has to be gone round twice."""
WINDOW: Final = 2 * max(CYCLES)
"""How many of the last actions are looked at."""
TOOL: Final = name_digest("command")


class FailureType(Enum):
    """What goes wrong."""

    EXPLICIT_ERROR = "explicit_error"
    REPETITION = "repetition_loop"
    CIRCULAR = "circular_pattern"
    STALL = "progress_stall"
    EXHAUSTION = "exhaustion"


class PlayedStep(msgspec.Struct, frozen=True):
    """One action of a player: what it was, what it gave, whether that was an error."""

    action: str
    output: str = ""
    is_error: bool = False

    @property
    def same(self) -> str:
        """By what it is compared: spaces and case do not count."""
        return " ".join(self.action.split()).lower()


class GameTrace(msgspec.Struct, frozen=True):
    """What happened in a game: the steps, how much was known after each turn, and which cards there
    were.

    The first law counts all nodes as what is known, so that whoever runs commands never stalls. The
    second counts facts that are proven, each once (`proven`). To it, an action is the same again if
    it brings the same, however it is
    written: in other case, with other signs or other spaces.
    """

    steps: tuple[PlayedStep, ...] = ()
    known: tuple[int, ...] = ()
    cards: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    turn: int = 0
    proven: bool = False


class PlayerFailure(msgspec.Struct, frozen=True):
    """A failure that was found."""

    failure_type: FailureType
    turn_detected: int
    details: str
    repeated_action: str = ""
    pattern_sequence: tuple[str, ...] = ()
    stall_turns: int = 0
    cards_tried: tuple[str, ...] = ()


def failure(trace: GameTrace) -> PlayerFailure | None:
    """The failure that a trace ends with, if any: what goes round first, which says more than the
    error that it may end with."""
    return (
        _repeats(trace) or _circles(trace) or _errors(trace) or _stalls(trace) or _exhausts(trace)
    )


def goes_in_a_circle(trace: GameTrace) -> bool:
    """Whether the last actions go round in a circle, whatever else they do."""
    return _circles(trace) is not None


def _errors(trace: GameTrace) -> PlayerFailure | None:
    if not trace.steps or not trace.steps[-1].is_error:
        return None
    details = "the last action failed"
    return PlayerFailure(FailureType.EXPLICIT_ERROR, trace.turn, details, trace.steps[-1].same)


def _repeats(trace: GameTrace) -> PlayerFailure | None:
    if not trace.steps:
        return None
    again = [step for step in trace.steps if _is_again(step, trace.steps[-1], trace.proven)]
    if len(again) < REPEATS:
        return None
    details = f"the same action {REPEATS} times"
    return PlayerFailure(FailureType.REPETITION, trace.turn, details, again[-REPEATS].same)


def _is_again(step: PlayedStep, last: PlayedStep, proven: bool) -> bool:
    """Whether a step is the last one again: to the second law only if it brought the same."""
    brought = not proven or (step.output, step.is_error) == (last.output, last.is_error)
    return brought and _print(step, proven).exact == _print(last, proven).exact


def _circles(trace: GameTrace) -> PlayerFailure | None:
    seen = history(trace)
    for length in CYCLES:
        several = len({one.exact for one in seen.calls[-length:]}) > 1
        if several and seen.runs[length - 1] >= length:
            sequence = tuple(step.same for step in trace.steps[-2 * length : -length])
            return PlayerFailure(
                FailureType.CIRCULAR,
                trace.turn,
                f"{length} actions in a circle",
                pattern_sequence=sequence,
            )
    return None


def history(trace: GameTrace) -> LoopHistory:
    """The last steps of a trace as the history in which the guard `loops` looks for repetitions."""
    made = LoopHistory()
    for number, step in enumerate(trace.steps[-WINDOW:]):
        print_ = _print(step, trace.proven)
        call = PastCall(str(number), TOOL, "", 0, known=print_)
        made.runs = made.proposed(call, WINDOW)
        made.calls = (*made.calls[-WINDOW:], call)
        if trace.proven:
            made.end(len(made.calls) - 1, digest(step.output, str(step.is_error)), 0)
    made.settle()
    return made


def _print(step: PlayedStep, proven: bool) -> Fingerprint:
    if not proven:
        exact = digest(step.same)
        return Fingerprint(exact, exact[:4], "")
    found = fingerprint("command", {"command": step.action})
    return Fingerprint(digest(found.loose), found.loose, "")


def _stalls(trace: GameTrace) -> PlayerFailure | None:
    if not _same(trace.known, STALLED):
        return None
    return PlayerFailure(
        FailureType.STALL, trace.turn, f"nothing new for {STALLED} turns", stall_turns=STALLED
    )


def _exhausts(trace: GameTrace) -> PlayerFailure | None:
    if not trace.cards or not trace.cards <= trace.used or not _same(trace.known, 2):
        return None
    tried = tuple(sorted(trace.used))
    return PlayerFailure(
        FailureType.EXHAUSTION,
        trace.turn,
        "every card was used, and nothing is new",
        cards_tried=tried,
    )


def _same(known: Sequence[int], turns: int) -> bool:
    return len(known) >= turns and known[-1] == known[-turns]
