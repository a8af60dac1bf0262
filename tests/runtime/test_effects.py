"""Effects: what findings do to their run besides the action."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.main import main
from stanchion.ops.views.runs import run_in_full, runs
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.kinds import Kind
from stanchion.testing import FakeClock, ScriptedTool, shield_for


def policy(
    *effects: str, action: str = "warn", mode: str = "enforce", **strikes: Any
) -> dict[str, Any]:
    rule = {
        "use": "rule",
        "id": "odd",
        "when": "event.tool == 'odd'",
        "action": action,
        "message": "this is odd",
    }
    guards = [{**rule, "effects": list(effects), "mode": mode}]
    return {"name": "p", "limits": {"warnings": 1_000}, "strikes": strikes, "guards": guards}


def facts(shield: Shield) -> list[tuple[str, Any]]:
    return [(fact.what, fact.data.get("count")) for fact in shield.journal.facts()]


def told_by(shield: Shield) -> list[str]:
    kinds: list[str] = []
    shield.occurrences.subscribe(lambda one: kinds.append(str(one.kind)), each=True)
    return kinds


def test_a_flag_marks_the_run_once_and_stands_in_its_end(tmp_path: Path) -> None:
    shield = Shield.load(policy("flag_trajectory"), journal=Trail(tmp_path / "trail"))
    kinds = told_by(shield)
    with shield.run("ann", id="r1") as run:
        run.check("odd", {})
        run.check("odd", {"again": 1})
        reader = TrailReader(tmp_path / "trail")
        (open_run,) = runs(reader, 1)
        assert (open_run.state, open_run.flagged) == ("open", ("odd",)), (
            "while the run is open, too"
        )
    with shield.run("bob", id="r2") as run:
        run.check("even", {})
    shield.close()
    assert kinds == [Kind.RUN_FLAGGED]
    assert {one.id: one.flagged for one in runs(TrailReader(tmp_path / "trail"), None)} == {
        "r1": ("odd",),
        "r2": (),
    }
    detail = run_in_full(TrailReader(tmp_path / "trail"), "r1", lambda _keys: {})
    assert detail is not None
    assert detail.flagged == ("odd",)


def test_people_see_flags_and_strikes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    with (
        Shield.load(policy("flag_trajectory", "increment_strike")) as shield,
        shield.run("ann", id="r1") as run,
    ):
        run.check("odd", {"n": 1})
        run.check("odd", {"n": 2})
    assert main(["runs"]) == 0
    assert "ended, flagged" in capsys.readouterr().out
    assert main(["runs", "show", "r1"]) == 0
    told = capsys.readouterr().out
    assert "by odd" in told
    assert "2 by odd" in told


def test_an_alert_is_told_at_once_each_time() -> None:
    shield = shield_for(policy("emit_alert"))
    kinds = told_by(shield)
    run = shield.run("ann")
    run.check("odd", {})
    run.check("even", {})
    run.check("odd", {"again": 1})
    assert kinds == [Kind.ALERT, Kind.ALERT]


def test_strikes_escalate_and_then_isolate() -> None:
    """From the second on the next step waits for a person, from the fourth on the agent is
    isolated."""
    clock = FakeClock()
    rules = policy("increment_strike", escalate_at=2, quarantine_at=4)
    rules["guards"][0]["stages"] = ["tool_call", "tool_result"]
    shield = shield_for(rules, clock=clock, store=MemoryStore(clock))
    run = shield.run("ann")
    assert run.check("odd", {"n": 1}).action == Action.WARN
    assert run.check("even", {"n": 1}).action == Action.ALLOW
    run.check("odd", {"n": 2})
    waits = run.check("even", {"n": 2})
    assert (waits.action, waits.code) == (Action.ESCALATE, "strikes.reached")
    assert waits.message == "guard `odd` has given this run 2 strikes"
    assert run.check("odd", {"n": 3}).code == "strikes.reached", (
        "what waits is not judged, and is no strike"
    )
    clock.advance(1)
    for n in (3, 4):
        run.result("odd", {"n": n}, "done")
    isolated = run.check("even", {"n": 4})
    assert (isolated.action, isolated.code) == (Action.BLOCK, "kernel.quarantined")
    assert not shield.run("ann").check("even", {}).proceeds, "the agent, and not the run"
    assert shield.run("bob").check("even", {}).proceeds


def test_strikes_decay() -> None:
    clock = FakeClock()
    shield = shield_for(
        policy("increment_strike", escalate_at=2, decay_s=60), clock=clock, store=MemoryStore(clock)
    )
    run = shield.run("ann")
    for n in range(4):
        run.check("odd", {"n": n})
        assert run.check("even", {"n": n}).action == Action.ALLOW
        clock.advance(61_000)
    assert [count for _, count in facts(shield)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("per", "seen"),
    [
        ("run", ["ALLOW", "ALLOW", "ALLOW"]),
        ("agent", ["ALLOW", "ESCALATE", "ALLOW"]),
        ("tenant", ["ALLOW", "ESCALATE", "ESCALATE"]),
    ],
)
def test_strikes_are_counted_for_whom_the_policy_says(per: str, seen: list[str]) -> None:
    shield = shield_for(policy("increment_strike", escalate_at=2, quarantine_at=None, per=per))
    said = []
    for agent in ("ann", "ann", "bob"):
        run = shield.run(agent)
        run.check("odd", {})
        said.append(run.check("even", {}).action.name)
    assert said == seen


def test_each_guard_has_its_own_strikes() -> None:
    rules = policy("increment_strike", escalate_at=2)
    other = {**rules["guards"][0], "id": "other", "when": "event.tool == 'other'"}
    shield = shield_for({**rules, "guards": [*rules["guards"], other]})
    run = shield.run("ann")
    run.check("odd", {})
    run.check("other", {})
    assert run.check("even", {}).action == Action.ALLOW


def test_a_guard_that_broke_has_no_effects() -> None:
    broken = {
        "use": "python",
        "call": "tests.guards.house_rules:crashes",
        "effects": ["increment_strike"],
    }
    decision = shield_for({"name": "p", "guards": [broken]}).run("ann").check("t", {"reason": "x"})
    assert decision.code == "kernel.lookup_failed"
    assert decision.effects == ()


def test_any_guard_can_have_effects() -> None:
    guards = [
        {"use": "tool_denylist", "tools": ["rm"], "effects": ["flag_trajectory", "emit_alert"]}
    ]
    run = shield_for({"name": "p", "guards": guards}).run("ann")
    assert run.check("rm", {}).effects == ("flag_trajectory", "emit_alert")
    assert run.check("ls", {}).effects == ()


def test_an_effect_that_is_none_is_refused() -> None:
    guards = [{"use": "tool_denylist", "tools": ["rm"], "effects": ["flag_trajectry"]}]
    with pytest.raises(PolicyError, match=r"`flag_trajectry`.*`flag_trajectory`"):
        Shield.load({"name": "p", "guards": guards})


def test_strikes_of_a_call_that_is_refused_count_as_well() -> None:
    shield = shield_for(policy("increment_strike", action="block", escalate_at=2))
    run = shield.run("ann")
    odd = ScriptedTool("done", name="odd")
    for n in range(2):
        with pytest.raises(Refused):
            run.call(odd, n=n)
    assert odd.count == 0
    assert run.check("even", {}).code == "strikes.reached"
