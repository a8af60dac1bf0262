"""The demo shows real decisions, and says so when something is not caught."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion.cli.main import main
from stanchion.guards import SHIPPED
from stanchion.ops.demo.operator import LINE, ann
from stanchion.ops.demo.play import POLICY, Demo
from stanchion.ops.demo.scenes import SCENES, DemoScene, DemoStep, SceneStep, faults_of
from tests.sampling import some

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "demo.txt"
EXTRA = {"sql", "presidio"}
"""Guards that need what the demo is not installed with."""
RUNAWAY = [one for one in SCENES if one.name == "runaway"]


def shown(capsys: pytest.CaptureFixture[str], *options: str, status: int = 0) -> str:
    """What the demo prints with these options."""
    assert main(["demo", *options]) == status
    return capsys.readouterr().out


def test_plain_output_is_golden_and_always_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    plain = shown(capsys)
    assert plain == GOLDEN.read_text("utf-8"), "if it should be so: stanchion demo > GOLDEN"
    assert plain.isascii()
    assert len(plain.splitlines()) <= 40
    assert sum(one.short for one in SCENES) == 6
    assert shown(capsys) == plain, "every record, and so every answer, is the same each time"


def test_safe_mode_of_the_surroundings_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert shown(capsys) == GOLDEN.read_text("utf-8")


def test_json_has_one_line_for_each_scene_and_one_for_the_trail(
    capsys: pytest.CaptureFixture[str],
) -> None:
    *scenes, books = [json.loads(line) for line in shown(capsys, "--all", "--json").splitlines()]
    assert [one["scene"]["name"] for one in scenes] == [one.name for one in SCENES]
    assert not any(one["faults"] for one in scenes)
    assert books["faults"] == []
    (step,) = next(one["steps"] for one in scenes if one["scene"]["name"] == "denylist")
    assert (step["verdict"], step["findings"][0]["code"]) == ("BLOCK", "tool.denied")


def test_one_scene_is_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--scene", "circles").startswith("The same question, the same answer\n")
    assert main(["demo", "--scene", "circle"]) == 2
    assert "did you mean `circles`?" in capsys.readouterr().err


def test_every_guard_of_the_demo_is_shown_by_a_scene() -> None:
    with closing(Demo()) as demo:
        steps = [step for played in demo.play(SCENES) for step in played.steps]
        ids = {one.guard for step in steps for one in (*step.findings, *step.shadow)}
        placed = {id: demo.shield.policy.placed(id) for id in ids}
        used = {seat.placed.guard.name for seat in demo.shield.policy.seats} & set(SHIPPED)
    seen = {id.replace("-", "_") if at is None else at.guard.name for id, at in placed.items()}
    missing = used - seen - EXTRA
    assert not missing, f"no scene shows {sorted(missing)}: add one to `scenes.yaml`"


def broken(tmp_path: Path, without: str) -> Path:
    """The demo's policy without one of its rules."""
    document: dict[str, Any] = yaml.safe_load(POLICY.read_text("utf-8"))
    if without in document:
        del document[without]
    else:
        kept = [guard for guard in document["guards"] if guard.get("id", guard["use"]) != without]
        assert len(kept) == len(document["guards"]) - 1
        document["guards"] = kept
    if without == "tool_allowlist":
        del document["agents"]  # a list of tools that no guard reads is a fault of the policy
    path = tmp_path / "broken.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


RULES = [
    ("agents", "allowlist"),
    ("tools", "guess, empty, ability, authority, deadline, stumble"),
    ("tasks", "drift"),
    ("files", "escape"),
    ("size_limits", "flood"),
    ("tool_denylist", "denylist"),
    ("tool_allowlist", "allowlist"),
    ("shell", "wipe, stubborn"),
    ("secrets", "leak"),
    ("pii", "people"),
    ("canary", "canary"),
    ("output", "empty"),
    ("evidence", "untested"),
    ("injection", "commanded"),
    ("flow", "hijacked"),
    ("egress", "inside"),
    ("clamp", "overlong"),
    ("step_limit", "loop"),
    ("budget", "bill"),
    ("time_limit", "dawdle"),
    ("no-publishing", "shadow"),
    ("ask-before-paying", "approval"),
    ("hide-passwords", "password"),
    ("outside-mail", "warnings"),
    ("fraud-check", "crash"),
    ("recovery", "stumble"),
    ("breaker", "outage"),
    ("health", "outage"),
    ("loops", "circles, stubborn, runaway"),
    ("queue", "crowd"),
    ("error_rate", "runaway"),
    ("environments", "runaway"),
]
"""Each rule of the demo's policy, and what is not handled without it."""


@pytest.mark.parametrize(("without", "missed"), RULES)
def test_without_a_rule_what_it_is_for_is_missed(without: str, missed: str, tmp_path: Path) -> None:
    names = missed.split(", ")
    with closing(Demo(broken(tmp_path, without))) as demo:
        played = list(demo.play([one for one in SCENES if one.name in names]))
    assert [bool(one.faults) for one in played] == [True] * len(names)


@pytest.mark.parametrize(("without", "missed"), some(RULES, 8, "loud"))
def test_a_rule_taken_out_is_missed_loudly(
    without: str, missed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shown(capsys, "--all", "--policy", str(broken(tmp_path, without)), status=1)
    assert f"NOT handled as expected: {missed}" in " ".join(out.split())
    assert "  NOT AS EXPECTED: " in out


def test_the_run_away_is_stopped_at_five_dollars() -> None:
    """Read from the records alone: what was decided, what was settled, and which states have
    changed."""
    with closing(Demo()) as demo:
        (played,) = demo.play(RUNAWAY)
        records = list(demo.records())
        found = [one.entry() for one in records if one.is_decision]
        facts = [
            fact for one in records if not one.is_decision and (fact := one.told()) is not None
        ]
        calls = [tool for tool, _ in demo.reached]
    assert played.faults == ()
    asked = [entry for entry in found if entry.stage == "model_call"]
    assert [entry.action for entry in asked] == ["ALLOW"] * 50 + ["BLOCK", "HALT"]
    assert sum(entry.amounts[2] for entry in asked if entry.action == "ALLOW") == 5_000_000
    tried = [entry for entry in found if entry.stage == "tool_call"]
    assert (calls, len(tried)) == (["book"] * 4, 50), "the agent goes on, the tool is left alone"
    assert {entry.action for entry in tried[4:]} == {"BLOCK"}
    assert [(fact.about, fact.data["after"]) for fact in facts if "after" in fact.data] == [
        ("tool:book", "warning"),
        ("run:runaway", "warning"),
        ("tool:book", "quarantine"),
        ("run:runaway", "halt"),
    ]


def test_only_the_budget_holds_an_agent_that_nothing_else_stops(tmp_path: Path) -> None:
    document: dict[str, Any] = yaml.safe_load(POLICY.read_text("utf-8"))
    document["guards"] = [
        guard for guard in document["guards"] if guard["use"] not in ("loops", "error_rate")
    ]
    path = tmp_path / "budget.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with closing(Demo(path)) as demo:
        list(demo.play(RUNAWAY))
        assert [tool for tool, _ in demo.reached] == ["book"] * 50


def test_any_policy_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert "NOT handled as expected" in shown(capsys, "--policy", "default", status=1)


def test_json_says_what_was_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = str(broken(tmp_path, "hide-passwords"))
    out = shown(capsys, "--scene", "password", "--json", "--policy", policy, status=1)
    assert json.loads(out.splitlines()[0])["faults"] == [
        "step 1: expected REDACT demo.password, got ALLOW",
        "what should be hidden was seen",
    ]


def test_the_policy_shown_is_the_one_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(shown(capsys, "--show-policy"), encoding="utf-8")
    assert shown(capsys, "--policy", str(mine)) == GOLDEN.read_text("utf-8")


def test_a_policy_that_cannot_be_used_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\ngards: []\n", encoding="utf-8")
    assert main(["demo", "--policy", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "guards" in err
    assert err.count("\n") == 1


WITHOUT_KEYS = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "cryptography" else find(name, *more)
sys.modules["cryptography"] = None
from stanchion.cli.main import main
sys.exit(main(["demo", "--json"]))
"""


def test_without_the_package_for_keys_the_rest_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_KEYS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    *scenes, _ = [json.loads(line) for line in done.stdout.splitlines()]
    names = [one["scene"]["name"] for one in scenes]
    assert names == [one.name for one in SCENES if one.short and one.name != "approval"]


def test_the_key_of_the_demos_operator_is_the_one_that_is_known() -> None:
    assert ann().key.public.line == LINE


STEP = DemoStep("agent", "t()", "BLOCK")


def faults(step: DemoStep, *expects: str, ran: int = 0, leaked: bool = False) -> tuple[str, ...]:
    """What is wrong with a scene of one step, which has to run a tool once."""
    steps: Sequence[SceneStep] = [SceneStep(verdicts=expects)]
    return faults_of(
        DemoScene("h", "H", "a story", tuple(steps), ran={"t": 1}), [step], {"t": ran}, leaked
    )


def test_each_fault_is_named() -> None:
    assert faults(STEP, "BLOCK", ran=1) == ()
    assert faults(STEP, "ALLOW", ran=1) == ("step 1: expected ALLOW, got BLOCK",)
    assert faults(STEP, ran=1) == ("step 1: expected no more steps, got BLOCK",)
    assert faults(STEP, "BLOCK", "ALLOW", ran=1) == ("step 2: expected ALLOW, got nothing",)
    assert faults(STEP, "BLOCK") == ("`t` ran 0 times, and not 1",)
    assert faults(STEP, "BLOCK", ran=1, leaked=True) == ("what should be hidden was seen",)


def test_the_trail_verifies_and_a_forged_record_is_named() -> None:
    with closing(Demo()) as demo:
        list(demo.play(SCENES[:4]))
        books = demo.books()
    assert (books.faults, books.verifies) == ((), True)
    assert f"record {books.forged} was edited" in books.noticed
