"""The schemas of the specification against the code, field by field."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import msgspec
import pytest

from stanchion.dialects.agent33 import (
    BypassRefused,
    BypassRequest,
    Category,
    GuardrailResult,
    HookType,
    Urgency,
    Verdict,
)
from stanchion.kernel.option import ACTIONS
from stanchion.policy.errors import PolicyError
from stanchion.policy.formats.agent33.schema import (
    ACTIONS as ON_FAIL,
    Guardrail,
    GuardrailBypass,
    GuardrailCondition,
    GuardrailScope,
    Validation,
)
from stanchion.telemetry.guardrails import GuardrailState
from tests.dialects.agent33.rails import FAILS, HOLDS, WHY, only, rail, rails

WHOLE = {
    "guardrail": {
        "id": "safety-050",
        "name": "own",
        "type": "pre_execution",
        "priority": 10,
        "category": "safety",
        "condition": {"expression": "event.tool == 'deploy'"},
        "validation": {"check": FAILS, "action_on_fail": "block"},
        "bypass": {"allowed": True, "requires_approval": "reviewer", "audit_required": True},
    }
}


def words(said: str) -> list[str]:
    """The words of an alternative such as `block | warn`."""
    return [word.strip() for word in said.split("|")]


def fields(kind: type[msgspec.Struct]) -> set[str]:
    return set(kind.__struct_fields__)


@pytest.mark.parametrize("line", [20, 450])
def test_a_guardrail_has_the_fields_of_its_schema(line: int) -> None:
    """Each field of the block is one of the struct, with the words that the block gives it; none is
    left over, but for those that the template adds."""
    said = only(line)
    assert set(said) <= fields(Guardrail)
    assert fields(Guardrail) - set(said) == ({"description", "enabled"} if line == 20 else set())
    assert words(said["type"]) == list(HookType)
    assert sorted(words(said["category"])) == sorted(Category)
    assert set(said["condition"]) == fields(GuardrailCondition) - (
        set() if line == 450 else {"applies_to"}
    )
    assert set(said["validation"]) == fields(Validation)
    assert words(said["validation"]["action_on_fail"]) == list(ON_FAIL)
    assert set(said["bypass"]) == fields(GuardrailBypass)
    assert said["bypass"]["audit_required"] is True
    if line == 450:
        assert set(said["condition"]["applies_to"]) == fields(GuardrailScope)


@pytest.mark.parametrize("field", ["id", "name", "type", "category", "validation"])
def test_a_guardrail_without_one_of_its_fields_is_refused(field: str) -> None:
    said = {key: value for key, value in WHOLE["guardrail"].items() if key != field}
    with pytest.raises(PolicyError, match=f"`{field}`"):
        rails({"guardrail": said})


def test_every_field_of_a_guardrail_is_read() -> None:
    """What it says, to whom, and who may let something past it."""
    made = rails(WHOLE)
    hooks = made.hooks("a")
    assert hooks.pre_execution("read", {}).final_verdict == Verdict.PASS
    told = hooks.pre_execution("deploy", {})
    assert [(one.guardrail_id, one.result) for one in told.details][-1] == (
        "safety-050",
        Verdict.BLOCK,
    )
    assert made.escalation(hooks.request_bypass("safety-050", WHY)).priority_order[0] == "reviewer"


@pytest.mark.parametrize("hook", list(HookType))
def test_each_of_the_five_types_judges_at_its_hook_alone(hook: HookType) -> None:
    made = rails({"guardrail": rail(FAILS, "warn", hook)}, policy={"limits": {"warnings": 9}})
    hooks = made.hooks("a")
    before = hooks.pre_execution("read", {})
    payload: Any = {"context": {"a": 1}, "artifacts": [], "rationale": "it is done"}
    handed = hooks.pre_handoff("b", **payload)
    told = {
        HookType.PRE_EXECUTION: before,
        HookType.POST_EXECUTION: hooks.post_execution("read", {}, "words", after=before),
        HookType.PRE_HANDOFF: handed,
        HookType.POST_HANDOFF: hooks.post_handoff("b", after=handed),
        HookType.ON_ERROR: hooks.on_error("read", ValueError("no")),
    }
    said = {
        at: "safety-050" in [one.guardrail_id for one in result.details]
        for at, result in told.items()
    }
    assert said == {at: at is hook for at in HookType}
    assert told[hook].hook is hook
    assert told[hook].final_verdict == Verdict.WARN


@pytest.mark.parametrize("action", ON_FAIL)
def test_each_action_on_failure_gives_its_verdict(action: str) -> None:
    """`log` is recorded, and passes."""
    told = rails({"guardrail": rail(FAILS, action)}).hooks("a").pre_execution("deploy", {})
    expected = Verdict.PASS if action == "log" else Verdict(action)
    assert told.final_verdict == expected
    assert told.proceeds == (action in ("warn", "log"))
    assert [(one.guard, one.action) for one in told.decision.findings] == [
        ("safety-050", ACTIONS["allow" if action == "log" else action])
    ]


@pytest.mark.parametrize(
    ("whom", "agent", "task", "tool"),
    [
        ({"agents": ["bot-*"]}, "bot-1", "any", "any"),
        ({"tasks": ["fix-*"]}, "any", "fix-1", "any"),
        ({"tools": ["deploy"]}, "any", "any", "deploy"),
        ({"agents": "*", "tasks": "*", "tools": "*"}, "any", "any", "any"),
    ],
)
def test_a_guardrail_applies_to_whom_it_names(
    whom: dict[str, Any], agent: str, task: str, tool: str
) -> None:
    made = rails({"guardrail": rail(FAILS, condition={"applies_to": whom})})
    assert made.hooks(agent, task).pre_execution(tool, {}).final_verdict == Verdict.BLOCK
    others = [("other", task, tool), (agent, "other", tool), (agent, task, "other")]
    told = [made.hooks(who, on).pre_execution(with_, {}).final_verdict for who, on, with_ in others]
    assert told == [
        Verdict.PASS if whom.get(part, "*") != "*" else Verdict.BLOCK
        for part in ("agents", "tasks", "tools")
    ]


@pytest.mark.parametrize("given", [False, None, "no"])
def test_an_audit_of_bypasses_cannot_be_switched_off(given: object) -> None:
    said = {
        **WHOLE["guardrail"],
        "bypass": {"allowed": True, "requires_approval": "reviewer", "audit_required": given},
    }
    with pytest.raises(PolicyError, match="audit_required"):
        rails({"guardrail": said})
    with pytest.raises(msgspec.ValidationError, match="audit_required"):
        msgspec.convert(said["bypass"], GuardrailBypass)


def test_the_result_of_a_chain_has_the_fields_of_its_schema() -> None:
    said = only(307)
    assert sorted(words(said["final_verdict"])) == sorted(Verdict)
    (detail,) = said["details"]
    assert list(detail) == list(GuardrailResult.__struct_fields__)
    assert sorted(words(detail["result"])) == sorted(Verdict)
    told = rails({"guardrail": rail(FAILS)}).hooks("a").pre_execution("deploy", {})
    made = told.as_dict()
    assert set(made) == set(said) - {"resolution"}
    kinds = {"string": str, "number": float}
    for one in made["details"]:
        assert list(one) == list(detail)
        for name in ("guardrail_id", "message", "duration_ms"):
            assert isinstance(one[name], kinds[detail[name]])


@pytest.mark.parametrize(
    "said",
    [
        ("pass", "pass"),
        ("warn", "pass"),
        ("escalate", "warn"),
        ("warn", "escalate"),
        ("escalate", "block"),
    ],
)
def test_the_final_verdict_is_the_worst_as_its_block_says(said: tuple[str, str]) -> None:
    """The order is read out of the rules of the block."""
    order = [re.findall(r'"(\w+)"', str(rule))[0] for rule in only(307)["resolution"]]
    assert order == ["block", "escalate", "warn", "pass"]
    named = [
        rail(FAILS if each != "pass" else HOLDS, each if each != "pass" else "warn")
        for each in said
    ]
    made = rails({"guardrails": [{**one, "id": f"safety-05{at}"} for at, one in enumerate(named)]})
    told = made.hooks("a").pre_execution("deploy", {})
    assert [
        str(one.result) for one in told.details if one.guardrail_id.startswith("safety")
    ] == list(said)
    assert told.final_verdict == min(said, key=order.index)
    assert told.proceeds == (told.final_verdict in ("pass", "warn"))


def test_a_bypass_request_has_the_fields_of_its_schema() -> None:
    said = only(510)
    assert list(said) == [name for name in BypassRequest.__struct_fields__ if name != "ticket"]
    assert words(said["urgency"]) == list(Urgency)
    hooks = rails(WHOLE).hooks("ann")
    hooks.pre_execution("deploy", {})
    made = hooks.request_bypass("safety-050", WHY, Urgency.URGENT)
    assert UUID(made.id).version == 4
    assert (made.guardrail_id, made.requested_by, made.reason, made.urgency) == (
        "safety-050",
        "ann",
        WHY,
        "urgent",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made.timestamp)
    for empty in ("", "please", "urgent emergency now"):
        with pytest.raises(BypassRefused, match="reason"):
            hooks.request_bypass("safety-050", empty)


def test_the_state_of_a_guardrail_has_the_fields_of_its_schema() -> None:
    said = only(617)["per_guardrail"]
    assert list(said) == [
        name for name in GuardrailState.__struct_fields__ if name != "guardrail_id"
    ]
    made = rails({"guardrail": rail("event.tool != 'deploy'")})
    hooks = made.hooks("a")
    for tool in ("read", "deploy", "read"):
        hooks.pre_execution(tool, {})
    state = made.runtime_state()["safety-050"]
    assert (state.enabled, state.invocation_count, state.pass_count, state.block_count) == (
        True,
        3,
        2,
        1,
    )
    assert (state.warn_count, state.escalate_count) == (0, 0)
    assert state.avg_duration_ms is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", str(state.last_triggered))
    idle = made.runtime_state()["on-error"]
    assert (idle.enabled, idle.invocation_count, idle.last_triggered) == (True, 0, None)


def test_a_guardrail_that_is_switched_off_is_not_enabled() -> None:
    made = rails(
        {"guardrails": [rail(FAILS), {**rail(FAILS), "id": "safety-051", "enabled": False}]}
    )
    state = made.runtime_state()
    assert (state["safety-050"].enabled, state["safety-051"].enabled) == (True, False)
