"""Runs in threads: a function is in its run wherever it is called, or is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest

from stanchion import NoRun, Refused, Run, Shield, current_run
from stanchion.testing import shield_for

BARE = {"name": "bare"}


def whose() -> str:
    """The agent of the run around the caller."""
    run = current_run()
    return "" if run is None else run.agent


def shield_with_tool() -> tuple[Shield, Any]:
    shield = shield_for(BARE)

    @shield.tool
    def look(word: str) -> str:
        return f"{word} for {whose()}"

    return shield, look


def in_thread(fn: Any) -> Any:
    """What a function gives, called in a thread that begins with an empty context."""
    came: list[Any] = []
    thread = threading.Thread(target=lambda: came.append(fn()), name="worker")
    thread.start()
    thread.join()
    return came[0]


def error_in_thread(fn: Any) -> BaseException:
    def caught() -> BaseException:
        try:
            raise AssertionError(f"it gave {fn()}")
        except NoRun as error:
            return error

    raised: BaseException = in_thread(caught)
    return raised


def test_without_a_run_it_says_what_to_write() -> None:
    shield, look = shield_with_tool()
    with shield.run("a"):
        error = error_in_thread(lambda: look("tea"))
    assert isinstance(error, NoRun)
    assert "the thread `worker` has no run" in str(error)
    assert "`pool.submit(run.bind(look), ...)`" in str(error)
    assert "`run.thread_pool()`" in str(error)


def test_the_run_of_another_shield_is_none() -> None:
    _, look = shield_with_tool()
    with shield_for(BARE).run("b"), pytest.raises(NoRun, match="another shield"):
        look("tea")


def test_a_bound_function_is_in_its_run_in_any_thread() -> None:
    shield, look = shield_with_tool()
    run = shield.run("a")
    assert in_thread(lambda: run.bind(look)("tea")) == "tea for a"
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run.bind(look), ["x", "y", "z"])) == ["x for a", "y for a", "z for a"]
    assert in_thread(whose) == "", "the thread's own context is as it was"
    assert whose() == ""


def test_it_looks_and_fails_like_the_function_itself() -> None:
    run = shield_for(BARE).run("a")

    def fail(word: str) -> str:
        """Fail."""
        raise ValueError(word)

    bound = run.bind(fail)
    assert (bound.__name__, bound.__doc__) == ("fail", "Fail.")
    with pytest.raises(ValueError, match="tea"):
        bound("tea")
    assert whose() == ""


def test_the_inner_of_two_runs_is_the_one_that_was_bound() -> None:
    shield = shield_for(BARE)
    other = shield_for(BARE)

    @other.tool
    def elsewhere() -> str:
        return whose()

    with other.run("other"), shield.run("outer") as outer, outer.spawn("inner") as inner:
        assert in_thread(outer.bind(whose)) == "outer"
        assert in_thread(inner.bind(whose)) == "inner"
        assert inner.bind(outer.bind(whose))() == "outer"
        assert outer.bind(inner.bind(whose))() == "inner"
        assert in_thread(inner.bind(elsewhere)) == "inner", (
            "the run of the other shield went with it"
        )


def test_a_bound_function_for_async_code() -> None:
    shield = shield_for(BARE)
    run = shield.run("a")

    @shield.tool
    async def later(word: str) -> str:
        await asyncio.sleep(0)
        return f"{word} for {whose()}"

    async def host() -> list[str]:
        loop = asyncio.get_running_loop()
        one = await run.bind(later)("tea")
        two = await loop.run_in_executor(None, run.bind(whose))
        with shield.run("around"):
            three = await asyncio.to_thread(whose)
        both = await asyncio.gather(run.bind(later)("x"), shield.run("b").bind(later)("y"))
        return [one, two, three, *both, whose()]

    assert asyncio.run(host()) == ["tea for a", "a", "around", "x for a", "y for b", ""]


def test_what_yields_or_awaits_outside_is_refused() -> None:
    run = shield_for(BARE).run("a")

    def items() -> Iterator[int]:
        yield 1

    async def later() -> None: ...

    with pytest.raises(TypeError, match="`items` is a generator"):
        run.bind(items)
    with pytest.raises(TypeError, match="bind the async function"):
        run.bind(lambda: later())()  # type: ignore[unused-coroutine]  # what is tested


VALUE: ContextVar[str] = ContextVar("value", default="none")


def test_a_pool_is_in_the_run_of_whoever_submits() -> None:
    shield, look = shield_with_tool()
    with shield.run("a") as run, run.thread_pool(2) as pool:
        assert list(pool.map(look, ["x", "y"])) == ["x for a", "y for a"]
        with run.spawn("child"):
            assert pool.submit(look, word="tea").result() == "tea for child"
        VALUE.set("mine")
        assert pool.submit(VALUE.get).result() == "mine", "other variables go with it"
        assert pool.submit(whose).result() == "a"
        assert in_thread(lambda: pool.submit(whose).result()) == "a", (
            "a thread without a run submits into the pool's"
        )
        assert pool.submit(lambda: pool.submit(whose).result()).result() == "a"

        async def host() -> str:
            return await asyncio.get_running_loop().run_in_executor(pool, whose)

        assert asyncio.run(host()) == "a"


def test_a_pool_of_a_run_that_nobody_entered() -> None:
    shield, look = shield_with_tool()
    run = shield.run("a")
    with run.thread_pool() as pool:
        assert pool.submit(look, "tea").result() == "tea for a"
        with run.spawn("child"):
            assert pool.submit(look, "tea").result() == "tea for child"


def test_a_run_that_is_closed_while_threads_work_refuses_their_next_step() -> None:
    shield, look = shield_with_tool()
    began, closed = threading.Event(), threading.Event()

    def work() -> str:
        first: str = look("tea")
        began.set()
        assert closed.wait(30)
        try:
            return str(look("more"))
        except Refused as refused:
            return f"{first}, then {refused.decision.code}"

    with ThreadPoolExecutor(1) as pool:
        with shield.run("a") as run:
            left = pool.submit(run.bind(work))
            late = run.bind(look)
            assert began.wait(30)
        closed.set()
        assert left.result() == "tea for a, then kernel.ended"
        with pytest.raises(Refused) as refused:
            pool.submit(late, "tea").result()
    assert refused.value.decision.code == "kernel.ended"


def test_calls_from_many_threads_count_on_one_budget() -> None:
    """Each is judged in the run it was bound to: of twenty at once, the seven that are paid for go
    ahead."""
    shield = shield_for({"name": "n", "guards": [{"use": "budget", "calls": 7}]})

    @shield.tool
    def work() -> str:
        return whose()

    def tried(run: Run) -> str:
        try:
            return str(work())
        except Refused as refused:
            return refused.decision.code

    with shield.run("a") as run, run.thread_pool(8) as pool:
        came = list(pool.map(tried, [run] * 20))
    assert came.count("a") == 7
    assert len(set(came)) == 2
