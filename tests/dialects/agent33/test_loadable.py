"""The blocks of the specification that define guardrails load as they stand, and do what they
say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.dialects.agent33 import Guardrails, Verdict
from stanchion.policy.formats.agent33.checks import BUILT_IN
from tests.dialects.agent33.rails import block, only, rails
from tests.dialects.listed import text

LISTS = (140, 167, 194, 221, 250)
BUILT = (386, 402, 418, 431)


def ids(guardrails: Guardrails) -> set[str]:
    return {seat.placed.whole for seat in guardrails.shield.policy.seats}


@pytest.mark.parametrize("line", LISTS)
def test_a_category_loads_with_each_of_its_guardrails(line: int, tmp_path: Path) -> None:
    """From a file as from data; each with its name's check, and with the action that the block
    gives it."""
    (tmp_path / "rails.yaml").write_text(text("agent33", line), encoding="utf-8")
    made = rails(tmp_path / "rails.yaml")
    own = {"post-execution", "pre-handoff", "on-error"}
    assert ids(made) == {each["id"] for each in only(line)} | {*BUILT_IN} | own
    assert {seat.placed.id for seat in made.shield.policy.seats} == {
        seat.placed.id for seat in rails(block(line)).shield.policy.seats
    }


@pytest.mark.parametrize("line", BUILT)
def test_a_built_in_guardrail_has_the_priority_and_the_marks_of_its_block(line: int) -> None:
    said = only(line)
    placed = rails(block(line)).shield.policy.placed(said["id"])
    assert placed is not None
    assert placed.priority == said["priority"]
    marks = {name: float(text.split("%")[0]) for name, text in said.get("thresholds", {}).items()}
    guard: Any = placed.guard
    if marks:
        assert (guard.warn_at, guard.escalate_at, marks["block"]) == (
            marks["warn"],
            marks["escalate"],
            100,
        )
        assert guard.action == "block"
    else:
        assert guard.action == said["action_on_fail"]


def test_the_example_of_a_chain_has_the_order_and_the_priorities_of_its_block() -> None:
    """The priorities stand in its comments."""
    lines = [line for line in text("agent33", 295).splitlines() if "guardrail:" in line]
    said = [(line.split()[2], int(line.rpartition(":")[2])) for line in lines]
    seats = rails(block(295)).shield.policy.seats
    placed = {seat.placed.whole: seat.placed.priority for seat in seats}
    assert [(name, placed[name]) for name, _ in said] == said
    chain = rails(block(295), agents={"a": {}}).hooks("a").pre_execution("read", {})
    reached = [one.guardrail_id for one in chain.details if one.guardrail_id not in BUILT_IN]
    named = [name for name, _ in said]
    assert [name for name in reached if name in named] == [
        name for name in named if name in reached
    ]


def test_the_example_of_a_custom_guardrail_holds_for_whom_it_names() -> None:
    said = only(477)
    agents = {"implementer-1": {"role": "implementer"}, "tester-1": {"role": "test-writer"}}
    made = rails(block(477), agents=agents)
    implementer, tester = made.hooks("implementer-1"), made.hooks("tester-1")
    for tool in said["condition"]["applies_to"]["tools"]:
        for path in ("src/test_login.py", "src/login_test.py"):
            told = implementer.pre_execution(tool, {"file_path": path, "content": "x"})
            assert (told.final_verdict, told.message) == (Verdict.BLOCK, said["description"])
            assert (
                tester.pre_execution(tool, {"file_path": path, "content": "x"}).final_verdict
                == Verdict.PASS
            )
        passed = implementer.pre_execution(tool, {"file_path": "src/login.py", "content": "x"})
        assert passed.final_verdict == Verdict.PASS
    told = implementer.pre_execution("Read", {"file_path": "src/test_login.py"})
    assert told.final_verdict == Verdict.PASS
    placed = made.shield.policy.placed(said["id"])
    assert placed is not None
    assert (placed.priority, placed.category.name.lower()) == (said["priority"], said["category"])
    implementer.pre_execution("Write", {"file_path": "src/test_login.py", "content": "x"})
    asked = implementer.request_bypass(said["id"], "the old test has a wrong number in it")
    assert made.escalation(asked).priority_order[0] == said["bypass"]["requires_approval"]


def test_the_mapping_of_risk_levels_selects_what_its_block_says() -> None:
    """`low` has only the built-in guardrails, `medium` safety and compliance too, the others
    everything; a guardrail that says nothing itself does what the level says."""
    mapping = only(565)["risk_level_mapping"]
    own = {
        category: {"id": f"{category}-050", "name": "own", "check": "event.tool != 'deploy'"}
        for category in ("safety", "compliance", "quality")
    }
    source = {**block(565), **{f"{category}_guardrails": [one] for category, one in own.items()}}
    made = rails(source)
    for level, said in mapping.items():
        told = made.hooks("a", risk_level=level).pre_execution("deploy", {})
        spoke = [one.guardrail_id for one in told.details if one.result != Verdict.PASS]
        default = said["action_on_fail_default"]
        match level:
            case "low":
                assert (told.final_verdict, spoke) == (Verdict.PASS, [])
            case "medium":
                assert (told.final_verdict, spoke) == (default, ["safety-050", "compliance-050"])
            case _:
                assert (told.final_verdict, spoke) == (default, ["safety-050"])
                assert {"compliance-050", "quality-050"} <= set(told.skipped)
    harmless = {
        level: made.hooks("a", risk_level=level).pre_execution("read", {}).final_verdict
        for level in mapping
    }
    assert harmless == {"low": "pass", "medium": "pass", "high": "pass", "critical": "escalate"}
    assert mapping["critical"]["additional"] == "human approval required for any action"
