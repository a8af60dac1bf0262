"""What the advisor looks at in a game of the second law: the last commands, what they gave, and
what was proven."""

from __future__ import annotations

from typing import Final

from stanchion.tutor.advice.advisor import Advice, advise
from stanchion.tutor.advice.cards import CardType
from stanchion.tutor.advice.failures import Step, Trace
from stanchion.tutor.advice.intent import Course, course
from stanchion.tutor.graph.graph import Graph

LAST: Final = 8
"""How many steps and turns are kept: no failure needs more."""
FAILURES: Final = frozenset(
    one.value
    for one in (
        CardType.ERROR_ANALYSIS,
        CardType.ESCAPE_LOOP,
        CardType.COMPASS,
        CardType.PROGRESS_BOOST,
    )
)
"""The cards against single failures. When all were given and nothing is new, the player is told to
begin anew."""


class Played:
    """The last steps and turns of a game, and the cards that were given in it."""

    def __init__(self) -> None:
        self._steps: tuple[Step, ...] = ()
        self._known: tuple[int, ...] = ()
        self._given: tuple[CardType, ...] = ()

    def stepped(self, action: str, output: str, is_error: bool) -> None:
        """Keep a command and what it gave."""
        self._steps = (*self._steps, Step(action, output, is_error))[-LAST:]

    def turned(self, known: int) -> None:
        """Keep how many facts were proven when a turn was over."""
        self._known = (*self._known, known)[-LAST:]

    def trace(self, turn: int, known: int) -> Trace:
        """The trace of the game in a turn in which so many facts are proven."""
        used = frozenset(one.value for one in self._given)
        return Trace(
            self._steps, (*self._known, known), FAILURES, used & FAILURES, turn, proven=True
        )

    def course(self, goal: str) -> Course:
        """Where the player is going."""
        return course(goal, tuple(step.action for step in self._steps))

    def advise(self, graph: Graph, trace: Trace, model: str) -> Advice | None:
        """What the player is told, where anything is to be said; each card counts."""
        found = advise(graph, trace, model, len(self._given))
        if found is not None:
            self._given = (*self._given, found.card.card_type)
        return found
