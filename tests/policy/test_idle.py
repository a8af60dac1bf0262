"""Options of a budget that nothing acts on where it stands, and those that something does act
on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.guards.budget import Budget
from stanchion.guards.step_limit import StepLimit
from stanchion.kernel.stages import Stage
from stanchion.policy.compile import idle
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy

ANEW = "add the stages where it is used, such as `tool_call`, or leave it out"


def found(stages: list[str], alone: bool = True, **options: Any) -> dict[str, str]:
    """What is idle about a budget at these stages."""
    return dict(idle(Budget(**options), frozenset(Stage(stage) for stage in stages), alone))


@pytest.mark.parametrize(
    ("stages", "options", "said"),
    [
        (
            ["charge"],
            {"calls": 5},
            {"calls": f"`calls` counts nothing at `charge`: a charge is not an action; {ANEW}"},
        ),
        (
            ["charge"],
            {"duration_s": 5, "tokens": 9},
            {
                "duration_s": (
                    f"`duration_s` counts nothing at `charge`: a charge is not an action; {ANEW}"
                )
            },
        ),
        (
            ["tool_result", "error"],
            {"tokens": 5},
            {
                "tokens": "`tokens` counts nothing at `error`, `tool_result`:"
                f" what ends there was counted where it began; {ANEW}"
            },
        ),
        (
            ["egress", "handoff"],
            {"tokens": 5, "degrade_at": 50},
            {
                "degrade_at": "`degrade_at` is never heard at `egress`, `handoff`: there is no "
                "lesser request to make;"
                " add a stage where there is, such as `model_call`, or leave it out"
            },
        ),
    ],
)
def test_what_nothing_acts_on(
    stages: list[str], options: dict[str, Any], said: dict[str, str]
) -> None:
    assert found(stages, **options) == said


def test_every_measure_of_an_outcome_but_that_it_came_is_idle() -> None:
    every: dict[str, Any] = {
        "calls": 5,
        "tokens": 5,
        "cost_usd": 5,
        "api_calls": 5,
        "duration_s": 5,
    }
    for stage in ("tool_result", "model_reply", "error", "handoff_done"):
        assert list(found([stage], **every)) == ["tokens", "cost_usd", "api_calls", "duration_s"]


@pytest.mark.parametrize(
    ("stages", "options"),
    [
        (["charge"], {"tokens": 5}),
        (["charge"], {"cost_usd": 5, "api_calls": 3, "degrade_at": 80}),
        (["charge", "tool_call"], {"calls": 5, "duration_s": 5}),
        (["tool_result"], {"calls": 5}),
        (["tool_result"], {"tokens": 0}),
        (["tool_result", "model_call"], {"tokens": 5, "degrade_at": 80}),
        (["egress", "prompt"], {"tokens": 5, "calls": 5, "duration_s": 1}),
        ([], {"tokens": 5, "degrade_at": 80}),
    ],
)
def test_what_something_acts_on(stages: list[str], options: dict[str, Any]) -> None:
    assert found(stages, **options) == {}


def test_a_budget_on_the_counter_of_another_may_only_look() -> None:
    """At outcomes it sees what others have counted; at a charge it has no line on what only actions
    use."""
    assert found(["tool_result"], alone=False, tokens=5) == {}
    assert list(found(["charge"], alone=False, calls=5)) == ["calls"]


def test_other_guards_have_nothing_idle() -> None:
    assert list(idle(StepLimit(), frozenset({Stage.CHARGE}), True)) == []


def test_a_policy_with_idle_options_does_not_load_and_says_where(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "name: p\n"
        "guards:\n"
        "  - use: budget\n"
        "    calls: 5\n"
        "    stages: [charge]\n"
        "  - use: budget\n"
        "    id: sent\n"
        "    tokens: 9\n"
        "    degrade_at: 50\n"
        "    stages: [egress]\n"
        "  - use: budget\n"
        "    id: done\n"
        "    cost_usd: 9\n"
        "    stages: [tool_result]\n",
        encoding="utf-8",
    )
    with pytest.raises(PolicyError) as raised:
        load_policy(file)
    assert [fault.place for fault in raised.value.faults] == [
        f"{file}:4:12",
        f"{file}:9:17",
        f"{file}:13:15",
    ]
    assert all(
        "; add " in fault.message and "or leave it out" in fault.message
        for fault in raised.value.faults
    )


def test_a_budget_that_looks_at_the_counter_of_another_loads() -> None:
    own = {"use": "budget", "tokens": 9, "counter": "all"}
    load_policy({"name": "p", "guards": [own, {**own, "id": "results", "stages": ["tool_result"]}]})
