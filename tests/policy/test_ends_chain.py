"""`ends_chain: false`: a guard's refusal does not keep those behind it from being judged."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for

DENIES = {"use": "tool_denylist", "tools": ["rm"], "action": "halt", "priority": 1}
MARKS = {
    "use": "rule",
    "when": "true",
    "check": "false",
    "action": "warn",
    "effects": ["emit_alert"],
    "message": "x",
}


@pytest.mark.parametrize("ends", [True, False])
def test_what_stands_behind_a_refusal_counts_where_the_refusal_does_not_end_the_chain(
    ends: bool,
) -> None:
    policy: dict[str, Any] = {"name": "p", "guards": [{**DENIES, "ends_chain": ends}, MARKS]}
    with shield_for(policy) as shield:
        decision = shield.run().check("rm", {})
    assert decision.action == Action.HALT
    assert decision.code == "tool.denied"
    assert decision.effects == (() if ends else ("emit_alert",))
    assert decision.skipped == (("rule",) if ends else ())


def test_a_guard_that_keeps_state_ends_the_chain() -> None:
    with pytest.raises(PolicyError, match=r"`budget` keeps state, and its refusal ends"):
        load_policy({"name": "p", "guards": [{"use": "budget", "calls": 1, "ends_chain": False}]})
