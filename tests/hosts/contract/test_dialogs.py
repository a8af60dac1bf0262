"""A host's own dialog: it counts where the policy names it, for one call, in the process that heard
it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.approvals.act import Way
from stanchion.approvals.answerers import Dialog
from stanchion.approvals.errors import AnswerRefused
from stanchion.hosts import EVERYTHING, Host
from stanchion.testing import shield_for
from stanchion.testing.operators import operator

CLAUDE = Host("claude", can=EVERYTHING, refused=lambda refusal: refusal)


def policy(*named: str, risk: str = "high") -> dict[str, Any]:
    """A policy under which `pay` waits for a person."""
    ask = {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"}
    return {
        "name": "d",
        "tools": {"pay": {"risk": risk}},
        "guards": [ask],
        "escalation": {"dialogs": list(named)},
    }


def pay(hosted: Any, amount: int = 5) -> Any:
    """What a call gives: that it was done, or the refusal."""
    return hosted.call("pay", {"amount": amount}, lambda args: "paid")


def test_a_yes_counts_once_where_the_policy_names_the_host() -> None:
    shield = shield_for(policy("claude"))
    hosted = CLAUDE.run(shield, "helper", "t")
    asked = pay(hosted)
    assert asked.waits
    assert hosted.answered(asked, yes=True, comment="as agreed")
    assert (ticket := shield.ticket(asked.ticket)).answered_by == "host:claude"
    assert ticket.answer is not None
    assert ticket.answer.way is Way.DIALOG
    assert pay(hosted) == "paid"
    assert pay(hosted).waits
    assert pay(hosted, 6).waits


@pytest.mark.parametrize("named", [(), ("other",), ("host:claude",), ("Claude",)])
def test_it_counts_nowhere_else(named: tuple[str, ...]) -> None:
    hosted = CLAUDE.run(shield_for(policy(*named)), "helper", "t")
    assert not hosted.answered(pay(hosted), yes=True)
    assert pay(hosted).waits


def test_it_never_counts_for_what_is_critical() -> None:
    hosted = CLAUDE.run(shield_for(policy("claude", risk="critical")), "helper", "t")
    assert not hosted.answered(pay(hosted), yes=True)
    assert pay(hosted).waits


def test_a_no_always_counts() -> None:
    hosted = CLAUDE.run(shield_for(policy()), "helper", "t")
    assert hosted.answered(pay(hosted), yes=False)
    assert "no, says host:claude" in str(pay(hosted))


@pytest.mark.parametrize("scope", ["run", "task", "time"])
def test_a_yes_reaches_no_further_than_one_call(scope: str) -> None:
    shield = shield_for(policy("claude"))
    asked = pay(CLAUDE.run(shield, "helper", "t"))
    with pytest.raises(AnswerRefused, match="one call"):
        shield.approve(asked.ticket, by=Dialog("claude"), scope=scope)


def test_it_counts_beside_operators_with_keys_and_in_no_other_process(tmp_path: Path) -> None:
    """What another process writes into the store as a dialog's answer lets nothing through."""
    _, known = operator("ann")
    place: Any = {
        "store": f"sqlite:{tmp_path / 'state.db'}",
        "journal": "memory:",
        "operators": [known],
    }
    with (
        Shield.load(policy("claude"), **place) as judging,
        Shield.load(policy("claude"), **place) as other,
    ):
        hosted = CLAUDE.run(judging, "helper", "t")
        asked = pay(hosted)
        other.approve(asked.ticket, by=Dialog("claude"))
        assert not isinstance(pay(hosted), str)
        again = pay(hosted, 7)
        assert hosted.answered(again, yes=True)
        assert pay(hosted, 7) == "paid"


def test_it_answers_tickets_alone() -> None:
    shield = shield_for(policy("claude"))
    with pytest.raises(AnswerRefused, match="a host's dialog counts"):
        shield.resume(by=Dialog("claude"), why="go on")


def test_naming_a_dialog_loosens_a_policy() -> None:
    from stanchion.policy.load import load_policy
    from stanchion.policy.loosening.compare import loosenings

    assert [one.what for one in loosenings(load_policy(policy()), load_policy(policy("claude")))]
    assert not list(loosenings(load_policy(policy("claude")), load_policy(policy())))


def test_nothing_that_waits_for_nobody_is_answered() -> None:
    refuses = {"name": "n", "guards": [{"use": "tool_denylist", "tools": ["pay"]}]}
    hosted = CLAUDE.run(shield_for(refuses), "helper", "t")
    assert not hosted.answered(pay(hosted), yes=True)
