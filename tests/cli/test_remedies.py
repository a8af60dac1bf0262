"""What `stanchion explain` suggests where a budget, a time limit or a step limit has spoken."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from stanchion import Action, Decision, Finding, Stage
from stanchion.audit.journal import MemoryJournal
from stanchion.cli.explain import _counter
from stanchion.kernel.guard import Kind
from stanchion.ops.views.explain import DecisionCase, explain
from stanchion.testing import FakeClock, shield_for

TASK = "another task: its spending is counted apart"
LEFT = "a fifth or more left of every budget of the run and its task: in lockdown warnings refuse"


class Desk:
    """A run under a policy, and what would have let its last decision pass."""

    def __init__(self, *guards: dict[str, Any], **more: Any) -> None:
        self.clock = FakeClock()
        self.journal = MemoryJournal()
        policy = {"name": "p", "guards": list(guards), **more}
        self.shield = shield_for(policy, clock=self.clock, journal=self.journal)
        self.run = self.shield.run("a", "t")

    def check(self, count: int = 1, **usage: Any) -> Decision:
        return [self.run.check("tool", {}, **usage) for _ in range(count)][-1]

    def to_pass(self, run: Any = None) -> tuple[str, ...]:
        entry = self.journal.kept()[-1].read()
        return (
            explain(
                DecisionCase(entry, (self.run if run is None else run).desk.info),
                self.shield.policy,
            )
            .findings[0]
            .to_pass
        )


@pytest.mark.parametrize(
    ("entry", "usage", "ways"),
    [
        (
            {"tokens": 1000, "per": "task"},
            {"tokens": 1001},
            ("no more than 1,000 tokens per task, used and reserved together (`tokens`)", TASK),
        ),
        (
            {"tokens": 1000, "cost_usd": 2, "per": "tenant"},
            {"tokens": 1, "cost_usd": 2.5},
            ("no more than $2.00 per tenant, used and reserved together (`cost_usd`)",),
        ),
        (
            {"api_calls": 1, "window_s": 60, "per": "fleet"},
            {"api_calls": 2},
            (
                (
                    "no more than 1 API call per fleet in any 1 min, used and reserved together "
                    "(`api_calls`)"
                ),
                "the same call later, when earlier spending has left the window",
            ),
        ),
        (
            {"duration_s": 10, "warn_at": 50, "escalate_at": 80, "per": "agent"},
            {"duration_s": 8},
            ("less than 80 % of 10 seconds of work per agent (`escalate_at` of `duration_s`)",),
        ),
        (
            {"tokens": 100, "warn_at": 50, "escalate_at": 80},
            {"tokens": 60},
            ("less than 50 % of 100 tokens per run (`warn_at` of `tokens`)",),
        ),
    ],
)
def test_a_budget(entry: dict[str, Any], usage: dict[str, Any], ways: tuple[str, ...]) -> None:
    desk = Desk({"use": "budget", **entry})
    assert desk.check(**usage).findings
    assert desk.to_pass() == ways


def test_a_mark_that_strict_mode_has_tightened_is_told_by_its_option() -> None:
    desk = Desk(
        {"use": "budget", "id": "calls", "calls": 10},
        {"use": "budget", "tokens": 100, "warn_at": 50, "escalate_at": 90},
        autonomy=True,
    )
    assert desk.check(6, tokens=0).inputs.mode == "strict"
    assert desk.check(tokens=40).code == "budget.nearly"
    assert desk.to_pass() == ("less than 40 % of 100 tokens per run (`warn_at` of `tokens`)",)


def test_where_a_warning_refuses_more_budget_would_help_as_well() -> None:
    calls = {"use": "budget", "id": "calls", "calls": 6}
    budget = Desk(calls, {"use": "budget", "tokens": 100, "warn_at": 50}, autonomy=True)
    steps = Desk(calls, {"use": "step_limit", "max_steps": 9, "warn_after": 5}, autonomy=True)
    time = Desk(calls, {"use": "time_limit", "max_s": 60, "warn_at": 50}, autonomy=True)
    for desk in (budget, steps, time):
        assert desk.check(5, tokens=0).proceeds
    time.clock.advance(30_000)
    assert [desk.check(tokens=50).inputs.mode for desk in (budget, steps, time)] == ["lockdown"] * 3
    assert budget.to_pass() == (
        "less than 50 % of 100 tokens per run (`warn_at` of `tokens`)",
        LEFT,
    )
    assert steps.to_pass() == ("no more than 5 steps per run (`warn_after`)", LEFT)
    assert time.to_pass() == (
        "before 50 % of 1 min after the first action of the run (`warn_at`)",
        LEFT,
    )


def test_a_time_limit() -> None:
    desk = Desk(
        {
            "use": "time_limit",
            "max_s": 60,
            "estimate_s": 6,
            "warn_at": 50,
            "escalate_at": 90,
            "per": "task",
        }
    )
    desk.check()
    said = []
    for _ in range(3):
        desk.clock.advance(24_000)
        desk.check()
        said.append(desk.to_pass())
    assert said == [
        (
            "before 50 % of 1 min after the first action of the task (`warn_at`)",
            "a smaller `estimate_s`",
        ),
        (
            "before 90 % of 1 min after the first action of the task (`escalate_at`)",
            "a smaller `estimate_s`",
        ),
        (
            "within 1 min after the first action of the task (`max_s`)",
            "a smaller `estimate_s`",
            "another task: its time is counted apart",
        ),
    ]


def test_a_child_that_has_used_what_was_carved_out_for_it() -> None:
    desk = Desk({"use": "budget", "tokens": 100})
    child = desk.run.spawn("kid", budget={"tokens": 10})
    assert child.check("tool", {}, tokens=11).code == "budget.exceeded"
    assert desk.to_pass(child) == ("a larger budget for this child when it is spawned",)


def test_a_budget_that_is_used_up() -> None:
    desk = Desk({"use": "budget", "calls": 2}, autonomy=True)
    assert desk.check(3).code == "kernel.exhausted"
    assert desk.to_pass() == ("something left of every budget of the run and its task",)


def gives_a_number(_event: Any) -> Any:
    return 7


def raises(event: Any) -> Any:
    raise LookupError(f"no such thing as {event.args}")


@pytest.mark.parametrize(
    ("call", "way"),
    [
        (
            "gives_a_number",
            "gave something that is not an answer: have it return None, a text or a Finding",
        ),
        (
            "raises",
            (
                "raised `LookupError`: fix it (the error's text is not kept, because it may hold "
                "secrets)"
            ),
        ),
    ],
)
def test_a_failing_guard_is_named_with_its_code_and_what_is_wrong(call: str, way: str) -> None:
    desk = Desk({"use": "python", "id": "mine", "call": f"{__name__}:{call}"})
    refused = desk.run.check("pay", {"pin": "hunter2-pin"})
    assert "`mine`" in refused.message
    assert desk.to_pass() == (f"`{__name__}:{call}` {way}", "or set `fail_open` for the guard")
    assert "hunter2-pin" not in refused.message + "".join(desk.to_pass())


class Few:
    """A guard of one's own that says what would have helped."""

    id = "few"
    kind = Kind.PURE
    stages = (Stage.TOOL_CALL,)
    most = 2
    remedies: ClassVar = {
        "few.many": (
            "at most {most:,} a day",
            "{0:unless}nobody",
            "{1} is not known",
            "{1:unless}{whom:names}",
        ),
    }

    def judge(self, _reading: Any) -> Finding:
        return Finding(Action.BLOCK, "few.many", ("ann",), text="too many")

    def places(self, finding: Finding, _event: Any) -> dict[str, object]:
        return {"whom": [*finding.args, "bob"]}


def test_a_guard_of_ones_own_says_what_would_have_helped() -> None:
    """What has nothing to stand in one of its places is left out."""
    journal = MemoryJournal()
    with shield_for({"name": "p"}, journal=journal, guards=[Few()]) as shield:
        run = shield.run("a")
        assert run.check("tool", {}).code == "few.many"
        told = explain(DecisionCase(journal.kept()[-1].read(), run.desk.info), shield.policy)
    assert told.findings[0].to_pass == ("at most 2 a day", "`ann`, `bob`")


def test_limits_are_in_units_people_use() -> None:
    guard = {"use": "budget", "cost_usd": 5, "warn_at": 80, "duration_s": 100, "calls": 10}
    desk = Desk(guard)
    desk.check(cost_usd=1, duration_s=1)
    entry = desk.journal.kept()[-1].read()
    explained = explain(DecisionCase(entry, desk.run.desk.info), desk.shield.policy)
    said = "\n".join(map(_counter, explained.counters))
    assert "WARN from $4.00 on, BLOCK after $5.00" in said
    assert "WARN from 1 min 20 s on, BLOCK after 1 min 40 s" in said
    assert "WARN after 7 calls, BLOCK after 10 calls" in said
    assert "999" not in said
