"""The pack `agent-33`: the guardrails of the specification, of which the built-in ones are always
active."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Action, PolicyError
from stanchion.kernel.state import StoreLost
from stanchion.policy.differences import effect_of
from stanchion.policy.formats.agent33.checks import BUILT_IN, CHECKS, HOOKS, NAME_OF
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock, shield_for
from tests.policy.agent33.spec import SPEC
from tests.runtime.failing import FailingStore, from_on


def test_the_pack_has_every_guardrail_of_the_specification() -> None:
    """Twenty in the categories, four built in, and what the hooks check by themselves."""
    assert len(NAME_OF) == len(CHECKS) == 24
    ids = {one["id"] for one in HOOKS}
    assert {seat.placed.whole for seat in load_policy("agent-33").seats} == {*NAME_OF, *ids}


def test_the_pack_says_what_the_files_of_the_specification_say(tmp_path: Path) -> None:
    for name, path in SPEC.items():
        if name != "custom_guardrail":
            (tmp_path / f"{name}.yaml").write_text(path.read_text("utf-8"), encoding="utf-8")
    files, pack = load_policy(tmp_path), load_policy("agent-33")
    assert {seat.placed.id: effect_of(seat) for seat in files.seats} == {
        seat.placed.id: effect_of(seat) for seat in pack.seats
    }
    assert (files.file.limits, files.file.durations) == (pack.file.limits, pack.file.durations)
    assert files.file.risk == pack.file.risk
    assert files.file.autonomy is pack.file.autonomy is True
    assert sorted(pack.file.risk.given()) == ["critical", "high", "low", "medium"]


PLACES: Final[dict[str, Any]] = {
    "name": "team",
    "extends": "agent-33",
    "agents": {"coder": {"allowed_tools": ["write_file", "read_file", "bash"]}},
    "tasks": {
        "fix": {
            "budget": {"tokens": 1000, "time_s": 3600, "api_calls": 5, "cost_usd": 1},
            "files": {"write": ["src/**"], "deny": ["src/keys/**"]},
        }
    },
}
"""A policy that gives the built-in guardrails something to go by."""

REFUSED: Final = {
    "builtin-001": ("bash", {"command": "ls"}, {"tokens": 1001}),
    "builtin-003": ("write_file", {"path": "docs/x.md", "content": "x"}, {}),
    "builtin-004": ("deploy", {}, {}),
}


@pytest.mark.parametrize("guardrail", REFUSED)
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_a_built_in_guardrail_refuses_in_shadow_mode_too(guardrail: str, mode: str) -> None:
    tool, args, more = REFUSED[guardrail]
    decision = (
        shield_for({**PLACES, "mode": mode}).run("coder", task="fix").check(tool, args, **more)
    )
    assert decision.action == Action.BLOCK
    assert decision.determining is not None
    assert decision.determining.guard == guardrail


def test_a_built_in_guardrail_fails_closed_in_shadow_mode_too() -> None:
    """A policy that only watches goes on without its store; one with a budget that is always active
    does not."""
    clock = FakeClock()
    lost = FailingStore(clock, from_on(1, StoreLost("it is gone")))
    watching = {
        "name": "watching",
        "mode": "shadow",
        "guards": [{"use": "step_limit", "max_steps": 9}],
    }
    assert (
        shield_for(watching, clock=clock, store=lost)
        .run("coder")
        .check("bash", {"command": "ls"})
        .proceeds
    )
    run = shield_for({**PLACES, "mode": "shadow"}, clock=clock, store=lost).run("coder", task="fix")
    assert run.check("bash", {"command": "ls"}).code == "kernel.store_lost"


def test_other_guardrails_only_watch_in_shadow_mode() -> None:
    args = {"command": "rm -rf /"}
    assert not shield_for(PLACES).run("coder").check("bash", args).proceeds
    assert shield_for({**PLACES, "mode": "shadow"}).run("coder").check("bash", args).proceeds


@pytest.mark.parametrize(
    "change",
    [
        {"enabled": False},
        {"mode": "shadow"},
        {"always": False},
        {"fail_open": True},
        {"applies_to": {"agents": ["nobody"]}},
        {"use": "tool_denylist", "tools": ["x"]},
        {"stages": ["egress"]},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("guardrail", BUILT_IN)
def test_no_overlay_changes_a_built_in_guardrail(guardrail: str, change: dict[str, Any]) -> None:
    overlay = {"guards": [{"id": guardrail, **change}]}
    for said in ({**PLACES, **overlay}, {**PLACES, "environments": {"trial": overlay}}):
        with pytest.raises(
            PolicyError, match=f"`{guardrail}` is always active and cannot be changed"
        ):
            load_policy(said)


@pytest.mark.parametrize("key", ["guards", "guards="])
def test_no_overlay_removes_a_built_in_guardrail(key: str) -> None:
    with pytest.raises(PolicyError, match="`builtin-001` is always active and cannot be removed"):
        load_policy({**PLACES, key: []})


def test_an_entry_that_is_always_active_cannot_be_switched_off_where_it_stands() -> None:
    entry = {"use": "tool_denylist", "tools": ["x"], "always": True}
    for option, value in (("enabled", False), ("mode", "shadow"), ("fail_open", True)):
        with pytest.raises(PolicyError, match=f"`{option}: .*` would switch it off"):
            load_policy({"name": "p", "guards": [{**entry, option: value}]})


def test_other_guardrails_of_the_pack_can_be_changed() -> None:
    overlay = {"guards": [{"id": "safety-004", "enabled": False}]}
    assert load_policy({**PLACES, **overlay}).placed("safety-004") is None


def test_a_part_needs_the_guard_that_it_is_a_part_of() -> None:
    with pytest.raises(
        PolicyError, match="there is no guard `shel` to be a part of: did you mean `shell`"
    ):
        load_policy(
            {"name": "p", "guards": [{"use": "shell"}, {"use": "files", "part_of": "shel"}]}
        )
