"""What a graph of evidence is made of: nodes of nine kinds, edges of nine, and the events that say
what happened."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from hashlib import sha256
from typing import Any, ClassVar, Final

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


class Node(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all nodes have. `status` is where a node stood when it was added; the graph knows where
    it stands now."""

    node_type: ClassVar[NodeType]
    id: str
    turn: int = 0
    created_at: str = ""


class Observation(Node, frozen=True, kw_only=True, tag="node.Obs"):
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


class Entity(Node, frozen=True, kw_only=True, tag="node.Ent"):
    """Something that an observation speaks of."""

    node_type = NodeType.ENTITY
    kind: str = ""
    value: Any = None


class Truth(Node, frozen=True, kw_only=True, tag="node.T"):
    """A claim."""

    node_type = NodeType.TRUTH
    text: str = ""
    kind: ClaimKind = ClaimKind.PROPERTY
    domain: str = ""
    scope: str = ""
    status: Status = Status.PROPOSED


class Assumption(Node, frozen=True, kw_only=True, tag="node.A"):
    """A claim with a plan to prove it wrong."""

    node_type = NodeType.ASSUMPTION
    text: str = ""
    falsify_hint: str = ""
    status: Status = Status.PROPOSED


class Question(Node, frozen=True, kw_only=True, tag="node.Q"):
    """Something that nobody knows yet."""

    node_type = NodeType.QUESTION
    text: str = ""
    targets: tuple[str, ...] = ()
    status: Status = Status.OPEN


class Action(Node, frozen=True, kw_only=True, tag="node.Act"):
    """A command that was proposed."""

    node_type = NodeType.ACTION
    intent: str = ""
    mode: str = "read"
    command: str = ""
    pre: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    status: Status = Status.PROPOSED


class Constraint(Node, frozen=True, kw_only=True, tag="node.C"):
    """What players have to keep to."""

    node_type = NodeType.CONSTRAINT
    text: str = ""
    kind: str = ""
    status: Status = Status.ACTIVE


class Goal(Node, frozen=True, kw_only=True, tag="node.G"):
    """What the game is about."""

    node_type = NodeType.GOAL
    text: str = ""
    status: Status = Status.ACTIVE


class RuleNode(Node, frozen=True, kw_only=True, tag="node.R"):
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
