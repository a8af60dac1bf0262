"""By what the state of a game is known: everything that happened in it, without clocks, and what is
counted."""

from __future__ import annotations

from hashlib import sha256
from itertools import islice
from typing import Final

import msgspec

from stanchion.tutor.envelope.trace import as_line
from stanchion.tutor.graph.graph import Graph
from stanchion.tutor.law.verdicts import GameState

TIMED: Final = "created_at"


class States:
    """The state of one game, move by move. A graph only grows, so that each thing in it is looked
    at once."""

    def __init__(self, graph: Graph, state: GameState) -> None:
        self._graph, self._state = graph, state
        self._nodes = self._edges = self._events = 0
        self._seen = sha256(graph.game_id.encode("utf-8", "surrogatepass"))

    def hash(self) -> str:
        """What the state is known by now: the same wherever and whenever the same was done and
        seen."""
        edges, events = self._graph.edges, self._graph.events
        nodes = list(islice(self._graph.nodes.values(), self._nodes, None))
        for one in (*nodes, *edges[self._edges :], *events[self._events :]):
            self._take(one)
        self._nodes, self._edges, self._events = self._nodes + len(nodes), len(edges), len(events)
        now = self._seen.copy()
        now.update(as_line(self._state).encode())
        return now.hexdigest()

    def _take(self, one: msgspec.Struct) -> None:
        timeless = msgspec.structs.replace(one, **{TIMED: ""})
        self._seen.update(f"{type(one).__name__} {as_line(timeless)}\n".encode())
