"""Agents that the policy names as operators: they answer with keys of their own, a call at a time,
and never for themselves or for a run above or below their own."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import PolicyError, Refused, Shield
from stanchion.approvals.errors import AnswerRefused, OperatorError
from stanchion.approvals.operators import Operator
from stanchion.runtime.run import Run
from stanchion.testing import shield_for
from stanchion.testing.operators import operator

REVIEWER, KNOWN = operator("reviewer-1", "reviewer", agent=True)
PERSON, KNOWN_PERSON = operator("ann")


def policy(risk: str = "medium") -> dict[str, Any]:
    entry = {"key": KNOWN.key, "roles": list(KNOWN.roles), "agent": True}
    return {
        "name": "reviewed",
        "tools": {"deploy": {"risk": risk, "ask": True}},
        "escalation": {"roles": ["reviewer", "human_operator"]},
        "operators": {"reviewer-1": entry, "ann": {"key": KNOWN_PERSON.key}},
    }


def asked(run: Run) -> str:
    with pytest.raises(Refused) as refused:
        run.call(deploy)
    assert refused.value.ticket
    return refused.value.ticket


def deploy() -> str:
    return "done"


def test_an_agent_that_the_policy_names_answers_and_is_recorded_as_one() -> None:
    shield = shield_for(policy())
    run = shield.run("coder")
    ticket = asked(run)
    assert shield.ticket(ticket).roles == ("reviewer", "human_operator")
    shield.approve(ticket, by=REVIEWER, comment="looks right")
    assert run.call(deploy) == "done"
    shield.approve(asked(run), by=PERSON)
    said = [one for one in shield.journal.facts() if one.what == "ticket.approved"]
    assert [(one.by, one.data["as"], one.data.get("agent")) for one in said] == [
        ("reviewer-1", "reviewer", True),
        ("ann", "human_operator", None),
    ]


@pytest.mark.parametrize("name", ["reviewer-1", "Reviewer-1", "\uff52eviewer-1"])
def test_it_never_answers_for_itself_or_for_a_run_below_its_own(name: str) -> None:
    shield = shield_for(policy())
    own = shield.run(name)
    below = own.spawn("helper").spawn("coder")
    for run in (own, below):
        ticket = asked(run)
        with pytest.raises(AnswerRefused, match="somebody else has to answer"):
            shield.approve(ticket, by=REVIEWER)
        with pytest.raises(Refused):
            run.call(deploy)
        shield.approve(ticket, by=PERSON)
        assert run.call(deploy) == "done"


@pytest.mark.parametrize("name", ["reviewer-1", "REVIEWER-1"])
def test_it_never_works_below_a_run_whose_tickets_it_could_answer(name: str) -> None:
    with pytest.raises(ValueError, match=r"begin its work with `shield\.run`"):
        shield_for(policy()).run("coder").spawn(name)


def test_an_agent_lets_through_one_call_and_nothing_critical() -> None:
    shield = shield_for(policy())
    with pytest.raises(AnswerRefused, match="an agent can say yes to one call"):
        shield.approve(asked(shield.run("coder")), by=REVIEWER, scope="run")
    critical = shield_for(policy("critical"))
    ticket = asked(critical.run("coder"))
    with pytest.raises(AnswerRefused, match="an agent can say yes to one call"):
        critical.approve(ticket, by=REVIEWER)
    critical.deny(ticket, by=REVIEWER, comment="not on a Friday")


def test_an_agent_moves_nothing_that_only_people_move() -> None:
    shield = shield_for(policy())
    shield.halt("drill")
    with pytest.raises(AnswerRefused):
        shield.resume(by=REVIEWER)
    assert shield.standing().state == "halt"


def test_an_agent_that_is_not_named_has_no_answer() -> None:
    other, _ = operator("reviewer-2", "reviewer", agent=True)
    shield = shield_for(policy())
    with pytest.raises(AnswerRefused, match="there is no operator with that name"):
        shield.approve(asked(shield.run("coder")), by=other)


def test_an_agent_is_no_person() -> None:
    with pytest.raises(OperatorError, match="is an agent, and `human_operator` is a person"):
        Operator(name="bot", key=KNOWN.key, agent=True)
    said = policy()
    del said["operators"]["reviewer-1"]["roles"]
    with pytest.raises((PolicyError, OperatorError), match="`human_operator` is a person"):
        Shield.load(said, store="memory:", journal="memory:")
