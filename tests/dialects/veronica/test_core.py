"""The runtime core: each part by itself, with the document's defaults."""

from __future__ import annotations

import asyncio

import pytest

from stanchion.dialects.veronica import (
    AgentStepGuard,
    BudgetEnforcer,
    CircuitBreaker,
    CircuitState,
    Decision,
    DialectError,
    PartialBufferOverflow,
    PartialResultBuffer,
    RetryContainer,
)
from stanchion.guards.recovery import Recovery
from stanchion.runtime.deciding.retries import backoff_ms
from stanchion.testing import FakeClock, ScriptedTool
from tests.guards.test_step_limit import in_threads


def failing(times: int) -> ScriptedTool:
    return ScriptedTool(*[ValueError("wrong") for _ in range(times)], "done", name="work")


def test_the_defaults_are_those_of_the_document() -> None:
    retries, breaker = RetryContainer(), CircuitBreaker()
    assert (retries.max_retries, retries.backoff_base, retries.backoff_max, retries.jitter) == (
        3,
        1.0,
        30.0,
        0.25,
    )
    assert (breaker.failure_threshold, breaker.recovery_timeout) == (5, 60.0)
    assert (BudgetEnforcer().limit_usd, AgentStepGuard().max_steps) == (100.0, 25)


def test_no_wait_is_longer_than_the_longest() -> None:
    guard = (
        RetryContainer(3, backoff_base=10, backoff_max=0.05, jitter=0.5)
        ._shield()
        .policy.seats[0]
        .placed.guard
    )
    assert isinstance(guard, Recovery)
    assert [backoff_ms(guard._terms, attempt, lambda: 1.0) for attempt in (1, 2, 3)] == [50, 50, 50]


def test_a_container_makes_so_many_attempts_and_one_more() -> None:
    retries = RetryContainer(max_retries=3, backoff_base=0)
    for fails, count in ((0, 1), (2, 3), (3, 4)):
        tool = failing(fails)
        assert retries.execute(tool) == "done"
        assert (tool.count, retries.total_retries) == (count, count - 1)
    never = failing(9)
    with pytest.raises(ValueError, match="wrong"):
        retries.execute(never)
    assert never.count == 4
    assert asyncio.run(retries.aexecute(failing(2).as_async())) == "done"


def test_containers_round_one_another_share_their_retries() -> None:
    tool = failing(99)
    inner, outer = RetryContainer(backoff_base=0), RetryContainer(backoff_base=0)
    with pytest.raises(ValueError, match="wrong"):
        outer.execute(lambda: inner.execute(tool))
    assert tool.count == 4


def test_a_breaker_opens_tries_one_call_and_closes() -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(2, 10, clock=clock)
    assert breaker.execute(lambda: 1) == 1
    for _ in range(2):
        assert breaker.state.name == "CLOSED"
        with pytest.raises(ZeroDivisionError):
            breaker.execute(lambda: 1 // 0)
    assert (breaker.state, breaker.check()) == (CircuitState.OPEN, Decision.HALT)
    breaker.record_success()
    assert breaker.state.name == "OPEN", "a success while it is open is none of a probe"
    clock.advance(10_000)
    assert (breaker.state, breaker.check(), breaker.check()) == (
        CircuitState.HALF_OPEN,
        Decision.ALLOW,
        Decision.HALT,
    )
    breaker.record_failure()
    assert breaker.state.name == "OPEN"
    clock.advance(10_000)
    assert breaker.execute(lambda: 2) == 2
    assert breaker.state.name == "CLOSED"
    breaker.record_failure()
    breaker.record_failure()
    breaker.reset()
    assert (breaker.state, breaker.check()) == (CircuitState.CLOSED, Decision.ALLOW)


def test_a_predicate_says_what_a_failure_is_and_one_that_fails_says_nothing() -> None:
    def network(error: BaseException) -> bool:
        return bool(error.args[0])

    clock = FakeClock()
    breaker = CircuitBreaker(1, 10, network, clock=clock)
    breaker.record_failure(ValueError(0))
    assert breaker.state.name == "CLOSED"
    breaker.record_failure(ValueError())
    assert breaker.state.name == "OPEN", "it raised"
    clock.advance(10_000)
    assert breaker.check() is Decision.ALLOW
    breaker.record_failure(ValueError(0))
    assert breaker.check() is Decision.ALLOW, "a failure that is none makes room for the next probe"


def test_a_budget_is_exact_refuses_for_good_and_records_nothing_of_what_it_refused() -> None:
    budget = BudgetEnforcer(1.0)
    assert [budget.spend(0.6), budget.spend(0.4), budget.check()] == [True, True, Decision.ALLOW]
    assert (budget.spent_usd, budget.remaining_usd, budget.is_exceeded) == (1.0, 0.0, False)
    assert [budget.spend(0.1), budget.check(), budget.spend(0.0)] == [False, Decision.HALT, False]
    assert (budget.spent_usd, budget.is_exceeded) == (1.0, True)
    budget.reset()
    assert (budget.spend(1.0), budget.spent_usd) == (True, 1.0)
    assert (BudgetEnforcer(0.0).check(), BudgetEnforcer(0.0).spend(0.01)) == (Decision.HALT, False)


def test_steps_end_and_the_last_result_is_kept() -> None:
    guard = AgentStepGuard(2)
    assert [guard.step("one"), guard.step("two"), guard.step("three")] == [True, True, False]
    assert (guard.last_result, guard.current_step, guard.remaining_steps, guard.is_exceeded) == (
        "two",
        2,
        0,
        True,
    )
    guard.reset()
    assert (guard.last_result, guard.execute(lambda: 5), guard.remaining_steps) == (None, 5, 1)
    guard.step()
    assert guard.execute(lambda: 5) is Decision.HALT


def test_many_threads_take_five_steps_and_spend_five_cents() -> None:
    guard, budget = AgentStepGuard(5), BudgetEnforcer(0.05)
    assert guard.step()
    assert budget.spend(0.01)
    taken: list[bool] = []
    spent: list[bool] = []

    def work(_number: int) -> None:
        taken.append(guard.step())
        spent.append(budget.spend(0.01))

    in_threads(20, work)
    assert (taken.count(True), spent.count(True)) == (4, 4)


def test_a_buffer_keeps_what_came_until_it_is_full_or_complete() -> None:
    buffer = PartialResultBuffer(max_chunks=2)
    buffer.append("a")
    assert (buffer.is_partial, buffer.is_complete, buffer.chunk_count) == (True, False, 1)
    buffer.append("b")
    with pytest.raises(PartialBufferOverflow) as full:
        buffer.append("c")
    assert (full.value.kept, buffer.get_partial(), buffer.chunks) == (("a", "b"), "ab", ("a", "b"))
    buffer.mark_complete()
    assert (buffer.is_partial, buffer.is_complete) == (False, True)
    with pytest.raises(DialectError, match="the buffer is complete"):
        buffer.append("d")
    with pytest.raises(PartialBufferOverflow):
        PartialResultBuffer(max_bytes=3).append("four")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_probe_that_is_cut_off_does_not_keep_its_place(kind: type[BaseException]) -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(1, 60, clock=clock)

    def cut_off() -> None:
        raise kind

    breaker.record_failure()
    clock.advance(60_001)
    with pytest.raises(kind):
        breaker.execute(cut_off)
    clock.advance(60_001)
    assert breaker.execute(len, "ab") == 2
