"""A graph as lines of JSON: nodes, edges, events, and each long output once, under its hash."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.tutor.graph.graph import Graph, GraphError
from stanchion.tutor.graph.nodes import AnyNode, Edge, Event, Observation

SNIPS: Final = {"stdout": 500, "stderr": 200}
"""How much of an observation's texts stands in its own line."""
GAME, OUTPUT, EDGE, EVENT = "game", "output", "edge.", "event."
OWN: Final = frozenset({"type", "turn", "created_at", "target", "verdict", "reason"})
"""What every event has; what else it says bears other names."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def to_jsonl(graph: Graph) -> str:
    """The graph, a line for each thing."""
    shown = [
        {"type": GAME, "game_id": graph.game_id, "turn": graph.turn, "nodes": len(graph.nodes)}
    ]
    outputs: dict[str, str] = {}
    shown += [_of_node(node, outputs) for node in graph.nodes.values()]
    shown += [_of_edge(edge) for edge in graph.edges]
    shown += [_of_event(event) for event in graph.events]
    shown += [{"type": OUTPUT, "hash": name, "text": text} for name, text in outputs.items()]
    return "".join(f"{_encode(one).decode()}\n" for one in shown)


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


def _of_edge(edge: Edge) -> dict[str, Any]:
    told = {"type": EDGE + edge.edge_type.value, **msgspec.to_builtins(edge)}
    del told["edge_type"]
    return {key: value for key, value in told.items() if value is not None}


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
