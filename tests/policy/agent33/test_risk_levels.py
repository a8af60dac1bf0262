"""Risk levels of guardrail files: the mapping as the specification writes it, and the default
action of each level."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Action, PolicyError
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for
from tests.policy.agent33.spec import SPEC

MAPPING: Final = SPEC["risk_integration"].read_text("utf-8")
LEVELS: Final = (None, "low", "medium", "high", "critical")
SILENT: Final = """
custom_guardrail:
  id: custom-scope-001
  name: No deploys
  type: pre_execution
  category: scope
  validation: {check: "action.tool_name != 'deploy'"}
safety_guardrails:
  - {id: safety-001, name: No destruction, check: destructive_command_block}
budget_guardrails:
  - {id: budget-003, name: Few calls, check: api_call_limit}
"""
"""Guardrails that say no action: a condition, a check of several guards, and one that counts."""
EVERYWHERE: Final = MAPPING.replace("builtin-004]", "builtin-004, '*-0*']").replace(
    "compliance-*]", "compliance-* + *-0*]"
)


def rails(folder: Path, text: str) -> Path:
    path = folder / "rails.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def fault_of(folder: Path, text: str) -> str:
    with pytest.raises(PolicyError) as error:
        load_policy(rails(folder, text))
    assert len(error.value.faults) == 1, str(error.value)
    return str(error.value)


def test_the_mapping_is_read_as_it_is_written(tmp_path: Path) -> None:
    said = load_policy(rails(tmp_path, MAPPING)).file.risk.given()
    assert {level: entry.active for level, entry in said.items()} == {
        "low": ("builtin-001", "builtin-002", "builtin-003", "builtin-004"),
        "medium": ("builtin-*", "safety-*", "compliance-*"),
        "high": ("*",),
        "critical": ("*",),
    }
    assert [level for level, entry in said.items() if entry.strict_marks and entry.approval] == [
        "critical"
    ]
    assert not any(
        entry.strict_marks or entry.approval for level, entry in said.items() if level != "critical"
    )


ACTIONS: Final = {
    None: "BLOCK",
    "low": "WARN",
    "medium": "ESCALATE",
    "high": "BLOCK",
    "critical": "BLOCK",
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_default_of_the_level_fills_in_for_guardrails_that_say_none(
    tmp_path: Path, level: Any
) -> None:
    shield = shield_for(rails(tmp_path, EVERYWHERE + SILENT))
    with shield.run("a", risk=level) as run:
        for tool, args, whole in (
            ("deploy", {}, "custom-scope-001"),
            ("bash", {"command": "rm -rf /"}, "safety-001"),
        ):
            decision = run.check(tool, args)
            assert decision.action.name == ACTIONS[level]
            assert decision.determining is not None
            placed = shield.policy.placed(decision.determining.guard)
            assert placed is not None
            assert placed.whole == whole


def test_guardrails_that_say_their_action_keep_it_and_so_do_built_in_ones(tmp_path: Path) -> None:
    """At `low` the default is a warning: the files of the task are still kept."""
    text = EVERYWHERE + SILENT.replace("'deploy'\"", "'deploy'\", action_on_fail: escalate")
    rails(tmp_path, text)
    policy = {
        "name": "p",
        "extends": str(tmp_path / "rails.yaml"),
        "tasks": {"t": {"files": {"write": ["src/**"]}}},
    }
    with shield_for(policy).run("a", "t", risk="low") as run:
        assert run.check("deploy", {}).action is Action.ESCALATE
        assert run.check("write_file", {"path": "docs/x", "content": ""}).action is Action.BLOCK


def test_runs_of_one_task_count_together_whatever_their_levels_are(tmp_path: Path) -> None:
    rails(tmp_path, EVERYWHERE + SILENT)
    policy = {
        "name": "p",
        "extends": str(tmp_path / "rails.yaml"),
        "autonomy": False,
        "tasks": {"t": {"budget": {"api_calls": 2}}},
    }
    shield = shield_for(policy)
    found = []
    for level in ("high", "low", "medium"):
        with shield.run("a", "t", risk=level) as run:
            found.append(run.egress("https://example.com/").action)
    assert found == [Action.ALLOW, Action.WARN, Action.ESCALATE]


WRONG: Final = {
    (
        "`action_on_fail`: write one of `block`, `warn`, `escalate`, `log`, or give risk levels"
    ): SILENT[: SILENT.index("safety")],
    "`most of them` does not name guardrails": MAPPING.replace(
        "all guardrails]", "most of them]", 1
    ),
    "`wran` is not a value of `action_on_fail_default`: did you mean `warn`?": MAPPING.replace(
        ": warn", ": wran"
    ),
    "`ask twice` is not known here": MAPPING.replace(
        "human approval required for any action", "ask twice"
    ),
    "there is no guard `builtin-009` to be active": MAPPING.replace("builtin-004", "builtin-009"),
    "cannot only log, which is the default at `low`: give `budget-003`": MAPPING.replace(
        ": warn", ": log"
    )
    + SILENT[SILENT.index("budget") :],
}


@pytest.mark.parametrize("said", WRONG)
def test_a_mistake_is_one_line(tmp_path: Path, said: str) -> None:
    assert said in fault_of(tmp_path, WRONG[said])


def test_two_files_cannot_both_map_levels(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(MAPPING, encoding="utf-8")
    with pytest.raises(
        PolicyError,
        match=r"b\.yaml.*risk levels are mapped a second time: the first is at .*a\.yaml",
    ):
        load_policy(tmp_path)


def test_the_pack_drops_quality_at_low_and_asks_at_critical() -> None:
    shield = shield_for("agent-33")
    found = {}
    for level in LEVELS:
        with shield.run("a", risk=level) as run:
            refused = (
                run.check("bash", {"command": "rm -rf /"}).action,
                run.check("bash", {"command": "ls"}).action,
            )
            found[level] = (*refused, run.model_reply("", final=True).action)
    allow, warn, block = Action.ALLOW, Action.WARN, Action.BLOCK
    assert found == {
        None: (block, allow, warn),
        "low": (allow, allow, allow),
        "medium": (block, allow, allow),
        "high": (block, allow, warn),
        "critical": (block, Action.ESCALATE, warn),
    }
