"""A graph of evidence as others read it: as lines of JSON, as Graphviz text, and as an SVG that
needs no program to draw it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Any, Final, assert_never

import msgspec

from stanchion.tutor.graph import (
    Action,
    AnyNode,
    Assumption,
    Constraint,
    Edge,
    EdgeType,
    Entity,
    Event,
    Goal,
    Graph,
    GraphError,
    NodeType,
    Observation,
    Question,
    RuleNode,
    Status,
    Truth,
    ids_of,
)

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


LONGEST: Final = 48
"""How much of a node's words is shown."""
COLOURS: Final[Mapping[NodeType, str]] = {
    NodeType.GOAL: "#fde68a",
    NodeType.CONSTRAINT: "#e5e7eb",
    NodeType.QUESTION: "#ddd6fe",
    NodeType.ACTION: "#bfdbfe",
    NodeType.OBSERVATION: "#a5f3fc",
    NodeType.ENTITY: "#f5d0fe",
    NodeType.RULE: "#fed7aa",
    NodeType.ASSUMPTION: "#fecaca",
    NodeType.TRUTH: "#ffffff",
}
STANDS: Final[Mapping[Status, str]] = {
    Status.VALIDATED: "#bbf7d0",
    Status.REFUTED: "#fca5a5",
    Status.HINTED: "#fef3c7",
}
LINES: Final[Mapping[EdgeType, str]] = {
    EdgeType.SUPPORTS: "#15803d",
    EdgeType.DERIVES: "#15803d",
    EdgeType.REFUTES: "#b91c1c",
    EdgeType.BLOCKS: "#b91c1c",
    EdgeType.HINTS: "#b45309",
}
PLAIN: Final = "#6b7280"
WIDE, HIGH, APART, BELOW, MARGIN = 250, 44, 40, 26, 20


def words(node: AnyNode) -> str:
    """What a node says, on one line."""
    line = " ".join(_said(node).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _said(node: AnyNode) -> str:
    match node:
        case Observation():
            return f"rc {node.rc}: {node.stdout or node.stderr}"
        case Entity():
            return f"{node.kind} {node.value}"
        case Action():
            return node.command
        case RuleNode():
            return node.rule_id
        case Truth() | Assumption() | Question() | Constraint() | Goal():
            return node.text
        case _ as never:
            assert_never(never)


def to_dot(graph: Graph) -> str:
    """The graph for Graphviz."""
    out = [
        "digraph evidence {",
        "  rankdir=LR;",
        '  node [shape=box, style="filled,rounded", fontname="sans-serif"];',
    ]
    for node in graph.nodes.values():
        out.append(
            f'  {node.id} [label="{_quoted(node.id)}\\n{_quoted(words(node))}", '
            f'fillcolor="{_fill(graph, node)}"];'
        )
    for edge in graph.edges:
        for src in ids_of(edge.src):
            for dst in ids_of(edge.dst):
                kind = edge.edge_type
                out.append(
                    f'  {src} -> {dst} [label="{kind.value}", color="{LINES.get(kind, PLAIN)}"];'
                )
    return "\n".join([*out, "}"]) + "\n"


def to_svg(graph: Graph) -> str:
    """The graph as an SVG: a column for each kind of node, the oldest on top."""
    places = _places(graph)
    right = max([x for x, _ in places.values()], default=0) + WIDE + MARGIN
    bottom = max([y for _, y in places.values()], default=0) + HIGH + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" width="{right}" '
        f'height="{bottom}" font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="evidence of {escape(graph.game_id)}">',
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{PLAIN}"/></marker></defs>',
        f'<rect width="{right}" height="{bottom}" fill="#ffffff"/>',
    ]
    for edge in graph.edges:
        for src in ids_of(edge.src):
            for dst in ids_of(edge.dst):
                out.append(_line(places[src], places[dst], edge.edge_type))
    for node in graph.nodes.values():
        x, y = places[node.id]
        box = (
            f'<rect width="{WIDE}" height="{HIGH}" rx="6" fill="{_fill(graph, node)}" '
            f'stroke="{PLAIN}"/>'
        )
        name = f'<text x="8" y="17" font-weight="bold">{escape(_titled(graph, node))}</text>'
        said = f'<text x="8" y="34">{escape(_cut(words(node)))}</text>'
        out.append(
            f'<g transform="translate({x} {y})"><title>{escape(words(node))}</'
            f"title>{box}{name}{said}</g>"
        )
    return "\n".join([*out, "</svg>"]) + "\n"


COLUMNS: Final = (
    (NodeType.GOAL, NodeType.CONSTRAINT),
    (NodeType.QUESTION, NodeType.ASSUMPTION, NodeType.ACTION),
    (NodeType.OBSERVATION, NodeType.RULE),
    (NodeType.TRUTH, NodeType.ENTITY),
)


def _places(graph: Graph) -> dict[str, tuple[int, int]]:
    column = {kind: number for number, kinds in enumerate(COLUMNS) for kind in kinds}
    filled = [0] * len(COLUMNS)
    places = {}
    for node in graph.nodes.values():
        at = column[node.node_type]
        places[node.id] = (MARGIN + at * (WIDE + APART), MARGIN + filled[at] * (HIGH + BELOW))
        filled[at] += 1
    return places


def _line(src: tuple[int, int], dst: tuple[int, int], kind: EdgeType) -> str:
    forward = dst[0] >= src[0]
    x1, x2 = (src[0] + WIDE, dst[0]) if forward and dst[0] != src[0] else (src[0], dst[0])
    y1, y2 = src[1] + HIGH // 2, dst[1] + HIGH // 2
    bend = (x1 + x2) // 2 if x1 != x2 else x1 - APART // 2
    return (
        f'<path d="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}" fill="none" '
        f'stroke="{LINES.get(kind, PLAIN)}" '
        f'marker-end="url(#to)"><title>{kind.value}</title></path>'
    )


def _titled(graph: Graph, node: AnyNode) -> str:
    status = graph.status(node.id)
    return node.id if status is None else f"{node.id} · {status.value}"


def _cut(text: str) -> str:
    return text if len(text) <= 38 else f"{text[:37]}…"


def _fill(graph: Graph, node: AnyNode) -> str:
    status = graph.status(node.id)
    return (
        STANDS.get(status, COLOURS[node.node_type])
        if status is not None
        else COLOURS[node.node_type]
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
