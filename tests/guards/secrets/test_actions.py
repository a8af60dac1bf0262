"""Three actions for three places: a request that would leave is quarantined, a result blocked, all
else redacted."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action, Refused
from stanchion.kernel.states import QUARANTINE
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, ScriptedTool, shield_for

KEY = "AKIAQ3EGRXYZ5ABCD7WQ"


def with_actions(**options: Any) -> dict[str, Any]:
    """A policy with this guard."""
    return {"name": "p", "guards": [{"use": "secrets", **options}]}


def test_a_payload_that_would_leave_is_quarantined_and_its_tool_isolated_the_third_time() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    policy = with_actions(at={"egress": "quarantine"}, isolate_for_s=60)
    shield = shield_for(policy, clock=clock, store=store)
    other = shield_for(policy, clock=clock, store=store)
    codes = []
    for place in (shield, other, shield):
        decision = place.run("a").egress(
            "https://api.example.com/x", method="POST", payload={"k": KEY}, tool="upload"
        )
        assert decision.action == Action.QUARANTINE
        codes.append(decision.code)
        assert ("tool:upload" in shield.standing().marks) == (len(codes) == 3)
    assert codes == ["secrets.found"] * 3
    assert shield.standing().marks["tool:upload"].state == QUARANTINE
    assert other.run("b").check("upload", {"a": 1}).code == "kernel.quarantined"
    assert other.run("b").check("download", {"a": 1}).proceeds
    clock.advance(60_001)
    assert shield.run("b").check("upload", {"a": 1}).proceeds
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())


def test_repeats_are_counted_by_tool_and_forgotten_after_a_day() -> None:
    clock = FakeClock()
    shield = shield_for(with_actions(action="quarantine", isolate_after=2), clock=clock)
    run = shield.run("a")
    run.check("one", {"k": KEY})
    run.check("two", {"k": KEY})
    assert shield.standing().marks == {}
    clock.advance(86_400_001)
    run.check("one", {"k": KEY})
    assert shield.standing().marks == {}
    run.check("one", {"k": KEY})
    assert list(shield.standing().marks) == ["tool:one"]


def test_a_quarantine_that_does_not_wait_isolates_the_first_time() -> None:
    shield = shield_for(with_actions(action="quarantine", isolate_after=1))
    shield.run("a").check("one", {"k": KEY})
    assert list(shield.standing().marks) == ["tool:one"]


@pytest.mark.parametrize(("isolate_agent", "isolated"), [(True, ["agent:a"]), (False, [])])
def test_where_no_tool_is_at_work_the_agent_is_isolated_or_nobody(
    isolate_agent: bool, isolated: list[str]
) -> None:
    shield = shield_for(
        with_actions(action="quarantine", isolate_after=1, isolate_agent=isolate_agent)
    )
    assert shield.run("a").egress("https://example.com/", payload=KEY).action == Action.QUARANTINE
    assert list(shield.standing().marks) == isolated
    shield.run("b").check("one", {"k": KEY})
    assert list(shield.standing().marks) == [*isolated, "tool:one"]


@pytest.mark.parametrize("stage", ["tool_result", "model_reply"])
def test_safety_003_blocks_what_has_a_secret(stage: str) -> None:
    """A result and a reply with a credential are withheld, and the undo of the tool runs."""
    undone: list[Any] = []
    shield = shield_for(with_actions(action="block"))
    run = shield.run("a")
    if stage == "model_reply":
        assert run.model_reply(f"here: {KEY}").action == Action.BLOCK
        return

    @shield.tool(undo=lambda: undone.append("undone"))
    def read_config() -> dict[str, str]:
        return {"aws": KEY}

    with pytest.raises(Refused) as refused, run:
        read_config()
    assert refused.value.decision.code == "secrets.found"
    assert KEY not in str(refused.value)
    assert undone == ["undone"]


def test_redacting_lets_everything_go_ahead_without_the_secret() -> None:
    shield = shield_for(with_actions())
    tool = ScriptedTool({"echo": [f"x {KEY}"]})
    assert shield.run("a").call(tool, body=f"send {KEY} now") == {
        "echo": ["x [redacted:aws-access-token]"]
    }
    assert tool.calls == [{"body": "send [redacted:aws-access-token] now"}]
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())


def test_one_entry_says_what_becomes_of_secrets_at_each_stage() -> None:
    shield = shield_for(
        with_actions(action="warn", at={"tool_result": "block", "prompt": "redact"})
    )
    run = shield.run("a")
    assert run.check("t", {"k": KEY}).action == Action.WARN
    assert run.prompt(f"use {KEY}").action == Action.REDACT
    with pytest.raises(Refused):
        run.call(ScriptedTool(KEY))


def test_a_guard_in_shadow_mode_counts_no_repeats() -> None:
    shield = shield_for(with_actions(action="quarantine", isolate_after=1, mode="shadow"))
    assert shield.run("a").check("one", {"k": KEY}).proceeds
    assert shield.standing().marks == {}
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())


def test_without_the_store_the_call_is_refused_all_the_same() -> None:
    store = LostStore(MemoryStore(FakeClock()), range(1, 100))
    shield = shield_for(with_actions(action="quarantine"), store=store)
    run = shield.run("a")
    assert not run.check("one", {"k": KEY}).proceeds
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())
