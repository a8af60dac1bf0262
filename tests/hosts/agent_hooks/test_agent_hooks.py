"""The behaviour suite in a host that speaks AGENT-HOOKS, with the contract's own package."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("agent_hooks")

import agent_hooks

from stanchion.testing.host_suite import BEHAVIOURS, check, check_probes
from tests.hosts.agent_hooks.driver import DRIVER
from tests.hosts.agent_hooks.test_contexts import ALLOWED, CHANGED, call, verdict


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_the_contract_has_no_handoffs() -> None:
    points = {point.value for point in agent_hooks.InterceptionPoint}
    assert [point for point in points if "handoff" in point or "delegate" in point] == []
    assert points == {
        *(
            "agent_startup",
            "input",
            "pre_model_call",
            "post_model_call",
            "pre_tool_call",
            "post_tool_call",
        ),
        *("output", "agent_shutdown"),
    }


def test_verdicts_are_what_the_contract_takes() -> None:
    given = [*ALLOWED, *[one for one, _, _ in CHANGED], call("root"), call("slow"), call("ask"), {}]
    for one in given:
        agent_hooks.Verdict.from_wire(verdict(one))
