"""AGENT-33 guardrail files load as the specification writes them, and what is wrong with one is
said in one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from stanchion import Action, PolicyError, Shield
from stanchion.policy.formats.agent33.checks import CHECKS, HOOKS
from stanchion.policy.load import load_policy
from stanchion.policy.nearest import SHOWN
from stanchion.testing import shield_for
from tests.policy.agent33.spec import SPEC

BUILT_IN: Final = ["builtin-001", "builtin-002", "builtin-003", "builtin-004"]
OWN: Final = [one["id"] for one in HOOKS]
"""What stands beside the guardrails of a file, whatever it says."""
MISTAKES: Final = yaml.safe_load((Path(__file__).with_name("mistakes.yaml")).read_text("utf-8"))


def block(name: str) -> str:
    return SPEC[name].read_text("utf-8")


def written(folder: Path, text: str, name: str = "rails.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def fault_of(folder: Path, text: str) -> str:
    """The one line that is said about a file."""
    path = written(folder, text)
    with pytest.raises(PolicyError) as error:
        load_policy(path)
    assert len(error.value.faults) == 1, str(error.value)
    return str(error.value).removeprefix(f"{path}:")


def changed(name: str, old: str, new: str) -> str:
    text = block(name)
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("name", SPEC)
def test_every_block_of_the_specification_loads_as_it_is_written(name: str) -> None:
    policy = load_policy(SPEC[name])
    said = [line.partition("#")[0] for line in block(name).splitlines()]
    named = [
        line.split()[-1] for line in said if line.strip(" -").startswith(("id:", "guardrail: "))
    ]
    ids = [seat.placed.whole for seat in policy.seats]
    assert named or name == "risk_integration"
    assert sorted({*named, *BUILT_IN, *OWN}) == sorted(set(ids))


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"command": "rm -rf /"}),
        ("bash", {"command": "git push --force origin main"}),
        ("run_sql", {"query": "DROP TABLE users"}),
    ],
)
def test_a_guardrail_of_several_guards_refuses_what_any_of_them_finds(
    tool: str, args: dict[str, str]
) -> None:
    decision = Shield.load(SPEC["safety_guardrails"]).run("a").check(tool, args)
    assert decision.action == Action.BLOCK
    placed = load_policy(SPEC["safety_guardrails"]).placed(
        decision.determining.guard if decision.determining else ""
    )
    assert placed is not None
    assert placed.whole == "safety-001"


def test_what_no_guardrail_is_about_goes_ahead() -> None:
    run = Shield.load(SPEC["safety_guardrails"]).run("a")
    assert run.check("bash", {"command": "git status"}).proceeds
    assert run.check("run_sql", {"query": "SELECT 1"}).proceeds
    assert run.check("read_file", {"path": "src/login.py"}).proceeds
    assert not run.check("read_file", {"path": ".env"}).proceeds
    assert not run.check("write_file", {"path": "../other/x.py", "content": ""}).proceeds
    assert not run.result("read_page", {}, "key: AKIAQ3EGRPYX7K2LMN5T").proceeds


SENSITIVE = (
    "server.pem", "credentials.json", "secrets.yaml", "private.key", "id_rsa", "credentials",
    "config/.env.production", "keys/foo", ".env",
)  # fmt: skip


@pytest.mark.parametrize("path", SENSITIVE)
def test_sensitive_files_are_neither_read_nor_changed(path: str) -> None:
    """By tools and by commands alike."""
    run = Shield.load(SPEC["safety_guardrails"]).run("a")
    for tool, args in (
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": "x"}),
        ("delete_file", {"path": path}),
        ("bash", {"command": f"cat {path}"}),
        ("bash", {"command": f"echo x > {path}"}),
        ("bash", {"command": f"rm {path}"}),
    ):
        decision = run.check(tool, args)
        assert decision.action is Action.BLOCK, (tool, args)
        assert decision.determining is not None
        assert decision.determining.guard == "safety-002"


@pytest.mark.parametrize("path", ["src/keys.py", "i18n/keys.json", ".env.example", "cacert.pem"])
def test_what_is_only_named_like_them_is_read_and_changed(path: str) -> None:
    run = Shield.load(SPEC["safety_guardrails"]).run("a")
    assert run.check("read_file", {"path": path}).proceeds
    assert run.check("write_file", {"path": path, "content": "x"}).proceeds


def test_the_example_of_the_specification_works_as_written(tmp_path: Path) -> None:
    text = (
        f"name: team\nextends: {SPEC['custom_guardrail']}\nagents: {{'*-1': {{role: "
        f"implementer}}}}\n"
    )
    shield = Shield.load(written(tmp_path, text))
    run = shield.run("implementer-1")
    refused = run.check("Write", {"file_path": "src/test_login.py", "content": "x"})
    assert (refused.action, refused.determining.guard if refused.determining else "") == (
        Action.BLOCK,
        "custom-scope-001",
    )
    assert refused.message.startswith("Implementer agents should not modify test files")
    assert not run.check("Edit", {"file_path": "pkg/login_test.go", "content": "x"}).proceeds
    assert run.check("Write", {"file_path": "src/login.py", "content": "x"}).proceeds
    assert run.check("Read", {"file_path": "src/test_login.py"}).proceeds
    assert (
        shield.run("tester-1")
        .check("Write", {"file_path": "src/test_login.py", "content": "x"})
        .proceeds
    )


def test_the_example_of_a_chain_attaches_guardrails_in_its_order() -> None:
    policy = load_policy(yaml.safe_load(block("pre_execution_chain")))
    order = {
        seat.placed.whole: seat.placed.priority
        for seat in policy.seats
        if seat.placed.whole not in (*BUILT_IN, *OWN)
    }
    assert order == {
        "safety-001": 10, "safety-002": 10, "compliance-001": 20, "budget-001": 30, "scope-002": 40,
        "quality-002": 50,
    }  # fmt: skip
    placed = policy.placed("quality-002")
    assert placed is not None
    assert "tool_call" in placed.stages


def test_a_chain_out_of_order_is_refused(tmp_path: Path) -> None:
    text = "pre_execution_chain:\n  - guardrail: scope-002\n  - guardrail: safety-001\n"
    assert fault_of(tmp_path, text) == (
        "3:16: `safety-001` has the priority 10 and runs before `scope-002`, which has 40: list it "
        "before that one"
    )


def test_a_folder_is_one_policy_and_its_files_are_watched(tmp_path: Path) -> None:
    for name in ("safety_guardrails", "scope_guardrails", "custom_guardrail"):
        written(tmp_path, block(name), f"{name}.yaml")
    policy = load_policy(tmp_path)
    ids = {seat.placed.whole for seat in policy.seats}
    assert {"safety-001", "scope-004", "custom-scope-001", *BUILT_IN} <= ids
    assert {path.name for path in policy.files} >= {
        "safety_guardrails.yaml",
        "scope_guardrails.yaml",
    }
    assert tmp_path in policy.files


def test_a_folder_with_another_file_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "name: mine\n", "mine.yaml")
    with pytest.raises(PolicyError, match=r"mine\.yaml.*is not a guardrail file"):
        load_policy(tmp_path)


def test_a_bad_file_keeps_the_old_policy(tmp_path: Path) -> None:
    path = written(tmp_path, block("safety_guardrails"), "safety.yaml")
    shield = Shield.load(tmp_path)
    before = shield.policy.hash
    written(
        tmp_path, block("custom_guardrail").replace("priority: 110", "priority: 50"), "custom.yaml"
    )
    with pytest.raises(PolicyError, match=r"custom\.yaml:7:13: custom guardrails run after"):
        shield.reload()
    assert shield.policy.hash == before
    assert not shield.run("a").check("bash", {"command": "rm -rf /"}).proceeds
    written(tmp_path, block("custom_guardrail"), "custom.yaml")
    shield.reload()
    assert shield.policy.placed("custom-scope-001") is not None
    assert path.exists()


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: row["new"])
def test_a_mistake_is_one_line_with_its_place(row: dict[str, str], tmp_path: Path) -> None:
    assert fault_of(tmp_path, changed(row["block"], row["old"], row["new"])).startswith(row["says"])


def test_an_unknown_check_is_refused_with_the_names_that_there_are(tmp_path: Path) -> None:
    text = changed(
        "safety_guardrails", "action stays within designated sandbox directory", "action is nice"
    )
    said = fault_of(tmp_path, text)
    assert said.startswith("19:12: `action is nice`: there is no such check")
    assert f"or a named check: choose among `{min(CHECKS)}`" in said
    assert said.endswith(f"and {len(CHECKS) - SHOWN} more")
    near = changed(
        "safety_guardrails", "action stays within designated sandbox directory", "lint_cleen"
    )
    assert fault_of(tmp_path, near).endswith("or a named check: did you mean `lint_clean`?")


@pytest.mark.parametrize(
    ("check", "passes"),
    [
        ("false", False),
        ("true", True),
        ("(false)", False),
        ("not true", False),
        ("1 == 2", False),
        ("1 < 2", True),
    ],
)
def test_a_constant_is_a_condition(check: str, passes: bool) -> None:
    said = full(condition={"expression": "event.tool == 'deploy'"})
    said["guardrail"]["validation"]["check"] = check
    run = shield_for(said).run("a")
    assert run.check("deploy", {}).proceeds is passes
    assert run.check("read", {}).proceeds


@pytest.mark.parametrize("check", ["'false'", "1", "null", "[]"])
def test_a_constant_that_says_neither_yes_nor_no_is_no_check(check: str) -> None:
    said = full()
    said["guardrail"]["validation"]["check"] = check
    with pytest.raises(PolicyError, match="there is no such check"):
        shield_for(said)


def test_a_guardrail_is_defined_once(tmp_path: Path) -> None:
    written(tmp_path, block("safety_guardrails"), "a.yaml")
    written(tmp_path, block("safety_guardrails"), "b.yaml")
    with pytest.raises(
        PolicyError,
        match=r"b\.yaml:2:9: `safety-001` is defined a second time: the first is at .*a\.yaml:2:5",
    ):
        load_policy(tmp_path)


def full(**changes: Any) -> dict[str, Any]:
    """A guardrail written out in full."""
    validation = {
        "check": "event.tool != 'deploy'",
        "action_on_fail": changes.pop("action", "block"),
    }
    said = {
        "id": "safety-050",
        "name": "no_deploy",
        "type": "pre_execution",
        "category": "safety",
        "priority": 10,
    }
    return {"guardrail": {**said, "validation": validation, **changes}}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("block", Action.BLOCK),
        ("escalate", Action.ESCALATE),
        ("warn", Action.WARN),
        ("log", Action.ALLOW),
    ],
)
def test_each_action_on_failure_is_carried_out(action: str, expected: Action) -> None:
    decision = Shield.load(full(action=action)).run("a").check("deploy", {})
    assert (decision.action, [finding.guard for finding in decision.findings]) == (
        expected,
        ["safety-050"],
    )


@pytest.mark.parametrize(
    ("hook", "stage"),
    [
        ("pre_execution", "tool_call"),
        ("post_execution", "tool_result"),
        ("pre_handoff", "handoff"),
        ("post_handoff", "handoff_done"),
        ("on_error", "error"),
    ],
)
def test_each_type_stands_at_its_stage(hook: str, stage: str) -> None:
    placed = load_policy(full(type=hook, action="warn")).placed("safety-050")
    assert placed is not None
    assert placed.stages == {stage}


def test_a_custom_guardrail_can_be_switched_off() -> None:
    said = yaml.safe_load(changed("custom_guardrail", "enabled: true", "enabled: false"))
    assert load_policy(said).placed("custom-scope-001") is None


def test_budgets_of_two_tasks_differ(tmp_path: Path) -> None:
    tasks = "tasks: {small: {budget: {tokens: 100}}, large: {budget: {tokens: 1000}}}\n"
    path = written(tmp_path, f"name: team\nextends: {SPEC['builtin_token_budget']}\n{tasks}")
    shield = Shield.load(path)
    small, large = shield.run("a", task="small"), shield.run("a", task="large")
    assert small.check("write", {}, tokens=79).action == Action.ALLOW
    assert large.check("write", {}, tokens=79).action == Action.ALLOW
    assert small.check("write", {}, tokens=22).action == Action.BLOCK
    assert large.check("write", {}, tokens=22).action == Action.ALLOW


@pytest.mark.parametrize(
    ("category", "priority"),
    [("safety", 10), ("compliance", 20), ("budget", 30), ("scope", 40), ("quality", 50)],
)
def test_a_guardrail_stands_where_its_category_does(category: str, priority: int) -> None:
    rule = {
        "id": f"{category}-050",
        "name": "no_deploy",
        "check": "event.tool != 'deploy'",
        "action_on_fail": "warn",
    }
    placed = load_policy({f"{category}_guardrails": [rule]}).placed(rule["id"])
    assert placed is not None
    assert (placed.priority, placed.category.name.lower()) == (priority, category)


def test_a_custom_guardrail_may_have_the_priority_100() -> None:
    """The template says more than 100, the notes say 100 and more: the notes count."""
    said = yaml.safe_load(changed("custom_guardrail", "priority: 110", "priority: 100"))
    placed = load_policy(said).placed("custom-scope-001")
    assert placed is not None
    assert placed.priority == 100


def test_a_built_in_budget_refuses_at_its_end_whatever_a_file_leaves_out() -> None:
    said = yaml.safe_load(block("builtin_token_budget"))
    del said["builtin_token_budget"]["thresholds"]
    placed = load_policy(said).placed("builtin-001")
    assert placed is not None
    assert placed.guard.action == "block"


@pytest.mark.parametrize(
    ("key", "usual"), [("builtin_token_budget", (80, 95)), ("builtin_time_budget", (70, 90))]
)
@pytest.mark.parametrize(
    ("given", "warns"), [(None, None), ({}, None), ({"block": "100%"}, None), ({"warn": "50%"}, 50)]
)
def test_marks_of_a_built_in_budget_that_a_file_leaves_out_stay(
    given: Any, warns: int | None, key: str, usual: tuple[int, int]
) -> None:
    said = yaml.safe_load(block(key))
    said[key]["thresholds"] = given
    if given is None:
        del said[key]["thresholds"]
    placed = load_policy(said).placed(said[key]["id"])
    assert placed is not None
    assert (placed.guard.warn_at, placed.guard.escalate_at) == (
        usual[0] if warns is None else warns,
        usual[1],
    )


@pytest.mark.parametrize("name", ["x.YAML", "x.yml"])
def test_files_of_a_folder_are_read_however_their_names_end(name: str, tmp_path: Path) -> None:
    written(tmp_path, block("custom_guardrail"), name)
    assert load_policy(tmp_path).placed("custom-scope-001") is not None


def test_files_in_a_folder_below_are_not_left_out_in_silence(tmp_path: Path) -> None:
    written(tmp_path, block("safety_guardrails"))
    for name in (".git", "more"):
        (tmp_path / name / "deep").mkdir(parents=True)
    written(tmp_path / ".git", "not: ours\n")
    assert load_policy(tmp_path).placed("safety-001") is not None
    lost = written(tmp_path / "more" / "deep", block("custom_guardrail"), "x.yml")
    with pytest.raises(
        PolicyError, match=f"{re.escape(str(lost))}.*move it up, or load its folder by itself"
    ):
        load_policy(tmp_path)
