"""The graph of evidence: append-only, and written as lines and as pictures."""

from __future__ import annotations

import itertools
import json
from hashlib import sha256
from xml.etree import ElementTree

import pytest

from stanchion.tutor.graph import (
    Action,
    Assumption,
    ClaimKind,
    Constraint,
    EdgeType,
    Entity,
    Goal,
    Graph,
    GraphError,
    Observation,
    Question,
    RuleNode,
    Soundness,
    Status,
    Truth,
)
from stanchion.tutor.picture import to_dot, to_jsonl, to_svg


def played(stdout: str = "2 a.txt\n", said: str = "it has two lines", clock: str = "") -> Graph:
    """A graph with something of everything."""
    times = itertools.count()
    graph = Graph("lines", lambda: f"{clock}{next(times)}" if clock else "")
    graph.add(Goal, text="count the lines")
    graph.add(Constraint, text="read only", kind="process")
    graph.turn = 1
    asked = graph.add(Question, text="how many?")
    act = graph.add(
        Action, intent="count", mode="read", command="wc -l a.txt", verify=("a number",)
    )
    seen = graph.add_observation(act.id, "bash", "wc -l a.txt", 0, stdout, "warning\n" * 60)
    truth = graph.add(Truth, text=said, kind=ClaimKind.QUANTITATIVE, domain="bash", scope="a.txt")
    file = graph.add(Entity, kind="file", value="a.txt")
    rule = graph.add(
        RuleNode, rule_id="wc", soundness=Soundness.SOUND, premise="wc -l", conclusion="lines"
    )
    graph.add(Assumption, text="it is text", falsify_hint="file a.txt")
    graph.link(EdgeType.MENTIONS, seen.id, (file.id,), locator={"line": 1})
    graph.link(EdgeType.DERIVES, (rule.id, seen.id), truth.id, transform="wc")
    graph.link(EdgeType.TARGETS, asked.id, truth.id)
    graph.turn = 2
    graph.promote(truth.id, Status.VALIDATED)
    return graph


def test_a_node_is_never_replaced_and_stands_where_events_say() -> None:
    graph = played()
    (truth,) = graph.of(Truth)
    assert truth.status is Status.PROPOSED
    assert graph.status(truth.id) is Status.VALIDATED
    assert graph.of(Truth, Status.VALIDATED) == [truth]
    with pytest.raises(AttributeError):
        truth.text = "other"  # type: ignore[misc]  # that is what must not go


@pytest.mark.parametrize(
    ("kind", "src", "dst", "says"),
    [
        (EdgeType.SUPPORTS, "Obs99", "T6", "no such node"),
        (EdgeType.SUPPORTS, "Q3", "T6", "cannot join `Q3`"),
        (EdgeType.PRODUCES, "Act4", "T6", "cannot join `T6`"),
    ],
)
def test_an_edge_joins_nodes_that_are_there_and_fit(
    kind: EdgeType, src: str, dst: str, says: str
) -> None:
    graph = played()
    edges = graph.edges
    with pytest.raises(GraphError, match=says):
        graph.link(kind, src, dst)
    assert graph.edges == edges


def test_everything_bears_its_turn() -> None:
    graph = played()
    assert [graph.nodes["G1"].turn, graph.nodes["Q3"].turn, graph.events[-1].turn] == [0, 1, 2]
    assert {edge.turn for edge in graph.edges} == {1}


def test_every_node_edge_and_event_is_a_line() -> None:
    graph = played()
    lines = [json.loads(line) for line in to_jsonl(graph).splitlines()]
    assert [one["id"] for one in lines if one["type"].startswith("node.")] == [*graph.nodes]
    kinds = [one["type"].partition(".")[0] for one in lines]
    counts = [kinds.count(one) for one in ("game", "edge", "event")]
    assert counts == [1, len(graph.edges), len(graph.events)]


def test_a_long_output_is_written_once_and_whole() -> None:
    graph = played("x" * 2_000)
    graph.add_observation("Act4", "bash", "wc -l a.txt", 0, "x" * 2_000, "")
    lines = [json.loads(line) for line in to_jsonl(graph).splitlines()]
    assert [
        len(one["text"]) for one in lines if one["type"] == "output" and one["text"][0] == "x"
    ] == [2_000]


def test_the_hash_of_an_observation_is_that_of_the_first_law() -> None:
    seen = Observation(id="Obs1", tool="bash", command="ls", rc=0, stdout="a\n", stderr="")
    assert seen.hash == f"sha256:{sha256(b'bash:ls:0:a' + bytes([10]) + b':').hexdigest()[:16]}"


def test_pictures_show_every_node_and_edge() -> None:
    graph = played('say "hi" & <go>', 'quotes " and \\ here')
    dot = to_dot(graph)
    assert dot.count(" -> ") == 5
    assert all(f"  {node} [label=" in dot for node in graph.nodes)
    assert '\\"' in dot
    svg = ElementTree.fromstring(to_svg(graph))
    names = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert [one for one in names if one and one.startswith("T6")] == ["T6 · validated"]
    assert len([*svg.iter("{http://www.w3.org/2000/svg}g")]) == len(graph.nodes)
