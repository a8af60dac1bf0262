"""`stanchion policy` shows what is in force and finds what differs in effect, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main
from stanchion.policy.differences import PolicyChange, differences
from stanchion.policy.load import described_packs, load_policy, packs, policy_hash

STEPS = {"use": "step_limit", "max_steps": 5}
DENY = {"use": "tool_denylist", "tools": ["rm"]}


def diff(old: dict[str, Any], new: dict[str, Any]) -> list[PolicyChange]:
    """What differs between two policies of one name."""
    return list(differences(load_policy({"name": "p", **old}), load_policy({"name": "p", **new})))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"guards": [STEPS, DENY]}, {"guards": [DENY, STEPS]}),
        (
            {"guards": [STEPS]},
            {"guards": [{**STEPS, "priority": 30, "category": "budget", "stages": ["tool_call"]}]},
        ),
        ({"guards": [STEPS]}, {"guards": [STEPS, {**DENY, "enabled": False}]}),
        ({"guards": [DENY]}, {"guards": [{**DENY, "applies_to": {}}]}),
        ({}, {"limits": {"warnings": 3}}),
    ],
    ids=str,
)
def test_what_is_written_otherwise_and_means_the_same_is_the_same(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert diff(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ({"guards": [STEPS]}, {}, PolicyChange("removed", "guard step-limit")),
        (
            {"guards": [STEPS]},
            {"guards": [{**STEPS, "max_steps": 6}]},
            PolicyChange("changed", "guard step-limit", {"max_steps": (5, 6)}),
        ),
        (
            {"guards": [STEPS]},
            {"guards": [STEPS], "mode": "shadow"},
            PolicyChange("changed", "guard step-limit", {"mode": ("enforce", "shadow")}),
        ),
        (
            {"guards": [DENY]},
            {"guards": [{**DENY, "applies_to": {"agents": ["b", "a*"]}}]},
            PolicyChange(
                "changed", "guard tool-denylist", {"applies_to.agents": (None, ["a*", "b"])}
            ),
        ),
        (
            {"tools": {"a": {}}},
            {"tools": {"a": {"risk": "low"}}},
            PolicyChange("changed", "tool a", {"risk": ("medium", "low")}),
        ),
        (
            {},
            {"agents": {"a": {"role": "r"}}},
            PolicyChange("added", "agent a", {"role": (None, "r")}),
        ),
        ({"tasks": {"t": {}}}, {}, PolicyChange("removed", "task t")),
        ({}, {"version": 2}, PolicyChange("changed", "policy", {"version": ("1", "2")})),
        (
            {},
            {"escalation": {"timeout_s": 5}},
            PolicyChange("changed", "policy", {"escalation.timeout_s": (1800.0, 5.0)}),
        ),
    ],
    ids=str,
)
def test_what_differs_is_named_with_old_and_new(
    old: dict[str, Any], new: dict[str, Any], change: PolicyChange
) -> None:
    assert change in diff(old, new)


def test_a_guard_that_is_another_one_now_is_told_by_its_options() -> None:
    (change,) = diff({"guards": [{**STEPS, "id": "x"}]}, {"guards": [{**DENY, "id": "x"}]})
    assert change.values["use"] == ("step_limit", "tool_denylist")
    assert change.values["max_steps"] == (5, None)


def test_show_names_every_guard_in_chain_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", "default", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["hash"] == load_policy("default").hash
    chain = shown["chains"]["tool_call"]
    assert [guard["priority"] for guard in chain] == sorted(guard["priority"] for guard in chain)
    assert {guard["place"].partition(":")[0] for guard in chain} == {"pack default"}
    assert main(["policy", "show", "default"]) == 0
    text = capsys.readouterr().out
    assert all(guard["id"] in text and guard["place"] in text for guard in chain)


def test_every_pack_is_described() -> None:
    assert set(described_packs()) == set(packs())
    assert all(len(line) > 20 for line in described_packs().values())


def test_loosens_answers_by_its_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 where nothing loosens, 1 with a sentence for each thing that does, 2 where a policy does
    not load."""
    old, new = str(tmp_path / "old.json"), str(tmp_path / "new.json")
    Path(old).write_text(
        json.dumps({"name": "p", "guards": [{"use": "budget", "tokens": 1000}]}), "utf-8"
    )
    Path(new).write_text(
        json.dumps({"name": "p", "guards": [{"use": "budget", "tokens": 5000}]}), "utf-8"
    )
    assert main(["policy", "loosens", new, old]) == 0
    assert capsys.readouterr().out.startswith("nothing loosens")
    assert main(["policy", "loosens", old, new]) == 1
    assert "loosens  guard `budget`: tokens 1000 → 5000\n" in capsys.readouterr().out
    assert main(["policy", "loosens", old, new, "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["loosenings"] == ["guard `budget`: tokens 1000 → 5000"]
    assert (shown["old"], shown["new"]) == (load_policy(old).hash, load_policy(new).hash)
    assert main(["policy", "loosens", old, str(tmp_path / "gone.json")]) == 2


def test_what_is_found_says_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`show`, `lint` and `check` take it by its name; it is shown with the hash by which it can be
    trusted."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "stanchion.yaml"
    file.write_text(
        "name: p\nguards:\n  - {use: tool_denylist, tools: [rm]}\n  - {use: step_limit, max_steps: "
        "900}\n"
    )
    said = "guard `step-limit`: max_steps 500 → 900"
    assert main(["policy", "show", "found", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["found"]
    whole = {"file": str(file), "hash": policy_hash(file), "trusted": False, "left_out": [said]}
    assert shown == {"base": "pack default", "files": [whole]}
    assert main(["policy", "show", "found"]) == 0
    assert f"left out  {said}" in capsys.readouterr().out
    assert main(["policy", "lint", "found"]) == 0
    assert said in capsys.readouterr().out
    assert main(["check", "--policy", "found", "--tool", "rm"]) == 3
    file.write_text("name: p\nguards: nonsense\n")
    assert main(["policy", "show", "found"]) == 2
