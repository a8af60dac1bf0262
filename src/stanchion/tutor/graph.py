"""The graph of evidence (PCG): nodes and edges are added and never changed; what changes is said by
events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeVar, cast

import msgspec


class NodeType(Enum):
    """The kinds of nodes; each value begins the ids of its kind."""

    OBSERVATION = "Obs"
    ENTITY = "Ent"
    TRUTH = "T"
    ASSUMPTION = "A"
    QUESTION = "Q"
    ACTION = "Act"
    RULE = "R"
    CONSTRAINT = "C"
    GOAL = "G"


class EdgeType(Enum):
    """The kinds of edges, with what stands at their ends."""

    SUPPORTS = "supports"
    """Obs → T"""
    DERIVES = "derives"
    """R and premises → T"""
    REFUTES = "refutes"
    """Obs → T"""
    MENTIONS = "mentions"
    """Obs → Ent"""
    REQUIRES = "requires"
    """Act → T, A or C"""
    PRODUCES = "produces"
    """Act → Obs"""
    BLOCKS = "blocks"
    """C → Act"""
    TARGETS = "targets"
    """Q → Ent or T"""
    HINTS = "hints"
    """R and premises → T; nothing is proven by it"""


class Status(Enum):
    """Where a node stands."""

    PROPOSED = "proposed"
    VALIDATED = "validated"
    REFUTED = "refuted"
    HINTED = "hinted"
    """A rule that may be wrong concludes it."""
    OPEN = "open"
    CLOSED = "closed"
    ACTIVE = "active"
    INACTIVE = "inactive"
    COMMITTED = "committed"
    STARTED = "started"
    FINISHED = "finished"


class ClaimKind(Enum):
    """What sort of thing a claim says."""

    EXISTENCE = "existence"
    EQUALITY = "equality"
    MEMBERSHIP = "membership"
    PROPERTY = "property"
    CAUSAL = "causal"
    TEMPORAL = "temporal"
    QUANTITATIVE = "quantitative"
    NORMATIVE = "normative"


class Soundness(Enum):
    """Whether what a rule concludes is certain."""

    SOUND = "sound"
    HEURISTIC = "heuristic"


class GraphNode(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all nodes have. `status` is where a node stood when it was added; the graph knows where
    it stands now."""

    node_type: ClassVar[NodeType]
    id: str
    turn: int = 0
    created_at: str = ""


class Observation(GraphNode, frozen=True, kw_only=True, tag="node.Obs"):
    """What a tool gave. It never changes."""

    node_type = NodeType.OBSERVATION
    source_act: str = ""
    tool: str = ""
    command: str = ""
    rc: int = 0
    stdout: str = ""
    stderr: str = ""
    status: Status = Status.COMMITTED

    @property
    def hash(self) -> str:
        """What it is known by: the same for the same command with the same outcome."""
        said = f"{self.tool}:{self.command}:{self.rc}:{self.stdout}:{self.stderr}"
        return f"sha256:{sha256(said.encode()).hexdigest()[:16]}"


class Entity(GraphNode, frozen=True, kw_only=True, tag="node.Ent"):
    """Something that an observation speaks of."""

    node_type = NodeType.ENTITY
    kind: str = ""
    value: Any = None


class Truth(GraphNode, frozen=True, kw_only=True, tag="node.T"):
    """A claim."""

    node_type = NodeType.TRUTH
    text: str = ""
    kind: ClaimKind = ClaimKind.PROPERTY
    domain: str = ""
    scope: str = ""
    status: Status = Status.PROPOSED


class Assumption(GraphNode, frozen=True, kw_only=True, tag="node.A"):
    """A claim with a plan to prove it wrong."""

    node_type = NodeType.ASSUMPTION
    text: str = ""
    falsify_hint: str = ""
    status: Status = Status.PROPOSED


class Question(GraphNode, frozen=True, kw_only=True, tag="node.Q"):
    """Something that nobody knows yet."""

    node_type = NodeType.QUESTION
    text: str = ""
    targets: tuple[str, ...] = ()
    status: Status = Status.OPEN


class Action(GraphNode, frozen=True, kw_only=True, tag="node.Act"):
    """A command that was proposed."""

    node_type = NodeType.ACTION
    intent: str = ""
    mode: str = "read"
    command: str = ""
    pre: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    status: Status = Status.PROPOSED


class Constraint(GraphNode, frozen=True, kw_only=True, tag="node.C"):
    """What players have to keep to."""

    node_type = NodeType.CONSTRAINT
    text: str = ""
    kind: str = ""
    status: Status = Status.ACTIVE


class Goal(GraphNode, frozen=True, kw_only=True, tag="node.G"):
    """What the game is about."""

    node_type = NodeType.GOAL
    text: str = ""
    status: Status = Status.ACTIVE


class RuleNode(GraphNode, frozen=True, kw_only=True, tag="node.R"):
    """A rule that something was derived by."""

    node_type = NodeType.RULE
    rule_id: str = ""
    soundness: Soundness = Soundness.SOUND
    premise: str = ""
    conclusion: str = ""


AnyNode = (
    Observation | Entity | Truth | Assumption | Question | Action | Constraint | Goal | RuleNode
)


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """One edge; an end with several nodes is a tuple of their ids."""

    edge_type: EdgeType
    src: str | tuple[str, ...]
    dst: str | tuple[str, ...]
    turn: int = 0
    created_at: str = ""
    locator: Mapping[str, Any] | None = None
    transform: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What happened: with which node, how it was judged, why, and more that depends on what it
    was."""

    event_type: str
    target: str | None = None
    verdict: str | None = None
    reason: str | None = None
    data: Mapping[str, Any] = {}
    turn: int = 0
    created_at: str = ""


ENDS: Final[Mapping[EdgeType, tuple[frozenset[NodeType], frozenset[NodeType]]]] = {
    EdgeType.SUPPORTS: (frozenset({NodeType.OBSERVATION}), frozenset({NodeType.TRUTH})),
    EdgeType.DERIVES: (
        frozenset({NodeType.RULE, NodeType.OBSERVATION, NodeType.TRUTH, NodeType.ASSUMPTION}),
        frozenset({NodeType.TRUTH}),
    ),
    EdgeType.REFUTES: (frozenset({NodeType.OBSERVATION}), frozenset({NodeType.TRUTH})),
    EdgeType.MENTIONS: (frozenset({NodeType.OBSERVATION}), frozenset({NodeType.ENTITY})),
    EdgeType.REQUIRES: (
        frozenset({NodeType.ACTION}),
        frozenset({NodeType.TRUTH, NodeType.ASSUMPTION, NodeType.CONSTRAINT}),
    ),
    EdgeType.PRODUCES: (frozenset({NodeType.ACTION}), frozenset({NodeType.OBSERVATION})),
    EdgeType.BLOCKS: (frozenset({NodeType.CONSTRAINT}), frozenset({NodeType.ACTION})),
    EdgeType.TARGETS: (
        frozenset({NodeType.QUESTION}),
        frozenset({NodeType.ENTITY, NodeType.TRUTH}),
    ),
    EdgeType.HINTS: (frozenset({NodeType.RULE, NodeType.OBSERVATION}), frozenset({NodeType.TRUTH})),
}
"""Which nodes may stand where an edge begins, and where it ends."""


N = TypeVar("N", bound=GraphNode)


class GraphError(ValueError):
    """Something that cannot be added to a graph."""


class Graph:
    """A graph of evidence (PCG): what was asked, done, seen and claimed in a game, and what follows
    from what.

    `clock` gives the time that nodes, edges and events bear. Nothing that is decided depends on it.
    """

    def __init__(self, game_id: str, clock: Callable[[], str] = lambda: "") -> None:
        self.game_id = game_id
        self.turn = 0
        self._clock = clock
        self._count = 0
        self._nodes: dict[str, AnyNode] = {}
        self._edges: list[Edge] = []
        self._events: list[Event] = []
        self._status: dict[str, Status] = {}
        self._counts: Counter[tuple[NodeType, Status]] = Counter()
        self._into: dict[tuple[EdgeType, str], list[Edge]] = {}

    @property
    def nodes(self) -> Mapping[str, AnyNode]:
        """All nodes by id, oldest first."""
        return self._nodes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, oldest first."""
        return tuple(self._edges)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events, oldest first."""
        return tuple(self._events)

    def add(self, kind: type[N], /, **fields: Any) -> N:
        """Add a node, under the next id: one count for all kinds, behind the sign of its own."""
        self._count += 1
        name = f"{kind.node_type.value}{self._count}"
        node = kind(id=name, turn=self.turn, created_at=self._clock(), **fields)
        self._nodes[name] = cast("AnyNode", node)
        status = getattr(node, "status", None)
        if status is not None:
            self._stand(name, status)
        self.log("node_added", name, data={"node_type": kind.node_type.value})
        return node

    def add_observation(
        self, act: str, tool: str, command: str, rc: int, stdout: str, stderr: str
    ) -> Observation:
        """Add what an action gave, and that it was this action."""
        made = self.add(
            Observation,
            source_act=act,
            tool=tool,
            command=command,
            rc=rc,
            stdout=stdout,
            stderr=stderr,
        )
        self.link(EdgeType.PRODUCES, act, made.id)
        return made

    def link(
        self,
        kind: EdgeType,
        src: str | tuple[str, ...],
        dst: str | tuple[str, ...],
        transform: str | None = None,
        locator: Mapping[str, Any] | None = None,
    ) -> Edge:
        """Add an edge; raises `GraphError` where a node is missing, or one of another kind belongs
        there."""
        edge = Edge(
            edge_type=kind,
            src=src,
            dst=dst,
            turn=self.turn,
            created_at=self._clock(),
            locator=locator,
            transform=transform,
        )
        for ids, fitting in zip((src, dst), ENDS[kind], strict=True):
            for one in ids_of(ids):
                node = self._nodes.get(one)
                if node is None:
                    raise GraphError(f"`{kind.value}` names `{one}`, and there is no such node")
                if node.node_type not in fitting:
                    raise GraphError(
                        f"`{kind.value}` cannot join `{one}`: it is `{node.node_type.value}`"
                    )
        self._edges.append(edge)
        for one in ids_of(dst):
            self._into.setdefault((kind, one), []).append(edge)
        return edge

    def log(
        self,
        kind: str,
        target: str | None = None,
        verdict: str | None = None,
        reason: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Event:
        """Say what happened."""
        made = Event(
            event_type=kind,
            target=target,
            verdict=verdict,
            reason=reason,
            data={} if data is None else data,
            turn=self.turn,
            created_at=self._clock(),
        )
        self._events.append(made)
        return made

    def promote(self, target: str, to: Status) -> Event:
        """Say that a node stands elsewhere from now on."""
        if target not in self._status:
            raise GraphError(f"`{target}` has no status that could change")
        self._stand(target, to)
        return self.log("promote", target, data={"to_status": to.value})

    def _stand(self, node: str, status: Status) -> None:
        kind, before = self._nodes[node].node_type, self._status.get(node)
        if before is not None:
            self._counts[kind, before] -= 1
        self._counts[kind, status] += 1
        self._status[node] = status

    def count(self, kind: type[GraphNode], *status: Status) -> int:
        """How many nodes of a kind stand in one of some places; no node is looked at for it."""
        return sum(self._counts[kind.node_type, one] for one in status)

    def status(self, node: str) -> Status | None:
        """Where a node stands now; `None` where it has no status."""
        return self._status.get(node)

    def of(self, kind: type[N], status: Status | None = None) -> list[N]:
        """All nodes of a kind, oldest first; those that stand somewhere, where that is said."""
        found: list[N] = [node for node in self._nodes.values() if isinstance(node, kind)]
        return (
            found
            if status is None
            else [node for node in found if self._status.get(node.id) is status]
        )

    def into(self, kind: EdgeType, node: str) -> tuple[Edge, ...]:
        """The edges of a kind that end at a node, oldest first."""
        return tuple(self._into.get((kind, node), ()))

    def supporting(self, truth: str) -> list[Observation]:
        """The observations that support a claim."""
        ids = [one for edge in self.into(EdgeType.SUPPORTS, truth) for one in ids_of(edge.src)]
        return [node for one in ids if isinstance(node := self._nodes[one], Observation)]


def ids_of(end: str | tuple[str, ...]) -> tuple[str, ...]:
    """The ids at one end of an edge."""
    return (end,) if isinstance(end, str) else end
