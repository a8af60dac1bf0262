"""The graph of evidence: nodes and edges are added and never changed; what changes is said by
events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from stanchion.tutor.graph.nodes import (
    ENDS,
    Action,
    AnyNode,
    Assumption,
    ClaimKind,
    Constraint,
    Edge,
    EdgeType,
    Entity,
    Event,
    Goal,
    Node,
    NodeType,
    Observation,
    Question,
    RuleNode,
    Soundness,
    Status,
    Truth,
)

N = TypeVar("N", bound=Node)


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

    def _made(self, kind: type[N], /, **fields: Any) -> N:
        """A new node, under the next id: one count for all kinds, behind the sign of its own."""
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
        made = self._made(
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

    def add_truth(
        self, text: str, kind: ClaimKind, domain: str, scope: str, status: Status = Status.PROPOSED
    ) -> Truth:
        """Add a claim."""
        return self._made(Truth, text=text, kind=kind, domain=domain, scope=scope, status=status)

    def add_entity(self, kind: str, value: Any) -> Entity:
        """Add something that is spoken of."""
        return self._made(Entity, kind=kind, value=value)

    def add_question(self, text: str, targets: Iterable[str] = ()) -> Question:
        """Add a question."""
        return self._made(Question, text=text, targets=tuple(targets))

    def add_action(
        self, intent: str, mode: str, command: str, verify: Iterable[str] = ()
    ) -> Action:
        """Add an action."""
        return self._made(Action, intent=intent, mode=mode, command=command, verify=tuple(verify))

    def add_assumption(self, text: str, falsify_hint: str) -> Assumption:
        """Add an assumption."""
        return self._made(Assumption, text=text, falsify_hint=falsify_hint)

    def add_constraint(self, text: str, kind: str) -> Constraint:
        """Add a constraint."""
        return self._made(Constraint, text=text, kind=kind)

    def add_goal(self, text: str) -> Goal:
        """Add a goal."""
        return self._made(Goal, text=text)

    def add_rule(
        self, rule_id: str, soundness: Soundness, premise: str, conclusion: str
    ) -> RuleNode:
        """Add a rule that something is derived by."""
        return self._made(
            RuleNode, rule_id=rule_id, soundness=soundness, premise=premise, conclusion=conclusion
        )

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

    def count(self, kind: type[Node], *status: Status) -> int:
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
