"""Strikes: whoever was given too many waits until a person has said yes, however often it asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Shield
from stanchion.runtime.deciding import aftermath
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for


class Place:
    """Shields on one store, under a policy in which a result that says `bad` is a strike."""

    def __init__(self, **aftermath: Any) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        rule = {"use": "rule", "id": "odd", "when": "event.result == 'bad'", "action": "block"}
        guards = [{**rule, "effects": ["increment_strike"], "stages": ["tool_result"]}]
        terms = {"escalate_at": 2, "quarantine_at": None, **aftermath}
        self.policy = {
            "name": "p",
            "strikes": terms,
            "guards": guards,
            "escalation": {"timeout_s": 60},
        }

    def shield(self) -> Shield:
        """One more process."""
        return shield_for(self.policy, clock=self.clock, store=self.store)

    def struck(self, times: int = 2, agent: str = "ann") -> Any:
        """A run with so many strikes."""
        run = self.shield().run(agent, id="r")
        strike(run, times)
        return run


def strike(run: Any, times: int) -> None:
    for n in range(times):
        assert not run.result("fetch", {"n": n}, "bad").proceeds


def codes(run: Any, times: int = 3) -> list[str]:
    return [run.check("pay", {"to": "eve"}).code for _ in range(times)]


HELD = ["strikes.reached"] * 3


def test_asking_again_does_not_pass() -> None:
    place = Place()
    run = place.struck()
    assert codes(run) == HELD
    assert [run.check(tool, {}).action for tool in ("x", "y", "x")] == [Action.ESCALATE] * 3
    assert not run.model_call([]).proceeds
    assert codes(place.shield().run("ann", id="r")) == HELD, "nor in another process"
    assert not run.spawn("helper").check("pay", {}).proceeds, "nor in a run below it"


def test_what_has_begun_is_delivered() -> None:
    run = Place().struck()
    assert run.result("fetch", {}, "good").proceeds
    assert run.model_reply("done").proceeds


@pytest.mark.parametrize(
    ("per", "same_agent", "other_agent"),
    [("run", True, True), ("agent", False, True), ("tenant", False, False)],
)
def test_whoever_the_strikes_are_counted_for_waits(
    per: str, same_agent: bool, other_agent: bool
) -> None:
    place = Place(per=per)
    assert codes(place.struck()) == HELD
    for agent, proceeds in (("ann", same_agent), ("bob", other_agent)):
        run = place.shield().run(agent)
        assert [run.check("pay", {}).proceeds for _ in range(3)] == [proceeds] * 3


@pytest.mark.parametrize("per", ["run", "agent", "tenant"])
def test_a_yes_ends_the_wait_until_the_next_strike(per: str) -> None:
    place = Place(per=per)
    run = place.struck()
    assert codes(run) == HELD
    (ticket,) = place.shield().tickets()
    place.shield().approve(ticket.id, by="carl")
    assert run.check("look", {}).code == "strikes.reached", (
        "the yes is for the call that was asked about"
    )
    assert run.check("pay", {"to": "eve"}).proceeds
    assert run.check("look", {}).proceeds
    assert place.shield().run("ann").check("look", {}).proceeds
    strike(run, 1)
    assert codes(run) == HELD


def test_a_yes_is_none_to_strikes_given_since() -> None:
    place = Place()
    run = place.struck()
    codes(run)
    (ticket,) = place.shield().tickets()
    place.clock.advance(1)
    strike(run, 1)
    place.shield().approve(ticket.id, by="carl")
    assert run.check("pay", {"to": "eve"}).proceeds
    assert run.check("look", {}).code == "strikes.reached"


def test_a_no_and_no_answer_refuse() -> None:
    place = Place()
    run = place.struck()
    codes(run)
    (ticket,) = place.shield().tickets()
    place.shield().deny(ticket.id, by="carl", comment="not today")
    assert codes(run) == ["approval.denied"] * 3
    assert run.check("look", {}).code == "strikes.reached"
    place.clock.advance(60_000)
    assert run.check("look", {}).code == "approval.expired"
    assert not run.check("other", {}).proceeds


def test_after_a_quarantine_a_person_is_asked_while_strikes_are_remembered() -> None:
    place = Place(quarantine_at=3, quarantine_s=60, decay_s=600)
    run = place.struck(3)
    assert codes(run) == ["kernel.quarantined"] * 3
    place.clock.advance(61_000)
    assert codes(run) == HELD


def test_the_wait_ends_when_fewer_strikes_are_remembered_than_it_takes() -> None:
    place = Place(decay_s=100)
    run = place.struck(1)
    place.clock.advance(60_000)
    strike(run, 1)
    place.clock.advance(39_999)
    assert codes(run) == HELD
    place.clock.advance(1)
    assert run.check("look", {}).proceeds


def test_where_too_many_wait_everybody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aftermath, "MAX_MARKED", 1)
    place = Place()
    place.struck()
    more = place.shield().run("bob")
    strike(more, 2)
    assert codes(more) == HELD
    assert codes(place.shield().run("carl")) == HELD


def test_a_yes_to_the_guard_is_none_to_its_strikes() -> None:
    asks = {"use": "rule", "id": "odd", "when": "event.tool == 'pay'", "action": "escalate"}
    guards = [{**asks, "effects": ["increment_strike"]}]
    shield = shield_for({"name": "p", "strikes": {"escalate_at": 1}, "guards": guards})
    run = shield.run("ann")
    run.check("pay", {})
    (ticket,) = shield.tickets()
    shield.approve(ticket.id, by="carl")
    assert run.check("pay", {}).code == "strikes.reached"


def test_it_stands_in_a_file(tmp_path: Path) -> None:
    place = Place()
    codes = []
    for _ in range(2):
        with Shield.load(
            place.policy, store=f"sqlite:{tmp_path / 's.db'}", journal="memory:"
        ) as shield:
            run = shield.run("ann", id="r")
            strike(run, 1)
            codes.append(run.check("pay", {}).code)
    assert codes[-1] == "strikes.reached"
