"""What happened in an episode, move by move, and what the model was asked; as lines of JSON, and
back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec

from stanchion import typed
from stanchion.tutor.graph import Graph
from stanchion.tutor.law.verdicts import GameState

S = TypeVar("S", bound=msgspec.Struct)


class TraceError(ValueError):
    """Lines that are no trace."""


class TraceTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One move of a turn, and what the law said of it.

    The first law can make several moves of one reply: each is an entry of its own, with the same
    turn. A reply that never reached the law has neither move nor verdict. `attempts` is how often
    the model was asked in the turn; it stands in the turn's first entry and is 0 in the others, so
    that their sum is the number of calls.
    """

    turn: int
    prompt_hash: str
    output_hash: str
    move_type: str | None
    parsed_move: Mapping[str, Any] | None
    check_verdict: str | None
    move_verdict: str | None
    score_delta: int
    state_hash: str
    attempts: int
    routing: str
    """How the reply was read: `parse_move`, `read`, the verdict of the schema layer, `withheld`, or
    `halted` where the run ended before it was used."""


class ModelExchange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call of the model: what it was asked, how, and what it said. `output` is `None` where a
    guard kept it, and `why` is what the model was told then."""

    turn: int
    attempt: int
    prompt: str
    temperature: float
    seed: int | None
    output: str | None
    why: str = ""


class EpisodeTrace(msgspec.Struct, frozen=True):
    """An episode."""

    turns: tuple[TraceTurn, ...] = ()

    @property
    def calls(self) -> int:
        """How often the model was asked."""
        return sum(one.attempts for one in self.turns)

    def to_jsonl(self) -> str:
        """The trace, a line for each entry."""
        return to_lines(self.turns)

    @staticmethod
    def from_jsonl(text: str) -> EpisodeTrace:
        """The trace of some lines; raises `TraceError` with the number of the line that is none."""
        return EpisodeTrace(from_lines(text, TraceTurn))


def to_lines(entries: Iterable[msgspec.Struct]) -> str:
    """Entries, one a line; the same entries give the same bytes everywhere."""
    return "".join(f"{as_line(one)}\n" for one in entries)


def as_line(entry: msgspec.Struct) -> str:
    """An entry in ASCII, its names in their order; half a character, which is no UTF-8, can be in
    it, too."""
    return json.dumps(msgspec.to_builtins(entry), sort_keys=True, separators=(",", ":"))


def as_plain(value: Any) -> dict[str, Any]:
    """An object as it is when it is read again."""
    plain: dict[str, Any] = json.loads(json.dumps(msgspec.to_builtins(value)))
    return plain


def from_lines(text: str, kind: type[S]) -> tuple[S, ...]:
    """The entries of some lines; raises `TraceError`."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(typed.convert(json.loads(line), kind))
            except (ValueError, RecursionError) as error:
                raise TraceError(f"line {number}: {error}") from None
    return tuple(found)


def text_hash(text: str) -> str:
    """By what a prompt or a reply is known; surrogates, which are no UTF-8, count as they are."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
