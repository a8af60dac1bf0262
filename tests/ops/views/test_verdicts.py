"""A reader who has the trail and the policy knows what each guardrail said, those that passed
included."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.main import main
from stanchion.kernel.decision import Decision
from stanchion.ops.views.explain import Explanation, case_named, explain, policy_of
from stanchion.ops.views.record_detail import record_detail
from stanchion.ops.views.trails import record
from stanchion.ops.views.verdicts import VerdictView
from stanchion.testing import FakeClock, shield_for

POLICY = """\
name: judged
durations: true
tools:
  safe: {undo: "verdicts_undo:undo"}
guards:
  - {use: step_limit, id: steps, max_steps: 100, warn_after: 3, priority: 5}
  - {use: tool_denylist, id: never, tools: [rm], priority: 10}
  - {use: rule, id: never-rf, check: "action.tool_name != 'rf'", part_of: never, priority: 40}
  - {use: rule, id: ask, check: "action.tool_name != 'pay'", action: escalate, priority: 20}
  - {use: rule, id: tell, check: "action.tool_name != 'odd'", action: warn, priority: 30}
  - {use: rule, id: quiet, check: "action.tool_name != 'odd'", mode: shadow, priority: 35}
  - {use: pii, id: private, priority: 50}
"""
Work = Callable[[Shield], list[Decision]]


def calls(shield: Shield) -> list[Decision]:
    """Calls that pass, warn, ask and are blocked, early and late in the chain, and what came of
    one."""
    run = shield.run("ann", "fix")
    made = [
        run.check(tool, {"to": "ann@example.com"})
        for tool in ("ls", "odd", "pay", "rm", "rf", "odd", "ls")
    ]
    return [*made, run.result("ls", {}, "write to ann@example.com", call=made[0].id)]


def halted(shield: Shield) -> list[Decision]:
    """What a gate refuses."""
    shield.halt("by hand")
    return [shield.run("ann", "fix").check("ls", {})]


def traced(folder: Path, policy: str, work: Work) -> tuple[TrailReader, list[Decision]]:
    clock = FakeClock()
    trail = Trail(folder / "trail", TrailOptions(checkpoint_s=1e9, head_ms=1e12), clock)
    shield = shield_for(policy, clock=clock, journal=trail, source=policy)
    made = work(shield)
    shield.close()
    return TrailReader(folder / "trail"), made


def said_of(decision: Decision) -> tuple[VerdictView, ...]:
    result = decision.chain_result()
    said = [VerdictView(one.guardrail_id, one.result, one.message) for one in result.details]
    return (*said, *[VerdictView(name, "skipped", "") for name in result.skipped])


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "verdicts_undo.py").write_text("def undo(): ...\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY, "utf-8")
    return file


@pytest.mark.parametrize("work", [calls, halted])
@pytest.mark.parametrize("pack", ["", "agent-33", "strict"])
def test_record_and_policy_give_the_whole_chain_result(
    tmp_path: Path, policy: Path, pack: str, work: Work
) -> None:
    reader, made = traced(tmp_path, pack if pack else str(policy), work)
    for decision in made:
        found = explained([reader], decision.id)
        kept = record(reader, decision.id)
        assert found is not None
        assert kept is not None
        shown = record_detail(reader, kept).decided
        assert shown is not None
        assert found.verdicts == shown.verdicts == said_of(decision)
        assert found.verdicts


def explained(readers: list[TrailReader], name: str) -> Explanation | None:
    case = case_named(readers, name)
    return None if case is None else explain(case, policy_of(case))


def test_every_verdict_stands_in_one_decision_or_another(tmp_path: Path, policy: Path) -> None:
    _, made = traced(tmp_path, str(policy), calls)
    results = {one.result for decision in made for one in said_of(decision)}
    assert results == {"pass", "warn", "escalate", "block", "skipped"}


def test_how_long_it_took_changes_no_record(tmp_path: Path, policy: Path) -> None:
    bodies = []
    for name, text in (
        ("timed", POLICY),
        ("plain", POLICY.replace("durations: true", "durations: false")),
    ):
        (tmp_path / name).mkdir()
        policy.write_text(text, "utf-8")
        reader, made = traced(tmp_path / name, str(policy), calls)
        kept = [record(reader, decision.id) for decision in made]
        bodies.append(
            [
                {**one.data(), "policy": "", "prev": "", "chain": ""}
                for one in kept
                if one is not None
            ]
        )
    assert bodies[0] == bodies[1]


def test_another_policy_says_nothing_of_the_guards_that_passed(
    tmp_path: Path, policy: Path
) -> None:
    reader, made = traced(tmp_path, str(policy), calls)
    policy.write_text(POLICY.replace("[rm]", "[rm, mv]"), "utf-8")
    found = explained([reader], made[3].id)
    assert found is not None
    assert found.changed
    assert found.verdicts == ()


def test_the_commands_show_them_and_showing_a_record_runs_no_code_of_the_policy(
    tmp_path: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, made = traced(tmp_path, str(policy), calls)
    words = ["verdicts block     never", "pass      steps", "skipped   ask, tell, quiet, private"]
    ran = tmp_path / "ran"
    (tmp_path / "verdicts_undo.py").write_text(
        f"import pathlib\npathlib.Path({str(ran)!r}).touch()\ndef undo(): ...\n", "utf-8"
    )
    sys.modules.pop("verdicts_undo", None)
    trail: Any = ["--trail", str(tmp_path / "trail")]
    assert main(["audit", "show", made[3].id, *trail]) == 0
    assert set(words) <= {line.strip() for line in capsys.readouterr().out.splitlines()}
    assert not ran.exists()
    assert main(["explain", made[3].id, *trail]) == 0
    assert set(words) <= {line.strip() for line in capsys.readouterr().out.splitlines()}
    assert ran.exists()
