"""State that is shared: by threads that begin together, by the parts of the core and their
integration, by children."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from stanchion.dialects.veronica import (
    AgentStepGuard,
    BudgetEnforcer,
    BudgetWindowHook,
    CircuitBreaker,
    CircuitState,
    Decision,
    DialectError,
    RetryContainer,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)

CTX = ToolCallContext("r", tool_name="t", cost_usd=0.2)


def together(count: int, work: Callable[[], object]) -> list[object]:
    """What so many threads get that all begin at the same moment."""
    came: list[object] = []
    begin = threading.Barrier(count)

    def worker() -> None:
        begin.wait()
        came.append(work())

    threads = [threading.Thread(target=worker) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


def failing() -> None:
    raise ConnectionError("down")


def test_threads_that_begin_together_share_one_limit() -> None:
    guard, budget, breaker, window = (
        AgentStepGuard(5),
        BudgetEnforcer(0.05),
        CircuitBreaker(5),
        BudgetWindowHook(None, 5),
    )
    assert together(30, guard.step).count(True) == guard.current_step == 5
    assert together(30, lambda: budget.spend(0.01)).count(True) == 5
    assert budget.spent_usd == 0.05
    together(5, breaker.record_failure)
    assert breaker.state is CircuitState.OPEN
    assert together(12, lambda: window.before_charge(ToolCallContext("r"), 0.0)).count(None) == 5


def test_parts_of_the_core_show_what_the_calls_of_their_integration_have_come_to() -> None:
    guard, budget = AgentStepGuard(3), BudgetEnforcer(1.0)
    vi = VeronicaIntegration(core=[guard, budget])
    assert (guard.current_step, budget.spent_usd, guard.check()) == (0, 0.0, Decision.ALLOW)
    assert [vi.execute(CTX, lambda n=n: n) for n in range(4)] == [0, 1, 2, Decision.HALT]
    assert (guard.current_step, guard.last_result, guard.is_exceeded, guard.check()) == (
        3,
        2,
        True,
        Decision.HALT,
    )
    assert (budget.spent_usd, budget.remaining_usd, budget.is_exceeded) == (0.6, 0.4, False)
    assert budget.spend(0.5) is False
    assert budget.spend(0.4) is True, (
        "a part takes from what it shares, and what it refuses ends nothing"
    )
    assert (budget.is_exceeded, budget.check()) == (True, Decision.HALT)


def test_a_breaker_in_the_core_is_open_while_calls_are_refused() -> None:
    breaker = CircuitBreaker(2)
    vi = VeronicaIntegration(core=breaker)
    assert vi.execute(ToolCallContext("r", tool_name="good"), lambda: 1) == 1
    for _ in range(2):
        assert breaker.state is CircuitState.CLOSED
        with pytest.raises(ConnectionError):
            vi.execute(CTX, failing)
    assert (vi.execute(CTX, failing), breaker.state) == (Decision.HALT, CircuitState.OPEN)


def test_a_container_says_whether_something_can_be_tried_again() -> None:
    alone, shared = RetryContainer(2, 0.0), RetryContainer(2, 0.0)
    vi = VeronicaIntegration(core=[shared])
    assert alone.check() is shared.check() is Decision.ALLOW
    with pytest.raises(ConnectionError):
        alone.execute(failing)
    with pytest.raises(ConnectionError):
        vi.execute(CTX, failing)
    assert (alone.total_retries, shared.total_retries) == (2, 2)
    assert alone.check() is shared.check() is Decision.HALT
    alone.reset()
    assert alone.check() is Decision.ALLOW


def test_a_part_counts_for_one_integration() -> None:
    guard, used = AgentStepGuard(), AgentStepGuard()
    used.step()
    VeronicaIntegration(core=[guard])
    twice = AgentStepGuard()
    for core in ([guard], [used], [twice, twice]):
        with pytest.raises(DialectError, match="counts something else already: give a new one"):
            VeronicaIntegration(core=core)
    with pytest.raises(DialectError, match="bounds an integration"):
        guard.reset()
    with pytest.raises(DialectError, match="`failure_predicate` nobody would ask"):
        VeronicaIntegration(core=CircuitBreaker(failure_predicate=bool))


def test_children_end_when_their_parent_is_closed() -> None:
    parent = VeronicaIntegration(shield=ShieldConfig())
    child = parent.spawn()
    grandchild = child.spawn()
    assert grandchild.execute(CTX, lambda: 1) == 1
    parent.close()
    assert [one.execute(CTX, lambda: 1) for one in (parent, child, grandchild)] == [
        Decision.HALT
    ] * 3
    for one in (parent, child):
        with pytest.raises(DialectError, match="the integration is closed"):
            one.spawn()
    other = VeronicaIntegration(shield=ShieldConfig())
    other.spawn().close()
    assert other.execute(CTX, lambda: 1) == 1, "a child's end is not its parent's"


def test_children_share_the_steps_of_their_parent() -> None:
    guard, budget = AgentStepGuard(6), BudgetEnforcer(100.0)
    vi = VeronicaIntegration(core=[guard, budget])
    family = [vi, vi.spawn(), vi.spawn(1.0), vi.spawn().spawn(0.5)]
    model = ToolCallContext("r", model="m")
    for one in family:
        assert one.execute(CTX, lambda: 1) == 1
    came = together(12, lambda: [one.execute(model, lambda: 1) for one in family])
    flat = [answer for answers in came if isinstance(answers, list) for answer in answers]
    assert (flat.count(1), flat.count(Decision.HALT)) == (2, 46)
    assert (guard.current_step, guard.check(), vi.spawn().execute(CTX, lambda: 1)) == (
        6,
        Decision.HALT,
        Decision.HALT,
    )
    other = VeronicaIntegration(core=[AgentStepGuard(1)], store=vi.run.desk.shield.store)
    assert other.spawn().execute(CTX, lambda: 1) == 1, "another family has steps of its own"
    with pytest.raises(DialectError, match="give it to `VeronicaIntegration`"):
        ShieldPipeline(core=[AgentStepGuard(1)])  # type: ignore[list-item]


def test_a_limit_of_steps_in_the_core_counts_models_and_tools_alike() -> None:
    guard = AgentStepGuard(3)
    vi = VeronicaIntegration(core=[guard])
    assert vi.execute(CTX, lambda: "found") == "found"
    with pytest.raises(ConnectionError):
        vi.execute(CTX, failing)
    assert vi.execute(ToolCallContext("r", model="m"), lambda: "hello") == "hello"
    assert (guard.current_step, guard.remaining_steps, guard.last_result) == (3, 0, "hello")
    for ctx in (CTX, ToolCallContext("r", model="m")):
        assert vi.execute(ctx, lambda: "more") is Decision.HALT
    assert guard.last_result == "hello"
