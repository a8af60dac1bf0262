"""When what a run had is used up, what it has produced comes with the refusal, the last result
included."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Refused
from stanchion.runtime.deciding.run_memory import PartialOverflow
from stanchion.testing import FakeClock, shield_for


def steps(**options: Any) -> dict[str, Any]:
    return {"name": "steps", "guards": [{"use": "step_limit", **options}]}


def test_twenty_five_steps_and_the_last_result_as_the_partial_one() -> None:
    """By default; the run itself goes on, and the agent can report."""
    run = shield_for(steps()).run("a")
    for number in range(25):
        run.call(lambda number: f"result {number}", number=number)
    with pytest.raises(Refused) as refused:
        run.call(lambda: "one more")
    assert refused.value.decision.code == "steps.exceeded"
    assert refused.value.partial == ("result 24",)
    assert not refused.value.ended


def test_what_was_kept_comes_before_the_last_result() -> None:
    """In the order it was produced."""
    run = shield_for(steps(max_steps=1)).run("a")
    run.keep("draft")
    list(run.stream(["a", "b"]))
    run.call(lambda: "last")
    with pytest.raises(Refused) as refused:
        run.call(lambda: "one more")
    assert refused.value.partial == ("draft", "a", "b", "last")


def test_a_refusal_for_another_reason_comes_alone() -> None:
    """The agent has not come to an end."""
    shield = shield_for({"name": "p", "guards": [{"use": "tool_denylist", "tools": ["bash"]}]})
    bash = shield.tool(name="bash")(lambda: None)
    run = shield.run("a")
    run.call(lambda: "something")
    with pytest.raises(Refused) as refused:
        run.call(bash)
    assert refused.value.partial == ()


@pytest.mark.parametrize(
    ("guard", "code"),
    [
        ({"use": "budget", "calls": 1}, "budget.exceeded"),
        ({"use": "time_limit", "max_s": 1}, "time.exceeded"),
        (None, "kernel.deadline"),
    ],
)
def test_the_same_for_budgets_and_time(guard: dict[str, Any] | None, code: str) -> None:
    """Whatever it is that is used up."""
    clock = FakeClock()
    policy = {"name": "p", "guards": [guard] if guard is not None else []}
    run = shield_for(policy, clock=clock).run("a", deadline_s=2)
    assert run.call(lambda: "first") == "first"
    clock.advance(1_500 if guard is not None else 2_500)
    with pytest.raises(Refused) as refused:
        run.call(lambda: "second")
    assert (refused.value.decision.code, refused.value.partial) == (code, ("first",))


def test_a_closed_run_keeps_nothing_more() -> None:
    """What it has kept stays readable."""
    run = shield_for(steps()).run("a")
    with run:
        run.keep("draft")
    with pytest.raises(ValueError, match="complete: start new ones with another run"):
        run.keep("late")
    assert run.partial == ("draft",)


def test_a_cancelled_run_keeps_nothing_more() -> None:
    """It has ended, here and everywhere."""
    run = shield_for(steps()).run("a")
    run.keep("draft")
    run.cancel()
    with pytest.raises(ValueError, match="complete"):
        run.keep("late")


def test_an_overflow_says_how_much_is_kept_and_has_it() -> None:
    """Evidence, not a loss."""
    run = shield_for(steps()).run("a")
    run.keep("x" * (10 * 1024 * 1024))
    with pytest.raises(PartialOverflow, match=r"1 chunks and 10,485,760 bytes are kept") as full:
        run.keep("y")
    assert [len(chunk) for chunk in full.value.kept] == [10_485_760]
