"""What is counted of guardrails: what each said and how long it took, one verdict for the parts of
one, bounded."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding, Trace
from stanchion.telemetry import guardrails as module
from stanchion.telemetry.catalogue import GUARDRAIL_MS, INVOCATIONS, TRIGGERED
from stanchion.telemetry.folder import VERSION, FigurePage, collect, write
from stanchion.telemetry.guardrails import FIRST, ONE_IN, GuardrailFigures, GuardrailState
from stanchion.telemetry.registry import FigureSum, Series
from tests.telemetry.shields import values

POLICY: dict[str, Any] = {
    "name": "judged",
    "guards": [
        {
            "id": "no-rm",
            "use": "tool_denylist",
            "tools": ["rm"],
            "priority": 10,
            "category": "compliance",
        },
        {
            "id": "no-rf",
            "use": "rule",
            "check": "action.tool_name != 'rf'",
            "part_of": "no-rm",
            "priority": 11,
        },
        {
            "id": "ask",
            "use": "rule",
            "check": "action.tool_name != 'pay'",
            "action": "escalate",
            "priority": 20,
        },
        {
            "id": "tell",
            "use": "rule",
            "check": "action.tool_name != 'odd'",
            "action": "warn",
            "priority": 30,
        },
        {"id": "off", "use": "tool_denylist", "tools": ["x"], "enabled": False},
    ],
}
MADE = Trace((("a", "a"), ("a-2", "a"), ("b", "b")))


def judging(**options: Any) -> Shield:
    return Shield.load(
        POLICY | options, store="memory:", journal="memory:", clock=lambda: 1_700_000_000_123
    )


def by_id(shield: Shield) -> dict[str, GuardrailState]:
    return {one.guardrail_id: one for one in shield.guardrails()}


def test_each_guardrail_has_its_state_and_parts_count_as_one() -> None:
    shield = judging()
    run = shield.run("a1")
    for tool in ("ls", "ls", "rm", "rf", "pay", "odd"):
        run.check(tool, {})
    at = "2023-11-14T22:13:20.123Z"
    assert shield.guardrails() == (
        GuardrailState("no-rm", True, 6, 4, 0, 2, 0, None, at),
        GuardrailState("ask", True, 4, 3, 0, 0, 1, None, at),
        GuardrailState("tell", True, 4, 3, 1, 0, 0, None, at),
        GuardrailState("off", False, 0, 0, 0, 0, 0),
    )
    assert values(shield, "guardrail_blocks_total") == {("compliance",): 2}


def test_what_is_counted_is_what_chain_results_say() -> None:
    shield = judging(durations=True)
    run = shield.run("a1")
    said: Counter[tuple[str, str]] = Counter()
    for tool in ("ls", "rm", "pay", "odd", "ls", "rf", "odd"):
        for one in run.check(tool, {}).chain_result().details:
            said[one.guardrail_id, one.result] += 1
    assert values(shield, "guardrail_invocations_total") == dict(said)


def test_durations_are_absent_unless_they_are_measured() -> None:
    plain, timed = judging(), judging(durations=True)
    for shield in (plain, timed):
        shield.run("a1").check("ls", {})
    assert {one.avg_duration_ms for one in plain.guardrails()} == {None}
    assert b"avg_duration_ms" not in msgspec.json.encode(plain.guardrails())
    found = by_id(timed)
    assert all((found[name].avg_duration_ms or 0) > 0 for name in ("no-rm", "ask", "tell"))
    assert found["off"].avg_duration_ms is None


def timed(guardrails: GuardrailFigures, *took: tuple[str, int]) -> None:
    event = ToolCall(id="r.1", at=0, run=RunInfo("r"), tool="ls", args={})
    guardrails.judged(event, Decision("r.1", Action.ALLOW, "hash", trace=Trace(MADE.chain, took)))


def test_parts_of_one_guardrail_take_their_time_together() -> None:
    guardrails = GuardrailFigures(str)
    timed(guardrails, ("a", 400_000), ("a-2", 600_000), ("b", 3_000_000))
    found = {
        one.labels[0]: one.values for one in guardrails.figures() if one.metric == GUARDRAIL_MS.name
    }
    assert {name: (series[0], sum(series[1:])) for name, series in found.items()} == {
        "a": (1.0, 1),
        "b": (3.0, 1),
    }
    assert found["a"][1 + GUARDRAIL_MS.bounds.index(1.0)] == 1
    assert found["b"][1 + GUARDRAIL_MS.bounds.index(5.0)] == 1


def test_a_gate_that_refuses_is_counted_under_its_own_name() -> None:
    shield = judging()
    shield.halt("by hand")
    shield.run("a1").check("ls", {})
    assert values(shield, "guardrail_blocks_total") == {("kernel",): 1}
    ((said, _),) = [
        one for one in values(shield, "guardrail_invocations_total") if one[1] == "block"
    ]
    assert said not in by_id(judging())


def test_no_verdict_is_lost_between_threads() -> None:
    guardrails = GuardrailFigures(str)

    def work() -> None:
        for _ in range(2_000):
            timed(guardrails, ("a", 1), ("b", 1))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found: dict[tuple[str, ...], tuple[float, ...]] = {
        one.labels: one.values for one in guardrails.figures()
    }
    assert [found[name, "pass"][0] for name in "ab"] == [16_000, 16_000]
    measured = FIRST + len([number for number in range(FIRST + 1, 16_001) if not number % ONE_IN])
    assert [sum(found[(name,)][1:]) for name in "ab"] == [measured, measured]


def test_chains_that_never_end_are_bounded_and_still_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_ALIKE", 3)
    monkeypatch.setattr(module, "MOST_GUARDRAILS", 1)
    guardrails = GuardrailFigures(str)
    event = ToolCall(id="r.1", at=0, run=RunInfo("r"), tool="ls", args={})
    for number in range(50):
        chain = ((f"g{number}", f"g{number}"),)
        found = (Finding(Action.BLOCK, "x", guard=f"g{number}"),)
        guardrails.judged(event, Decision("r.1", Action.BLOCK, "hash", found, trace=Trace(chain)))
    counted = {
        one.labels: one.values[0] for one in guardrails.figures() if one.metric == INVOCATIONS.name
    }
    assert sum(counted.values()) == 50
    assert len(counted) == 8
    assert counted["other", "block"] == 43


def test_equal_chains_of_reloaded_policies_are_counted_together() -> None:
    guardrails = GuardrailFigures(str)
    event = ToolCall(id="r.1", at=0, run=RunInfo("r"), tool="ls", args={})
    for _ in range(100):
        chain = tuple([(name, name) for name in ["a", "b"]])
        guardrails.judged(event, Decision("r.1", Action.ALLOW, "hash", trace=Trace(chain)))
    assert {one.labels: one.values for one in guardrails.figures()} == {
        ("a", "pass"): (100,),
        ("b", "pass"): (100,),
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_counts_its_own() -> None:
    shield = judging()
    shield.run("a1").check("ls", {})
    read, written = os.pipe()
    child = os.fork()
    if not child:
        shield.run("a1").check("odd", {})
        os.write(
            written,
            json.dumps(
                [by_id(shield)["tell"].pass_count, by_id(shield)["tell"].warn_count]
            ).encode(),
        )
        os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(os.read(read, 100)) == [0, 1]


def test_the_last_time_of_all_processes_counts_also_of_those_that_ended(tmp_path: Path) -> None:
    for name, at in (("1-a", 30.0), ("2-b", 50.0), ("3-c", 40.0)):
        write(tmp_path, name, FigurePage(VERSION, (Series(TRIGGERED.name, ("g",), (at,)),)))
    assert collect(tmp_path).figures.figures() == (Series(TRIGGERED.name, ("g",), (50.0,)),)
    total = FigureSum()
    total.add(
        (Series(TRIGGERED.name, ("g",), (1.0,)), Series("stanchion_processes", (), (1.0,))),
        gauges=False,
    )
    assert total.figures() == (Series(TRIGGERED.name, ("g",), (1.0,)),)


def test_the_command_shows_the_guardrails_of_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("STANCHION_METRICS_DIR", str(tmp_path / "metrics"))
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(POLICY), "utf-8")
    for _ in range(2):
        with Shield.load(
            policy, store="memory:", journal="memory:", clock=lambda: 1_700_000_000_123
        ) as shield:
            shield.run("a1").check("odd", {})
    assert main(["metrics", "guardrails", "--policy", str(policy), "--json"]) == 0
    found = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert found[2] == {
        "guardrail_id": "tell",
        "enabled": True,
        "invocation_count": 2,
        "pass_count": 0,
        "warn_count": 2,
        "block_count": 0,
        "escalate_count": 0,
        "last_triggered": "2023-11-14T22:13:20.123Z",
    }
    assert main(["metrics", "guardrails", "--policy", str(policy)]) == 0
    shown = capfdbinary.readouterr().out.decode().splitlines()
    assert shown[0].split() == [
        "guardrail",
        "on",
        "reached",
        "pass",
        "warn",
        "escalate",
        "block",
        "avg",
        "ms",
        "last",
        "triggered",
    ]
    assert shown[4].split() == ["off", "no", "0", "0", "0", "0", "0"]
    assert main(["metrics", "guardrails"]) == 2
    assert b"`--policy POLICY`" in capfdbinary.readouterr().err
