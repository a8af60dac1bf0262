"""What a finding says of the person that its action waits for: the question, the roles and the
time."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.approvals import State
from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.findings import Pause
from stanchion.kernel.stages import Stage
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from stanchion.testing.operators import operator
from tests.runtime.guards import says


def policy(**pause: Any) -> dict[str, Any]:
    rule = {
        "use": "rule",
        "id": "payments",
        "when": "event.tool == 'pay'",
        "action": "escalate",
        "message": "costly",
    }
    return {"name": "p", "guards": [{**rule, "pause": pause}]}


def asked(shield: Shield) -> Any:
    with shield.run("ann", id="r") as run, pytest.raises(Refused) as raised:
        run.call(ScriptedTool("paid", name="pay"), amount=5)
    assert raised.value.ticket is not None
    return raised.value


def test_a_rule_says_what_is_asked_of_whom_and_for_how_long() -> None:
    clock = FakeClock()
    shield = shield_for(
        policy(prompt="May this be paid?", roles=["finance"], timeout_s=60),
        clock=clock,
        store=MemoryStore(clock),
    )
    refused = asked(shield)
    ticket = shield.ticket(refused.ticket)
    assert (ticket.message, ticket.roles) == ("May this be paid?", ("finance",))
    assert ticket.expires_at - ticket.opened_at == 60_000
    assert refused.approvers == ("finance",)
    assert "May this be paid?" not in str(refused), "the agent reads the rule's own words"
    assert "costly" in str(refused)
    clock.advance(60_001)
    assert shield.ticket(refused.ticket).state is State.EXPIRED


def test_what_it_does_not_say_is_as_usual_and_the_time_is_five_minutes() -> None:
    shield = shield_for({**policy(), "escalation": {"roles": ["boss"]}})
    ticket = shield.ticket(asked(shield).ticket)
    assert (ticket.message, ticket.roles) == ("costly", ("boss",))
    assert ticket.expires_at - ticket.opened_at == 300_000


def test_a_finding_of_ones_own_says_the_same() -> None:
    guard = says(Action.ESCALATE, Stage.TOOL_CALL, terms=Pause("Is this right?", ("lead",), 1_000))
    shield = shield_for({"name": "p"}, guards=[guard])
    ticket = shield.ticket(asked(shield).ticket)
    assert (ticket.message, ticket.roles) == ("Is this right?", ("lead",))
    assert ticket.expires_at - ticket.opened_at == 1_000


def test_only_what_waits_for_a_person_can_pause() -> None:
    rule = {
        "use": "rule",
        "when": "event.tool == 'pay'",
        "action": "block",
        "pause": {"prompt": "May it?"},
    }
    with pytest.raises(PolicyError, match="only `action: escalate` waits for one"):
        Shield.load({"name": "p", "guards": [rule]})


def asking(ask: Any, **more: Any) -> dict[str, Any]:
    return {"name": "p", "tools": {"pay": {"ask": ask}}, **more}


def test_a_tool_that_asks_says_so_in_its_own_words() -> None:
    shield = shield_for(asking(True, escalation={"roles": ["boss"], "timeout_s": 60}))
    refused = asked(shield)
    ticket = shield.ticket(refused.ticket)
    words = "a person decides about every call of tool `pay`"
    assert str(refused).startswith(words)
    assert "denylist" not in str(refused)
    assert (ticket.message, ticket.code, ticket.roles) == (words, "ask.person", ("boss",))
    assert ticket.expires_at - ticket.opened_at == 60_000


def test_a_tool_asks_whom_it_names_and_runs_once_they_say_yes() -> None:
    ask = {"above": 4, "by": ["finance"], "prompt": "May this be paid?"}
    (boss, known_boss), (ann, known_ann) = operator("bob", "boss"), operator("ann", "finance")
    shield = shield_for(
        asking(ask, escalation={"timeout_s": 60}), operators=[known_boss, known_ann]
    )
    pay = ScriptedTool("paid", name="pay")
    with shield.run("agent", id="r") as run:
        assert run.call(pay, amount=4) == "paid"
        with pytest.raises(Refused) as raised:
            run.call(pay, amount=5)
        assert raised.value.ticket is not None
        ticket = shield.ticket(raised.value.ticket)
        assert (ticket.message, ticket.roles) == ("May this be paid?", ("finance",))
        assert ticket.expires_at - ticket.opened_at == 60_000
        with pytest.raises(AnswerRefused):
            shield.approve(ticket.id, by=boss)
        shield.approve(ticket.id, by=ann)
        assert run.call(pay, amount=5) == "paid"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ({"above": 4, "of": "event.args.amount >"}, "of `of`"),
        ({"above": 4, "of": "event.tool"}, "`of` is a string, and `above` needs a number"),
        ({"above": "much"}, "above"),
        ({"from": ["finance"]}, "from"),
    ],
)
def test_what_cannot_be_asked_about_is_told_where_it_stands(ask: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=r"tools\.pay\.ask") as raised:
        Shield.load(asking(ask))
    assert words in str(raised.value)


def test_no_other_guard_has_the_name_of_one_that_asks() -> None:
    with pytest.raises(PolicyError, match=r"id `tools\.pay\.ask` is taken"):
        Shield.load(asking(True, guards=[{"use": "size_limits", "id": "tools.pay.ask"}]))
