"""The advisor: what a player is told before a turn, by the trace and the graph, of which it changes
neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from stanchion.tutor.advice.cards import Card, CardType, card_for
from stanchion.tutor.advice.contradictions import contradiction
from stanchion.tutor.advice.failures import GameTrace, PlayedStep, failure
from stanchion.tutor.advice.intent import IntentCourse, course
from stanchion.tutor.graph import Action, Goal, Graph, Observation, Question, Status, Truth

WIP: Final = 2
LIMITS: Final[Mapping[str, int]] = {
    "mistral:latest": 1,
    "deepseek-r1:14b": 3,
    "granite3.1-moe:3b": 3,
}
"""How many things a model can have under way, where that was measured."""


def limit_of(model: str) -> int:
    """How many things a model may have under way."""
    return LIMITS.get(model, WIP)


PATIENT: Final = "deepseek"
PATIENT_TURNS: Final = 15
"""Models of this name are left alone for so many turns, before their way of playing is spoken
of."""
SHOWN: Final = 3
UNDER_WAY: Final = (Status.PROPOSED, Status.STARTED)


class Board(msgspec.Struct, frozen=True):
    """What is to be done, under way, stuck and done, by the ids of a graph."""

    backlog: tuple[str, ...] = ()
    doing: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    done: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The board for a player."""
        rows = (
            ("TO DO", self.backlog),
            ("DOING", self.doing),
            ("STUCK", self.blocked),
            ("DONE", self.done),
        )
        return "\n".join(f"{name}: {_listed(ids)}" for name, ids in rows)


class CardAdvice(msgspec.Struct, frozen=True):
    """What to tell a player, and why."""

    why: str
    card: Card


def board(graph: Graph) -> Board:
    """Where everything in a graph stands."""
    actions = under_way(graph)
    goals = [one.id for one in graph.of(Goal, Status.ACTIVE)]
    return Board(
        backlog=(*goals, *(one.id for one in graph.of(Question, Status.OPEN))),
        doing=actions,
        blocked=tuple(one.id for one in graph.of(Truth, Status.PROPOSED)),
        done=tuple(one.id for one in graph.of(Truth, Status.VALIDATED)),
    )


def under_way(graph: Graph) -> tuple[str, ...]:
    """The actions that have shown nothing yet. The first law leaves all of them as they were
    proposed."""
    shown = {one.source_act for one in graph.of(Observation)}
    return tuple(
        one.id
        for one in graph.of(Action)
        if graph.status(one.id) in UNDER_WAY and one.id not in shown
    )


def advise(
    graph: Graph,
    trace: GameTrace,
    model: str = "",
    given: int = 0,
    off: frozenset[CardType] = frozenset(),
) -> CardAdvice | None:
    """What a player is told, where anything is to be said.

    Cases, in this order: too much is under way; the way of playing contradicts itself; something
    goes wrong.
    """
    found = _reason(graph, trace, model)
    card = card_for(found, given, off) if found else None
    return None if card is None else CardAdvice(found, card)


def _reason(graph: Graph, trace: GameTrace, model: str) -> str:
    most = limit_of(model)
    if graph.count(Action, *UNDER_WAY) >= most and len(under_way(graph)) >= most:
        return "wip_overflow"
    if PATIENT not in model or trace.turn > PATIENT_TURNS:
        odd = contradiction(trace.steps, graph.count(Truth, Status.VALIDATED))
        if odd:
            return odd
    wrong = failure(trace)
    return "" if wrong is None else wrong.failure_type.value


def _listed(ids: tuple[str, ...]) -> str:
    more = f" +{len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more if ids else "nothing"


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


class PlayHistory:
    """The last steps and turns of a game, and the cards that were given in it."""

    def __init__(self) -> None:
        self._steps: tuple[PlayedStep, ...] = ()
        self._known: tuple[int, ...] = ()
        self._given: tuple[CardType, ...] = ()

    def stepped(self, action: str, output: str, is_error: bool) -> None:
        """Keep a command and what it gave."""
        self._steps = (*self._steps, PlayedStep(action, output, is_error))[-LAST:]

    def turned(self, known: int) -> None:
        """Keep how many facts were proven when a turn was over."""
        self._known = (*self._known, known)[-LAST:]

    def trace(self, turn: int, known: int) -> GameTrace:
        """The trace of the game in a turn in which so many facts are proven."""
        used = frozenset(one.value for one in self._given)
        return GameTrace(
            self._steps, (*self._known, known), FAILURES, used & FAILURES, turn, proven=True
        )

    def course(self, goal: str) -> IntentCourse:
        """Where the player is going."""
        return course(goal, tuple(step.action for step in self._steps))

    def advise(self, graph: Graph, trace: GameTrace, model: str) -> CardAdvice | None:
        """What the player is told, where anything is to be said; each card counts."""
        found = advise(graph, trace, model, len(self._given))
        if found is not None:
            self._given = (*self._given, found.card.card_type)
        return found
