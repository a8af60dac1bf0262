"""The first law plays the turn that its reference works out: ids, nodes, edges, events and
scores."""

from __future__ import annotations

from collections import Counter

from stanchion.tutor.graph import ClaimKind, EdgeType, Status, Truth
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.verdicts import MoveResult, MoveVerdict
from stanchion.tutor.moves.legacy import AssertMove, ProposeMove
from stanchion.tutor.rules.bash import bash_rules
from tests.tutor.worlds import Scripted

CLAIM = AssertMove(text="File 'config.yaml' exists", kind="existence")


def begun() -> TutorV1:
    """A game that has been set up."""
    tutor = TutorV1("worked", Scripted(), bash_rules())
    tutor.setup_game("find out whether there is a configuration")
    tutor.next_turn()
    return tutor


def grown(
    tutor: TutorV1, move: AssertMove | ProposeMove
) -> tuple[MoveResult, list[str], list[str], list[str], int]:
    """Make a move: what came of it, and the nodes, edges, events and points that it added."""
    nodes, edges, events, score = (
        len(tutor.pcg.nodes),
        len(tutor.pcg.edges),
        len(tutor.pcg.events),
        tutor.state.score,
    )
    result = tutor.execute_move(move)
    return (
        result,
        [*tutor.pcg.nodes][nodes:],
        [edge.edge_type.value for edge in tutor.pcg.edges[edges:]],
        [event.event_type for event in tutor.pcg.events[events:]],
        tutor.state.score - score,
    )


def test_a_game_begins_with_its_goal_and_three_constraints() -> None:
    assert [*begun().pcg.nodes] == ["G1", "C2", "C3", "C4"]


def test_the_worked_turn() -> None:
    tutor = begun()
    result, nodes, edges, events, score = grown(tutor, CLAIM)
    assert (result.verdict, result.reason) == (MoveVerdict.LEGAL, "CHECK verdict: undecidable")
    assert (nodes, edges, events, score) == (["T5"], [], ["node_added", "check"], 0)

    result, nodes, edges, events, score = grown(tutor, ProposeMove(command="test -f config.yaml"))
    assert nodes == ["Act6", "Obs7", "T8", "T9", "Ent10"]
    assert [one.text for one in result.truths] == [
        "Command 'test -f config.yaml' succeeded",
        "File 'config.yaml' exists",
    ]
    assert Counter(edges) == Counter({"produces": 1, "supports": 2, "mentions": 1})
    assert (len(events), score) == (7, 4)

    result, nodes, edges, events, score = grown(tutor, CLAIM)
    assert (nodes, edges, events, score) == (["T11"], [], ["node_added", "check", "promote"], 3)
    checked = tutor.pcg.events[-2]
    assert (checked.verdict, checked.data["proof"]) == ("provable", ["Obs7", "R_file_exists_test"])
    assert tutor.pcg.status("T11") is Status.VALIDATED
    assert [edge.transform for edge in tutor.pcg.into(EdgeType.SUPPORTS, "T9")] == [
        "rule:R_file_exists_test"
    ]


def test_a_check_that_is_not_committed_touches_nothing() -> None:
    tutor = begun()
    tutor.execute_move(ProposeMove(command="test -f config.yaml"))
    claimed = tutor.pcg.add(
        Truth, text="File 'config.yaml' exists", kind=ClaimKind.EXISTENCE, domain="bash", scope=""
    )
    before = (
        repr(tutor.state),
        tutor.pcg.events,
        tutor.pcg.edges,
        tuple(tutor.pcg.nodes),
        tutor.pcg.status(claimed.id),
    )
    assert tutor.check(claimed).verdict.name == "PROVABLE"
    after = (
        repr(tutor.state),
        tutor.pcg.events,
        tutor.pcg.edges,
        tuple(tutor.pcg.nodes),
        tutor.pcg.status(claimed.id),
    )
    assert after == before
