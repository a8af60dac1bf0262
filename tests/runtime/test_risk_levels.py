"""The risk level of a run: it selects guards, comes from run, task and parent, and at the worst
asks a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.audit.open_trail import open_trail
from stanchion.audit.reader import TrailReader
from stanchion.audit.rebuilt import inputs_of, moment_of
from stanchion.kernel.events import RunInfo
from stanchion.kernel.replay import replay
from stanchion.policy.lint import lint
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid
from tests.ops.broker.brokers import serving

LEVELS: Final = (None, "low", "medium", "high", "critical")


def denies(guard_id: str, tool: str, **placed: Any) -> dict[str, Any]:
    return {"use": "tool_denylist", "id": guard_id, "tools": [tool], **placed}


POLICY: Final[dict[str, Any]] = {
    "name": "levels",
    "risk": {"low": {"active": ["core-*"]}, "medium": {"active": ["core-*", "safety-1"]}},
    "tasks": {"docs": {"risk": "low"}, "release": {"risk": "high"}, "prod-*": {"risk": "critical"}},
    "guards": [
        denies("core-1", "rm"),
        denies("safety-1", "mv"),
        denies("safety-1-more", "mv2", part_of="safety-1"),
        denies("other", "cp"),
        denies("stands", "dd", always=True),
    ],
}

REFUSED: Final = {
    None: {"rm", "mv", "mv2", "cp", "dd"},
    "low": {"rm", "dd"},
    "medium": {"rm", "mv", "mv2", "dd"},
    "high": {"rm", "mv", "mv2", "cp", "dd"},
    "critical": {"rm", "mv", "mv2", "cp", "dd"},
}


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_selects_the_guards_that_judge(level: Any) -> None:
    with shield_for(POLICY).run("a", risk=level) as run:
        found = {
            tool
            for tool in ("rm", "mv", "mv2", "cp", "dd")
            if run.check(tool, {}).action is Action.BLOCK
        }
        assert found == REFUSED[level]
        assert run.check("ls", {}).action is (
            Action.ESCALATE if level == "critical" else Action.ALLOW
        )


@pytest.mark.parametrize(
    ("task", "asked", "level"),
    [
        ("", None, ""),
        ("", "low", "low"),
        ("docs", None, "low"),
        ("docs", "medium", "medium"),
        ("release", "low", "high"),
        ("prod-db", "high", "critical"),
        ("other", None, ""),
    ],
)
def test_the_worse_of_run_and_task_counts(task: str, asked: Any, level: str) -> None:
    with shield_for(POLICY).run("a", task, risk=asked) as run:
        assert run.desk.info.risk == level


def test_a_child_has_at_least_the_level_of_its_parent() -> None:
    with shield_for(POLICY).run("a", "release") as run:
        assert run.spawn("b", "docs").desk.info.risk == "high"
        assert run.spawn("b", "docs", risk="critical").desk.info.risk == "critical"
        assert run.spawn("b", "").spawn("c", "", risk="low").desk.info.risk == "high"


def test_a_level_that_there_is_not_is_refused() -> None:
    wrong: Any = "hihg"
    with pytest.raises(
        ValueError, match="`hihg` is not a risk level: give one of low, medium, high, critical"
    ):
        shield_for(POLICY).run("a", risk=wrong)


def test_a_reload_gives_runs_under_way_the_new_level_of_their_task() -> None:
    shield = shield_for(POLICY)
    with shield.run("a", "docs") as run:
        assert run.check("mv", {}).proceeds
        shield.reload({**POLICY, "tasks": {"docs": {"risk": "medium"}}})
        assert not run.check("mv", {}).proceeds


def marks(level: Any, strict: bool) -> list[str]:
    meter = {"use": "budget", "calls": 10, "warn_at": 50}
    risk = {"high": {"strict_marks": strict}, "critical": {"strict_marks": strict}}
    with shield_for({"name": "p", "guards": [meter], "risk": risk}).run("a", risk=level) as run:
        return [run.check("ls", {"n": n}).action.name for n in range(6)]


def test_strict_marks_come_as_early_as_in_strict_mode() -> None:
    assert marks("high", False) == marks(None, True) == ["ALLOW"] * 4 + ["WARN"] * 2
    assert marks("high", True) == ["ALLOW"] * 3 + ["WARN"] * 3


def test_at_critical_a_person_says_yes_to_each_action_whatever_else_is_allowed() -> None:
    signer, known = operator("ann")
    shield, paid = shield_for({"name": "bare"}, operators=[known]), Paid()
    with shield.run("bot", "t", risk="critical") as run:
        for amount in (5, 6):
            with pytest.raises(Refused) as raised:
                run.call(paid.pay, amount=amount)
            assert raised.value.decision.code == "kernel.approval"
            assert raised.value.ticket is not None
            shield.approve(raised.value.ticket, by=signer)
            assert run.call(paid.pay, amount=amount) == amount
            with pytest.raises(Refused):
                run.call(paid.pay, amount=amount)
        assert run.handoff("other", {"goal": "go on"}).action is Action.ESCALATE
        assert run.egress("https://example.com/").action is Action.ESCALATE
        assert run.prompt("hello").proceeds
    assert paid.amounts == [5, 6]


def test_at_critical_a_yes_is_proven_and_for_one_call() -> None:
    signer, known = operator("ann")
    shield, paid = shield_for({"name": "bare"}, operators=[known]), Paid()
    with shield.run("bot", "t", risk="critical") as run, pytest.raises(Refused) as raised:
        run.call(paid.pay, amount=5)
    assert raised.value.ticket is not None
    with pytest.raises(AnswerRefused, match="only be for one call"):
        shield.approve(raised.value.ticket, by=signer, scope="task")
    unproven = shield_for({"name": "bare"})
    with unproven.run("bot", risk="critical") as run, pytest.raises(Refused) as alone:
        run.call(paid.pay, amount=5)
    assert alone.value.ticket is not None
    with pytest.raises(AnswerRefused, match="critical"):
        unproven.approve(alone.value.ticket, by="ann")


def test_another_level_can_ask_for_a_person_too() -> None:
    with shield_for({"name": "p", "risk": {"high": {"approval": True}}}).run(
        "a", risk="high"
    ) as run:
        assert run.check("ls", {}).action is Action.ESCALATE
        assert run.spawn("b", risk="critical").check("ls", {}).action is Action.ESCALATE


def test_what_only_watches_asks_nobody() -> None:
    with shield_for({"name": "p", "mode": "shadow"}).run("a", risk="critical") as run:
        assert run.check("ls", {}).action is Action.ALLOW


def test_a_run_without_a_level_is_written_down_as_it_always_was() -> None:
    bare, levelled = (
        msgspec.json.encode(run) for run in (RunInfo("r"), RunInfo("r", level="high"))
    )
    assert b"risk" not in bare
    assert b'"risk":"high"' in levelled
    assert [msgspec.json.decode(each, type=RunInfo).risk for each in (bare, levelled)] == [
        "",
        "high",
    ]


def test_a_decision_at_a_level_is_made_again_from_its_record(tmp_path: Path) -> None:
    shield = shield_for(POLICY, journal=open_trail(tmp_path / "trail"))
    with shield, shield.run("a", "release", risk="low") as run:
        made = run.check("cp", {})
    reader = TrailReader(tmp_path / "trail")
    found = reader.find(made.id)
    assert found is not None
    begun = reader.begun(found)
    assert begun is not None
    assert begun.run.risk == "high"
    entry = found.entry()
    again = replay(shield.policy, begun.run, moment_of(entry, begun.run), inputs_of(entry))
    assert (again.action, again.findings) == (made.action, made.findings)


WRONG: Final = [
    (
        {"low": {"active": ["core-2"]}},
        "there is no guard `core-2` to be active: did you mean `core-1`?",
    ),
    ({"medium": {"active": ["core-*"]}}, "`safety-1` is active at `low` and not at `medium`"),
    ({"low": {"approval": True}}, "`low` has `approval: true` and `medium` does not"),
    ({"high": {"strict_marks": True}}, "`high` has `strict_marks: true` and `critical` does not"),
    ({"hihg": {}}, "the key `hihg` is not known: did you mean `high`?"),
]


@pytest.mark.parametrize(("risk", "said"), WRONG, ids=[said for _, said in WRONG])
def test_levels_that_make_no_sense_are_told(risk: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy({**POLICY, "risk": risk})
    assert len(error.value.faults) == 1
    assert said in str(error.value)


def test_what_is_always_active_is_so_at_every_level() -> None:
    stands = denies("stands", "dd", always=True, applies_to={"risks": ["high"]})
    with pytest.raises(PolicyError, match="`stands` is always active, at every risk level"):
        load_policy({"name": "p", "guards": [stands]})


def test_a_guard_can_be_for_some_levels_alone() -> None:
    guards = [denies("strict", "rm", applies_to={"risks": ["none", "high"]})]
    shield = shield_for({"name": "p", "guards": guards})
    found = [
        shield.run("a", risk=level).check("rm", {}).proceeds for level in (None, "low", "high")
    ]
    assert found == [False, True, False]


def test_lint_tells_of_levels_that_nothing_uses() -> None:
    first, *said = lint(
        {"name": "p", "tasks": {"t": {"risk": "high"}}, "risk": {"low": {"active": ["*"]}}}
    ).remarks
    assert first.code == "unguarded"
    assert [(remark.code, remark.sure) for remark in said] == [
        ("unused", "likely"),
        ("unused", "info"),
    ]
    assert (
        "the task `t` has the risk level `high`, and the policy says nothing of that level"
        in said[0].message
    )
    assert "no task has the risk level `low`" in said[1].message
    for fine in ({"tasks": {"t": {"risk": "critical"}}}, {"risk": {"low": {"active": ["*"]}}}):
        assert [one.code for one in lint({"name": "p", **fine}).remarks] == ["unguarded"]


def test_through_a_broker_a_level_can_only_make_it_stricter() -> None:
    with (
        Shield.load(POLICY) as shield,
        serving(shield) as path,
        Shield.load(f"broker:{path}") as far,
    ):
        with pytest.raises(ValueError, match="`low` leaves out guards of the broker's policy"):
            far.run("a", risk="low")
        with far.run("a", risk="critical") as run:
            assert run.check("ls", {}).action is Action.ESCALATE
            assert run.spawn("b", risk="low").check("ls", {}).action is Action.ESCALATE
        with far.run("a", "docs", risk="medium") as run:
            assert not run.check("mv", {}).proceeds
            assert run.check("cp", {}).proceeds
