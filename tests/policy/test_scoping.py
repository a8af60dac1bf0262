"""What a policy says of tasks, agents and tools reaches the guards that read it, and nothing is
left unread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion import PolicyError, Shield
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for


@pytest.mark.parametrize(
    ("table", "entry", "guard"),
    [
        ("tasks", {"t": {"files": {"deny": ["a"]}}}, "files"),
        ("tasks", {"t": {"related_tools": ["a"]}}, "task_scope"),
        ("tools", {"t": {"needs": ["a"]}}, "capabilities"),
        ("tools", {"t": {"authority": 0}}, "authority"),
        ("agents", {"t": {"autonomy_level": 0}}, "authority"),
        ("roles", {"t": {"autonomy_level": 1}}, "authority"),
    ],
)
def test_what_no_guard_reads_is_an_error(table: str, entry: dict[str, Any], guard: str) -> None:
    key = next(iter(entry["t"]))
    with pytest.raises(
        PolicyError, match=rf"nothing acts on `{table}.t.{key}`: add a guard with `use: {guard}`"
    ):
        load_policy({"name": "p", table: entry})
    off = {"use": guard, "enabled": False}
    with pytest.raises(PolicyError, match="nothing acts on"):
        load_policy({"name": "p", table: entry, "guards": [off]})
    load_policy({"name": "p", table: entry, "guards": [{"use": guard}]})


def test_the_policy_by_which_calls_are_judged_is_not_changed_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(
        yaml.safe_dump({"name": "p", "guards": [{"use": "files"}]}), encoding="utf-8"
    )
    for source in ("rules.yaml", tmp_path / "rules.yaml"):
        with Shield.load(source, store="memory:", journal="memory:") as shield:
            run = shield.run()
            assert (
                run.check("write_file", {"path": str(tmp_path / "rules.yaml")}).code
                == "files.protected"
            )
            assert run.check("read_file", {"path": str(tmp_path / "rules.yaml")}).proceeds
            assert run.check("write_file", {"path": "other.yaml"}).proceeds
    with Shield.load("rules.yaml", store="memory:", journal="memory:") as shield:
        assert shield.run().check("write_file", {"path": "./rules.yaml"}).code == "files.protected"
        assert (
            shield.run().check("delete_folder", {"path": str(tmp_path)}).code == "files.protected"
        )


def test_the_guard_that_asks_stands_beside_its_entry_and_is_placed_like_it() -> None:
    entry = {"use": "files", "id": "box", "real_paths": True, "priority": 7, "mode": "shadow"}
    policy = load_policy(
        {"name": "p", "guards": [{**entry, "applies_to": {"tools": ["read_file"]}}]}
    )
    own, asking = policy.seats
    assert (own.placed.id, asking.placed.id) == ("box", "box-real")
    assert (asking.placed.priority, asking.placed.shadow, asking.tools) == (7, True, own.tools)
    assert policy.calls == {"box-real": "stanchion.runtime.answers.real_paths:real_paths"}
    assert len(load_policy({"name": "p", "guards": [{"use": "files"}]}).seats) == 1


def test_a_reload_brings_new_scopes_to_runs_under_way() -> None:
    def policy(folder: str) -> dict[str, Any]:
        return {
            "name": "p",
            "tasks": {"t": {"files": {"write": [folder]}}},
            "guards": [{"use": "files"}],
        }

    shield = shield_for(policy("a/**"))
    run = shield.run("x", "t")
    assert run.check("write_file", {"path": "a/x"}).proceeds
    shield.reload(policy("b/**"))
    assert run.check("write_file", {"path": "a/x"}).code == "files.denied"
    assert run.check("write_file", {"path": "b/x"}).proceeds
