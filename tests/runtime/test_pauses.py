"""Pauses: what waits with an action until a person has answered for it, in every process of the
run."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedModel, ScriptedTool, shield_for


class Place:
    """Shields on one store, as processes of one run have them; paying asks a person, and has so
    much wait meanwhile."""

    def __init__(self, scope: str) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        pause = {"prompt": "May it be paid?", "timeout_s": 60, "scope": scope}
        rule = {"use": "rule", "when": "event.tool == 'pay'", "action": "escalate", "pause": pause}
        self.policy = {"name": "p", "guards": [rule]}

    def shield(self) -> Shield:
        """One more process."""
        return shield_for(self.policy, clock=self.clock, store=self.store)

    def run(self) -> Any:
        """The run in one more process."""
        return self.shield().run("a", id="r")

    def paused(self) -> tuple[Any, str]:
        """The run once it has asked, and the ticket."""
        run = self.run()
        with pytest.raises(Refused) as refused:
            run.call(PAYS, amount=5)
        assert refused.value.ticket is not None
        return run, refused.value.ticket


PAYS = ScriptedTool("paid", "paid", "paid", name="pay")


def begins(run: Any) -> list[bool]:
    """Whether a call, a request to a model and a handoff may begin."""
    said = run.check("look", {}), run.model_call([]), run.handoff("b", {})
    return [decision.proceeds for decision in said]


@pytest.mark.parametrize(
    ("scope", "others"),
    [("tool_call", [True, True, True]), ("run", [False, False, False])],
)
def test_what_waits_with_a_call_waits_in_every_process(scope: str, others: list[bool]) -> None:
    place = Place(scope)
    run, ticket = place.paused()
    assert begins(run) == others
    assert begins(place.run()) == others
    place.shield().approve(ticket, by="ann")
    assert begins(run) == [True, True, True]
    assert begins(place.run()) == [True, True, True]
    assert run.call(PAYS, amount=5) == "paid"


def test_a_step_waits_until_the_agent_asks_its_model_again() -> None:
    place = Place("step")
    run, ticket = place.paused()
    assert [run.check("look", {}).code, place.run().check("look", {}).code] == ["kernel.paused"] * 2
    assert run.model(ScriptedModel("I wait"), []) == "I wait"
    assert begins(run) == begins(place.run()) == [True, True, True]
    place.shield().approve(ticket, by="ann")
    assert run.call(PAYS, amount=5) == "paid"


@pytest.mark.parametrize("scope", ["step", "run"])
def test_a_no_lets_the_run_go_on_without_the_call(scope: str) -> None:
    place = Place(scope)
    run, ticket = place.paused()
    place.shield().deny(ticket, by="ann", comment="not this month")
    assert begins(run) == [True, True, True]
    with pytest.raises(Refused, match="not this month"):
        run.call(PAYS, amount=5)


@pytest.mark.parametrize("scope", ["step", "run"])
def test_a_pause_ends_with_the_time_of_its_ticket(scope: str) -> None:
    place = Place(scope)
    run, _ = place.paused()
    place.clock.advance(59_999)
    assert not run.check("look", {}).proceeds
    place.clock.advance(1)
    assert begins(run) == [True, True, True]


def test_what_is_refused_meanwhile_says_what_to_do_and_only_to_people_which_ticket_it_is() -> None:
    place = Place("run")
    run, ticket = place.paused()
    with pytest.raises(Refused, match="waits until a person has answered") as refused:
        run.call(ScriptedTool("seen"), path="a")
    read = (
        str(refused.value),
        repr(refused.value),
        refused.value.guidance.text,
        refused.value.decision.message,
    )
    assert [text for text in read if ticket in text] == []
    assert refused.value.decision.determining is not None
    assert ticket in refused.value.decision.determining.detail
    assert (refused.value.ticket, refused.value.decision.action) == (ticket, Action.BLOCK)
    (waiting,) = place.shield().tickets()
    assert waiting.evidence["waits"].startswith("the whole run waits")


def test_what_has_begun_is_delivered_and_children_wait_as_well() -> None:
    place = Place("run")
    run = place.run()
    child = run.spawn("b")
    assert run.check("slow", {}).proceeds
    with pytest.raises(Refused):
        run.call(PAYS, amount=5)
    assert run.result("slow", {}, "done").proceeds
    assert run.model_reply("so far").proceeds
    assert child.check("look", {}).code == "kernel.paused"


def test_a_run_that_is_cancelled_while_it_waits_has_ended() -> None:
    place = Place("run")
    run, ticket = place.paused()
    run.cancel("enough")
    place.shield().approve(ticket, by="ann")
    assert place.run().check("look", {}).code == "kernel.cancelled"


def test_another_scope_is_an_error() -> None:
    with pytest.raises(PolicyError, match="`tool`"):
        Place("tool").shield()
