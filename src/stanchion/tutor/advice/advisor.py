"""The advisor: what a player is told before a turn. It looks at the trace and the graph, and
changes neither."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.tutor.advice.cards import Card, CardType, card_for
from stanchion.tutor.advice.contradictions import contradiction
from stanchion.tutor.advice.failures import Trace, failure
from stanchion.tutor.advice.wip import limit_of
from stanchion.tutor.graph.graph import Graph
from stanchion.tutor.graph.nodes import Action, Goal, Observation, Question, Status, Truth

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


class Advice(msgspec.Struct, frozen=True):
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
    trace: Trace,
    model: str = "",
    given: int = 0,
    off: frozenset[CardType] = frozenset(),
) -> Advice | None:
    """What a player is told, where anything is to be said.

    Cases, in this order: too much is under way; the way of playing contradicts itself; something
    goes wrong.
    """
    found = _reason(graph, trace, model)
    card = card_for(found, given, off) if found else None
    return None if card is None else Advice(found, card)


def _reason(graph: Graph, trace: Trace, model: str) -> str:
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
