"""Handoffs as runs report them: their fields, and what is no handoff to judge."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion import PolicyError
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for

POLICY: Final[dict[str, Any]] = {
    "name": "handing over",
    "agents": {"ann": {}, "rob": {"capabilities": ["review"]}},
    "guards": [{"use": "handoff"}, {"use": "budget", "tokens": 1000}],
}


def test_the_fields_of_a_handoff_can_be_given_by_name() -> None:
    run = shield_for(POLICY).run("ann")
    assert run.handoff("rob").code == "handoff.incomplete"
    told: dict[str, Any] = {"context": {"a": 1}, "artifacts": ("a.py",), "rationale": "done"}
    assert run.handoff("rob", **told).proceeds
    assert run.handoff("rob", {"rationale": ""}, **told).proceeds
    assert run.handoff("rob", **told, required_capabilities=["deploy"]).code == "handoff.unable"
    assert run.handoff("rob", **told, type="chat").code == "handoff.malformed"


def test_an_empty_list_of_artifacts_says_that_there_are_none() -> None:
    run = shield_for(POLICY).run("ann")
    assert run.handoff("rob", context={"a": 1}, rationale="done").code == "handoff.incomplete"
    assert run.handoff("rob", context={"a": 1}, rationale="done", artifacts=[]).proceeds


def test_a_child_gets_its_budget_without_a_context() -> None:
    """No agent hands anything over then; and no payload makes a handoff look like that."""
    run = shield_for(POLICY).run("ann")
    with run.spawn("rob", budget={"tokens": 100}) as child:
        assert child.agent == "rob"
    assert run.handoff("rob", {"budget": {"tokens": 100}}).code == "handoff.incomplete"


def test_a_handoff_that_was_refused_is_not_counted() -> None:
    run = shield_for({**POLICY, "guards": [{"use": "handoff", "require": ["x"]}]}).run("ann")
    for _ in range(3):
        assert run.handoff("eve", {"x": 1, "id": "h"}).code == "handoff.unknown"
    for to in ("rob", "ann", "rob", "ann"):
        assert run.handoff(to, {"x": 1, "id": "h"}).proceeds
    assert run.handoff("rob", {"x": 1, "id": "h"}).code == "handoff.rerouted"


@pytest.mark.parametrize("name", ["", "a..b", "."])
def test_a_field_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="has an empty name"):
        load_policy({**POLICY, "guards": [{"use": "handoff", "require": [name]}]})
