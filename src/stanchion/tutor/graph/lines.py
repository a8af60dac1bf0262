"""A graph as lines of JSON, and back: nodes, edges, events, and each long output once, under its
hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.tutor.graph.graph import Graph, GraphError
from stanchion.tutor.graph.nodes import AnyNode, Edge, EdgeType, Event, NodeType, Observation

SNIPS: Final = {"stdout": 500, "stderr": 200}
"""How much of an observation's texts stands in its own line."""
GAME, OUTPUT, NODE, EDGE, EVENT = "game", "output", "node.", "edge.", "event."
OWN: Final = frozenset({"type", "turn", "created_at", "target", "verdict", "reason"})
"""What every event has; what else it says bears other names."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def to_jsonl(graph: Graph) -> str:
    """The graph, a line for each thing."""
    return "".join(f"{line}\n" for line in lines(graph))


def lines(graph: Graph, clocks: bool = True) -> Iterator[str]:
    """The lines of a graph; without clocks nothing in them depends on when it was made."""
    shown = [
        {"type": GAME, "game_id": graph.game_id, "turn": graph.turn, "nodes": len(graph.nodes)}
    ]
    outputs: dict[str, str] = {}
    shown += [_of_node(node, outputs) for node in graph.nodes.values()]
    shown += [_of_edge(edge) for edge in graph.edges]
    shown += [_of_event(event) for event in graph.events]
    shown += [{"type": OUTPUT, "hash": name, "text": text} for name, text in outputs.items()]
    for one in shown:
        if not clocks:
            one.pop("created_at", None)
        yield _encode(one).decode()


def state_hash(graph: Graph) -> str:
    """What a graph is known by: the same wherever and whenever the same was done and seen."""
    digest = sha256()
    for line in lines(graph, clocks=False):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def from_jsonl(text: str | Iterable[str]) -> Graph:
    """The graph of some lines; raises `GraphError` for what is none, with the number of the
    line."""
    given = text.split("\n") if isinstance(text, str) else list(text)
    read = [_read(number, line) for number, line in enumerate(given, 1) if line.strip()]
    heads = [one for _, one in read if one["type"] == GAME]
    if len(heads) != 1:
        raise GraphError(f"a graph begins with one line of type `{GAME}`: there are {len(heads)}")
    outputs = {
        one["hash"]: one["text"]
        for number, one in read
        if one["type"] == OUTPUT and _fits(number, one)
    }
    graph = _Rebuilt(heads[0])
    for number, one in read:
        try:
            graph.take(one, outputs)
        except (KeyError, TypeError, ValueError) as error:
            raise GraphError(f"line {number}: {_why(error)}") from error
    return graph.done()


class _Rebuilt:
    """A graph that is made again from its lines; what it says of itself is not said once more."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        self._graph = Graph(str(head["game_id"]))
        self._turn, self._nodes = int(head["turn"]), int(head["nodes"])

    def take(self, one: dict[str, Any], outputs: Mapping[str, str]) -> None:
        """Add what a line says."""
        kind = one["type"]
        if kind.startswith(NODE):
            self._graph.put(_to_node(one, outputs))
        elif kind.startswith(EDGE):
            self._graph.join(_to_edge(one))
        elif kind.startswith(EVENT):
            self._graph.tell(_to_event(one))
        elif kind not in (GAME, OUTPUT):
            raise ValueError(f"`{kind}` is no type of line")

    def done(self) -> Graph:
        """The graph, when all lines are taken."""
        if len(self._graph.nodes) != self._nodes:
            raise GraphError(
                f"{self._nodes} nodes were written and {len(self._graph.nodes)} are there: it is "
                f"cut off"
            )
        self._graph.turn = self._turn
        return self._graph


def _of_node(node: AnyNode, outputs: dict[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(node)
    if isinstance(node, Observation):
        told["hash"] = node.hash
        for name, most in SNIPS.items():
            text = told.pop(name)
            told[f"{name}_snip"] = text[:most]
            if len(text) > most:
                address = f"sha256:{sha256(text.encode()).hexdigest()}"
                outputs[address] = text
                told[f"{name}_hash"] = address
    return told


def _to_node(one: dict[str, Any], outputs: Mapping[str, str]) -> AnyNode:
    if one["type"] != f"{NODE}{NodeType.OBSERVATION.value}":
        node: AnyNode = typed.convert(one, AnyNode)
        return node
    texts = {}
    for name in SNIPS:
        address = one.get(f"{name}_hash")
        if address is not None and address not in outputs:
            raise ValueError(f"the {name} `{address}` is not among the outputs")
        texts[name] = one[f"{name}_snip"] if address is None else outputs[address]
    bare = {
        key: value
        for key, value in one.items()
        if not key.endswith(("_snip", "_hash")) and key != "hash"
    }
    made = typed.convert({**bare, **texts}, Observation)
    if made.hash != one["hash"]:
        raise ValueError(f"`{made.id}` says something else than what its hash was made of")
    return made


def _of_edge(edge: Edge) -> dict[str, Any]:
    told = {"type": EDGE + edge.edge_type.value, **msgspec.to_builtins(edge)}
    del told["edge_type"]
    return {key: value for key, value in told.items() if value is not None}


def _to_edge(one: dict[str, Any]) -> Edge:
    kind = EdgeType(one["type"].removeprefix(EDGE))
    return typed.convert(
        {**{k: v for k, v in one.items() if k != "type"}, "edge_type": kind.value}, Edge
    )


def _of_event(event: Event) -> dict[str, Any]:
    clash = OWN & event.data.keys()
    if clash:
        raise GraphError(
            f"`{event.event_type}` says `{min(clash)}` twice: every event has that already"
        )
    own = {
        "type": EVENT + event.event_type,
        "target": event.target,
        "verdict": event.verdict,
        "reason": event.reason,
        "turn": event.turn,
        "created_at": event.created_at,
    }
    return {**{key: value for key, value in own.items() if value is not None}, **event.data}


def _to_event(one: dict[str, Any]) -> Event:
    own = {key: one[key] for key in OWN & one.keys() if key != "type"}
    data = {key: value for key, value in one.items() if key not in OWN}
    return typed.convert(
        {"event_type": one["type"].removeprefix(EVENT), "data": data, **own}, Event
    )


def _fits(number: int, one: dict[str, Any]) -> bool:
    name = f"sha256:{sha256(str(one['text']).encode()).hexdigest()}"
    if one["hash"] != name:
        raise GraphError(f"line {number}: an output is not what its hash was made of")
    return True


def _read(number: int, line: str) -> tuple[int, dict[str, Any]]:
    try:
        one = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise GraphError(f"line {number}: no JSON: {error}") from error
    if not isinstance(one, dict) or not isinstance(one.get("type"), str):
        raise GraphError(f"line {number}: no object with a `type`")
    return number, one


def _why(error: Exception) -> str:
    return f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
