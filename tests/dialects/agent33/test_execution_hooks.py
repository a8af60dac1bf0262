"""The hooks before and after execution: every line of their blocks is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.agent33 import Hooks, Verdict
from tests.dialects.agent33.rails import FAILS, Deeds, Refusing, block, only, rail, rails

OPEN = {"limits": {"warnings": 99}}


def verdicts(hooks: Hooks, *calls: tuple[str, dict[str, Any]], **more: Any) -> list[Verdict]:
    return [hooks.pre_execution(tool, args, **more).final_verdict for tool, args in calls]


def write(path: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": "x"}


def test_the_action_is_within_the_scope_of_its_task() -> None:
    tasks = {"fix": {"scope": {"files": {"write": ["src/**"], "deny": ["src/keys/**"]}}}}
    hooks = rails(tasks=tasks).hooks("a", "fix")
    assert verdicts(hooks, write("src/login.py"), write("docs/x.md"), write("src/keys/id")) == [
        "pass",
        "block",
        "block",
    ]


def test_the_budget_suffices_for_the_action() -> None:
    hooks = rails(tasks={"fix": {"token_budget": 100}}, autonomy=False).hooks("a", "fix")
    assert hooks.pre_execution("read", {}, estimated_tokens=101).final_verdict == Verdict.BLOCK
    assert hooks.pre_execution("read", {}, estimated_tokens=70).final_verdict == Verdict.PASS
    assert hooks.pre_execution("read", {}, estimated_tokens=31).final_verdict == Verdict.BLOCK


def test_the_tool_is_on_the_allowlist() -> None:
    made = rails(agents={"a": {"allowed_tools": ["read"]}, "none": {"allowed_tools": []}})
    assert verdicts(made.hooks("a"), ("read", {}), ("deploy", {})) == ["pass", "block"]
    assert verdicts(made.hooks("none"), ("read", {})) == ["block"]


def test_no_target_file_is_locked_by_another_agent() -> None:
    made = rails({"compliance_guardrails": only(194)[:1]})
    ann, bob = made.hooks("ann"), made.hooks("bob")
    ann.run.lock("src/login.py")
    assert verdicts(ann, write("src/login.py")) == ["pass"]
    assert verdicts(bob, write("src/login.py")) == ["block"]
    ann.run.unlock("src/login.py")
    bob.run.lock("src/login.py")
    assert verdicts(bob, write("src/login.py")) == ["pass"]


BEFORE: dict[str, Callable[[], None]] = {
    "Validate the action is within scope": test_the_action_is_within_the_scope_of_its_task,
    "Check autonomy budget is sufficient": test_the_budget_suffices_for_the_action,
    "Verify tool is on the allowlist": test_the_tool_is_on_the_allowlist,
    "Confirm target files are not locked by another agent": test_no_target_file_is_locked_by_another_agent,  # noqa: E501
}


def test_the_hook_before_execution_is_for_what_its_block_says() -> None:
    said = only(47)
    assert list(said) == ["trigger", "timing", "purpose", "on_block", "on_warn"]
    assert said["purpose"] == list(BEFORE)


def test_execution_waits_until_the_hook_has_completed() -> None:
    assert only(47)["timing"].startswith("synchronous")
    deeds, refusing = Deeds(), Refusing("tool_call")
    with pytest.raises(Refused, match="not today"):
        rails(guards=[refusing]).hooks("a").execute(deeds.deploy)
    assert (refusing.asked, deeds.done) == (1, [])


def test_a_blocked_action_is_prevented_and_the_agent_receives_the_reason() -> None:
    assert only(47)["on_block"] == "action is prevented, agent receives rejection with reason"
    deeds = Deeds()
    made = rails(
        {"guardrail": rail("event.tool != 'deploy'", description="deployments are for release day")}
    )
    hooks = made.hooks("a")
    with pytest.raises(Refused, match="deployments are for release day"):
        hooks.execute(deeds.deploy)
    assert deeds.done == []
    assert hooks.pre_execution("deploy", {}).message == "deployments are for release day"


def test_a_warned_action_proceeds_and_the_warning_is_logged_and_told() -> None:
    assert only(47)["on_warn"] == "action proceeds, warning logged, agent notified"
    deeds = Deeds()
    made = rails({"guardrail": rail(FAILS, "warn", description="mind the hour")})
    hooks = made.hooks("a")
    assert hooks.execute(deeds.deploy) == "deployed here"
    assert any("mind the hour" in one for one in hooks.warnings())
    kept = [one.read() for one in made.shield.journal.kept()]
    assert [(one.guard, one.action) for one in kept[0].findings] == [("safety-050", "WARN")]


def test_output_is_neither_empty_nor_an_error() -> None:
    tools = {"tools": {"read_page": {"effect": "read"}}}
    hooks = rails({"quality_guardrails": only(167)[:1]}, policy={**tools, **OPEN}).hooks("a")
    said = [
        "",
        "  ",
        None,
        "Error: no such page",
        "Traceback (most recent call last):\nValueError: x",
        "words",
        0,
    ]
    told = [hooks.post_execution("read_page", {}, output).final_verdict for output in said]
    assert told == ["warn", "warn", "warn", "warn", "warn", "pass", "pass"]


def test_output_has_no_sensitive_data() -> None:
    hooks = rails({"safety_guardrails": only(140)[2:3]}).hooks("a")
    said = [
        "key: AKIAQ3EGRPYX7K2LMN5T",
        "password = 'hR7!kd93_pQz'",
        "token ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "she is ann.lee@example.org, card 4539 1488 0343 6467",
        "the page has no such thing",
    ]
    told = [hooks.post_execution("read_page", {}, output).final_verdict for output in said]
    assert told == ["block", "block", "block", "block", "pass"]


def test_output_conforms_to_its_schema() -> None:
    schema = {
        "type": "object",
        "required": ["degrees"],
        "properties": {"degrees": {"type": "number"}},
    }
    policy = {"tools": {"weather": {"result_schema": schema}}}
    hooks = rails({"quality_guardrails": only(167)[1:2]}, policy=policy).hooks("a")
    told = [
        hooks.post_execution("weather", {}, output).final_verdict
        for output in ({"degrees": 9}, {"degrees": "9"})
    ]
    assert told == ["pass", "block"]


def test_what_was_used_is_counted() -> None:
    hooks = rails(tasks={"fix": {"token_budget": 100}}, autonomy=False).hooks("a", "fix")
    first = hooks.pre_execution("read", {}, estimated_tokens=70)
    hooks.post_execution("read", {}, "words", after=first, tokens=20)
    assert hooks.pre_execution("read", {}, estimated_tokens=81).final_verdict == Verdict.BLOCK
    assert hooks.pre_execution("read", {}, estimated_tokens=79).final_verdict == Verdict.ESCALATE
    assert hooks.pre_execution("read", {}, estimated_tokens=59).final_verdict == Verdict.PASS


AFTER: dict[str, Callable[[], None]] = {
    (
        "Validate output quality (no empty results, no obvious errors)"
    ): test_output_is_neither_empty_nor_an_error,
    (
        "Check for sensitive data in output (secrets, credentials, PII)"
    ): test_output_has_no_sensitive_data,
    "Verify output conforms to expected schema": test_output_conforms_to_its_schema,
    "Update budget consumption counters": test_what_was_used_is_counted,
}


def test_the_hook_after_execution_is_for_what_its_block_says() -> None:
    said = only(64)
    assert list(said) == ["trigger", "timing", "purpose", "on_block", "on_warn"]
    assert said["purpose"] == list(AFTER)


def test_the_commit_waits_until_the_hook_has_completed() -> None:
    """Section 10 lets this hook be asynchronous where nothing needs to wait for it; here the result
    does."""
    assert only(64)["timing"].startswith("synchronous")
    deeds, refusing = Deeds(), Refusing("tool_result")
    with pytest.raises(Refused, match="not today"):
        rails(guards=[refusing]).hooks("a").execute(deeds.deploy)
    assert (refusing.asked, deeds.done) == (1, ["here"])


def test_a_blocked_result_is_discarded_and_rolled_back() -> None:
    assert only(64)["on_block"] == "results are discarded, action rolled back if possible"
    deeds = Deeds()
    undone: list[str] = []
    made = rails({"guardrail": rail(FAILS, "block", "post_execution")})
    tool = made.shield.tool(undo=undone.append)(deeds.deploy)
    hooks = made.hooks("a")
    with pytest.raises(Refused) as refused:
        hooks.execute(tool, "there")
    assert (deeds.done, undone) == (["there"], ["there"])
    assert "deployed there" not in str(refused.value)
    assert hooks.run.partial == ()


def test_a_warned_result_is_committed_with_an_annotation() -> None:
    assert only(64)["on_warn"] == "results committed with warning annotation"
    made = rails({"guardrail": rail(FAILS, "warn", "post_execution", description="it came late")})
    hooks = made.hooks("a")
    assert hooks.execute(Deeds().deploy) == "deployed here"
    last = [one.read() for one in made.shield.journal.kept()][-1]
    assert (last.stage, last.content, [one.guard for one in last.findings]) == (
        "tool_result", "deployed here", ["safety-050"],
    )  # fmt: skip
    assert any("it came late" in one for one in hooks.warnings())


def test_every_guardrail_of_the_specification_is_in_the_pack() -> None:
    named = [one["id"] for line in (140, 167, 194, 221, 250) for one in only(line)]
    named += [only(line)["id"] for line in (386, 402, 418, 431)]
    state = rails("agent-33").runtime_state()
    assert set(named) <= set(state)
    assert all(state[name].enabled for name in named)
    assert len(named) == 24
    assert block(295)["pre_execution_chain"][0]["guardrail"] in named
