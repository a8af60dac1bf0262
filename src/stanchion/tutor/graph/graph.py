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

    def next_id(self, kind: NodeType) -> str:
        """The next id: one count for all kinds, behind the sign of its own."""
        self._count += 1
        return f"{kind.value}{self._count}"

    def add(self, node: N) -> N:
        """Add a node under its id, and say so; raises `GraphError` where there is one already."""
        self.put(node)
        self.log("node_added", node.id, data={"node_type": node.node_type.value})
        return node

    def put(self, node: Node) -> None:
        """Add a node of which it was said before that it is there."""
        if node.id in self._nodes:
            raise GraphError(f"node `{node.id}` is in the graph already: nothing in it is replaced")
        number = node.id.removeprefix(node.node_type.value)
        if not (number.isascii() and number.isdecimal()):
            raise GraphError(
                f"`{node.id}` is no id of its kind: that is `{node.node_type.value}` and a number"
            )
        self._count = max(self._count, int(number))
        self._nodes[node.id] = cast("AnyNode", node)
        status = getattr(node, "status", None)
        if status is not None:
            self._stand(node.id, status)

    def _made(self, kind: type[N], /, **fields: Any) -> N:
        made = kind(
            id=self.next_id(kind.node_type), turn=self.turn, created_at=self._clock(), **fields
        )
        return self.add(made)

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
        return self.join(edge)

    def join(self, edge: Edge) -> Edge:
        """Add an edge as it is."""
        for ids, fitting in zip((edge.src, edge.dst), ENDS[edge.edge_type], strict=True):
            for one in ids_of(ids):
                node = self._nodes.get(one)
                if node is None:
                    raise GraphError(
                        f"`{edge.edge_type.value}` names `{one}`, and there is no such node"
                    )
                if node.node_type not in fitting:
                    raise GraphError(
                        f"`{edge.edge_type.value}` cannot join `{one}`: it is "
                        f"`{node.node_type.value}`"
                    )
        self._edges.append(edge)
        for one in ids_of(edge.dst):
            self._into.setdefault((edge.edge_type, one), []).append(edge)
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
        return self.tell(made)

    def tell(self, event: Event) -> Event:
        """Add an event as it is. One that promotes a node changes where that node stands."""
        if event.event_type == "promote" and event.target is not None:
            self._stand(event.target, Status(event.data["to_status"]))
        self._events.append(event)
        return event

    def promote(self, target: str, to: Status) -> Event:
        """Say that a node stands elsewhere from now on."""
        if target not in self._status:
            raise GraphError(f"`{target}` has no status that could change")
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

    def summary(self) -> dict[str, Any]:
        """How much there is of everything."""
        counted: dict[str, int] = {
            name: len(self.of(kind))
            for name, kind in (
                ("observations", Observation),
                ("truths", Truth),
                ("entities", Entity),
                ("questions", Question),
                ("actions", Action),
            )
        }
        validated = len(self.of(Truth, Status.VALIDATED))
        nodes = {"total": len(self._nodes), **counted, "validated": validated}
        return {
            "game_id": self.game_id,
            "turn": self.turn,
            "nodes": nodes,
            "edges": len(self._edges),
            "events": len(self._events),
        }

    def __repr__(self) -> str:
        validated = len(self.of(Truth, Status.VALIDATED))
        return (
            f"Graph({self.game_id!r}, turn={self.turn}, nodes={len(self._nodes)}, "
            f"validated={validated})"
        )


def ids_of(end: str | tuple[str, ...]) -> tuple[str, ...]:
    """The ids at one end of an edge."""
    return (end,) if isinstance(end, str) else end
