"""What is counted of decisions, runs, tickets and failures, and that nothing grows without end."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.telemetry.catalogue import DECISION_SECONDS, DECISIONS, SINK_ERRORS
from stanchion.telemetry.counting import MOST_TOOLS, Counting
from stanchion.telemetry.registry import FigureSum, Registry, Series
from tests.telemetry.shields import POLICY, values, watched

TOTAL = "stanchion_decisions_total"


def test_decisions_are_counted_by_stage_tool_action_and_guard() -> None:
    shield = watched()
    with shield.run("writer", "t1") as run:
        run.check("ls", {})
        run.check("ls", {})
        run.check("rm", {"path": "/"})
        run.call(len, "four")
    assert values(shield, TOTAL) == {
        ("tool_call", "ls", "ALLOW", ""): 2,
        ("tool_call", "rm", "BLOCK", "no-rm"): 1,
        ("tool_call", "len", "ALLOW", ""): 1,
        ("tool_result", "len", "ALLOW", ""): 1,
    }
    assert values(shield, "stanchion_runs_total") == {(): 1}
    assert values(shield, "stanchion_runs_ended_total") == {("kernel.ended",): 1}
    (seconds,) = [one for one in shield.telemetry.collect() if one.labels == ("tool_result",)]
    assert seconds.metric == DECISION_SECONDS.name
    assert sum(seconds.values[1:]) == 1
    assert seconds.values[0] > 0


def test_what_a_guard_in_shadow_mode_finds_is_counted_apart() -> None:
    policy = {**POLICY, "guards": [{**POLICY["guards"][0], "mode": "shadow"}]}
    shield = Shield.load(policy, store="memory:", journal="memory:")
    shield.run("a1").check("rm", {})
    assert values(shield, TOTAL) == {("tool_call", "rm", "ALLOW", ""): 1}
    assert values(shield, "stanchion_shadow_findings_total") == {("no-rm", "BLOCK"): 1}


def test_a_failing_guard_is_counted_by_its_code() -> None:
    def broken(_event: Any) -> None:
        raise RuntimeError("no")

    shield = watched(guards=[broken])
    assert not shield.run("a1").check("ls", {}).proceeds
    assert values(shield, "stanchion_failures_total") == {("kernel.lookup_failed",): 1}


def test_names_that_an_agent_invents_become_other() -> None:
    shield = watched()
    run = shield.run("a1")
    for number in range(MOST_TOOLS + 50):
        run.check(f"tool_{number}", {})
    run.check("x" * 1_000, {})
    found = values(shield, TOTAL)
    assert len(found) == MOST_TOOLS + 1
    assert found["tool_call", "other", "ALLOW", ""] == 51


def test_a_secret_in_a_tools_name_is_not_shown() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shield = Shield.load(
        {"name": "p", "guards": [{"use": "secrets"}]}, store="memory:", journal="memory:"
    )
    shield.run("a1").check(f"send_{secret}", {})
    assert secret not in repr(shield.telemetry.collect())
    assert any("send_[" in labels[1] for labels in values(shield, TOTAL))


def test_off_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(metrics=False).telemetry.registry is None
    monkeypatch.setenv("STANCHION_METRICS", "off")
    shield = watched()
    shield.run("a1").check("ls", {})
    assert shield.telemetry.collect() == ()
    monkeypatch.setenv("STANCHION_METRICS", "maybe")
    with pytest.raises(ValueError, match="`on` or `off`"):
        watched()


def test_no_count_is_lost_between_threads() -> None:
    registry = Registry()
    counting = Counting(registry, str)
    event = ToolCall(id="r.1", at=0, run=RunInfo("r"), tool="ls", args={})
    decision = Decision("r.1", Action.ALLOW, "hash")

    def work() -> None:
        for _ in range(5_000):
            counting.decided(event, decision, 1_000)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    known = {one.metric: one.values for one in registry.figures()}
    assert known[DECISIONS.name] == (40_000,)
    total, *buckets = known[DECISION_SECONDS.name]
    assert sum(buckets) == 40_000
    assert total == pytest.approx(0.04)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_begins_anew(tmp_path: Path) -> None:
    registry = Registry()
    counting = Counting(registry, str)
    event = ToolCall(id="r.1", at=0, run=RunInfo("r"), tool="ls", args={})
    counting.decided(event, Decision("r.1", Action.ALLOW, "hash"), 1_000)
    child = os.fork()
    if not child:
        counting.decided(event, Decision("r.1", Action.BLOCK, "hash"), 1_000)
        (tmp_path / "child").write_text(
            repr([one for one in registry.figures() if one.metric == DECISIONS.name])
        )
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "child").read_text() == repr(
        [Series(DECISIONS.name, ("tool_call", "ls", "BLOCK", ""), (1,))]
    )
    assert [one.labels[2] for one in registry.figures() if one.metric == DECISIONS.name] == [
        "ALLOW"
    ]


def test_what_telemetry_raises_changes_no_decision_and_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shield = watched()

    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("a sink that cannot do anything")

    shield.telemetry.add(Broken())
    with shield.run("a1") as run:
        assert run.call(len, "four") == 4
        assert not run.check("rm", {}).proceeds
    errors = values(shield, SINK_ERRORS.name)
    assert errors["Broken",] >= 4


def test_what_is_no_series_is_left_out_of_a_sum() -> None:
    total = FigureSum(most=2)
    total.add(
        [
            Series("stanchion_nothing_total", (), (1,)),
            Series(DECISIONS.name, ("tool_call",), (1,)),
            Series(DECISIONS.name, ("tool_call", "ls", "ALLOW", ""), (-1,)),
            Series(DECISIONS.name, ("tool_call", "ls", "ALLOW", ""), (float("nan"),)),
            Series(DECISION_SECONDS.name, ("tool_call",), (1, 2)),
        ]
    )
    assert total.left_out == 5
    for tool in ("a", "b", "c", "d", "a"):
        total.add([Series(DECISIONS.name, ("tool_call", tool, "ALLOW", "g"), (1,))])
    assert {one.labels[1]: one.values for one in total.figures()} == {
        "a": (2,),
        "b": (1,),
        "other": (2,),
    }


def test_requests_to_get_past_a_guardrail_are_counted_by_what_came_of_them() -> None:
    shield = watched()
    run = shield.run("a1").desk.info
    for outcome in ("requested", "granted", "requested", "denied"):
        shield.telemetry.bypass("no-rm", outcome, run)
    assert values(shield, "bypass_requests_total") == {
        ("no-rm", "requested"): 2,
        ("no-rm", "granted"): 1,
        ("no-rm", "denied"): 1,
    }
