"""State machines are found on the real thing, and drawn with every state and every step."""

from xml.etree import ElementTree

import pytest

from stanchion.approvals.ticket import State
from stanchion.kernel.states import EDGES, Signal, follows
from tools.drawings.exploring import explored
from tools.drawings.machine import Machine, Step, drawn, joined
from tools.drawings.machines import breaker, run, shield_states, ticket

SVG = "{http://www.w3.org/2000/svg}"


class Gate:
    """A gate that a coin opens, and that closes behind whoever goes through."""

    def __init__(self) -> None:
        self.open = False

    def coin(self) -> None:
        self.open = True

    def push(self) -> None:
        self.open = False


def test_every_move_is_tried_in_every_state() -> None:
    found = explored(
        Gate,
        {"a coin": Gate.coin, "a push": Gate.push},
        lambda gate: "open" if gate.open else "shut",
    )
    assert found == (Step("shut", "open", "a coin"), Step("open", "shut", "a push"))


def test_what_never_comes_to_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 50 states"):
        explored(list, {"more": lambda one: one.append(0)}, lambda one: str(len(one)))


def test_ways_between_the_same_states_are_one() -> None:
    assert joined(
        [Step("a", "b", "x"), Step("b", "a", "y"), Step("a", "b", "z"), Step("a", "b", "x")]
    ) == (
        Step("a", "b", "x, or z"),
        Step("b", "a", "y"),
    )


def test_a_step_of_an_unknown_state_is_named() -> None:
    with pytest.raises(ValueError, match="a step of `c`"):
        drawn(Machine("M", "says", ("a", "b"), (Step("a", "c", "x"),)))


def test_a_picture_has_every_state_and_a_row_for_each_step() -> None:
    machine = shield_states()
    said = [text.text for text in ElementTree.fromstring(drawn(machine)).iter(f"{SVG}text")]
    assert {*machine.states} <= {*said}
    assert [words for words in said if words in {edge.means for edge in EDGES}] == [
        edge.means for edge in EDGES
    ]


def test_only_a_restart_leads_out_of_a_halt() -> None:
    assert [step.end for step in shield_states().steps if step.start == "halt"] == ["normal"]
    assert [signal for signal in Signal if follows("halt", signal) is not None] == [Signal.RESTART]


def test_a_ticket_is_used_only_where_somebody_said_yes() -> None:
    machine = ticket()
    assert {*machine.states} == {state.value for state in State} - {State.REVIEWED}
    assert {step.start for step in machine.steps if step.end == "used"} == {"approved"}
    assert {step.start for step in machine.steps if step.end == "approved"} == {"open"}


def test_only_a_probe_closes_a_breaker_by_itself() -> None:
    closing = {step.start: step.on for step in breaker().steps if step.end == "closed"}
    assert {start for start, on in closing.items() if on != "an operator resets it"} == {"probing"}


def test_nothing_leads_back_from_the_end_of_a_run() -> None:
    leading = {
        (step.start, step.end) for step in run().steps if step.start in ("ended", "cancelled")
    }
    assert leading <= {("ended", "cancelled"), ("cancelled", "ended")}
    assert {step.end for step in run().steps if step.start == "halted"} >= {"at work"}
