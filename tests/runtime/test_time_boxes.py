"""Time boxes end by themselves: a rule without an answer is told to stop, though nothing
follows."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from typing import Any

import pytest

from stanchion import Shield
from stanchion.testing import shield_for
from tests.new_threads import NewThreads
from tests.runtime.test_pool import until

BOX = {"time_box_s": 0.2}


class Waits:
    """Blocking code that takes a `stop`."""

    id = "rule"
    deep = True

    def __init__(self) -> None:
        self.told: list[bool] = []

    def judge(self, _event: Any, stop: threading.Event) -> None:
        self.told.append(stop.wait(30))


class Sleeps:
    """Async code, which can be cancelled."""

    id = "rule"
    deep = True

    def __init__(self) -> None:
        self.told: list[bool] = []

    async def judge(self, _event: Any) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.told.append(True)
            raise


class SleepsWithStop(Sleeps):
    """Async code with blocking work elsewhere, which looks at its `stop`."""

    async def judge(self, _event: Any, stop: threading.Event) -> None:  # type: ignore[override]  # a guard may take it
        try:
            await asyncio.sleep(30)
        finally:
            self.told.append(stop.is_set())


def boxed(code: Any, **deep: Any) -> Shield:
    """A shield with one deep rule whose time box is short."""
    tools = {"low": {"risk": "low"}}
    return shield_for(
        {"name": "boxed", "tools": tools, "deep": {**BOX, **deep}}, guards=[code], answer_threads=2
    )


MINDER = "stanchion-time-boxes"
"""What a thread is called that looks after time boxes."""


def until_dropped(shield: Shield, number: int) -> None:
    """Wait until the time of so many questions is over."""
    until(lambda: shield.answers.counted().get(("rule", "dropped"), 0) >= number)


@pytest.mark.parametrize("kind", [Waits, Sleeps])
@pytest.mark.parametrize("questions", [1, 6])
def test_a_rule_is_told_to_stop_though_nothing_follows(kind: Any, questions: int) -> None:
    code = kind()
    asked = 0
    with boxed(code, rest_after=1_000) as shield:
        run = shield.run("a")
        while not code.told:  # one that nobody has begun with when its time is over is told nothing
            for _ in range(questions):
                asked += 1
                run.check("low", {"number": asked})
            until_dropped(shield, asked)
            until(lambda: shield.answers.at_rest)
        assert all(code.told)


@pytest.mark.parametrize("kind", [Sleeps, SleepsWithStop])
def test_on_a_loop_async_code_is_cancelled_and_told(kind: Any) -> None:
    code = kind()

    async def main() -> None:
        with boxed(code) as shield:
            run = shield.run("a")
            for number in range(6_000):
                if (
                    number % 100 == 0
                ):  # one that has not begun when its time is over is told nothing
                    await run.acheck("low", {"number": number})
                if code.told:
                    return
                await asyncio.sleep(0.01)

    asyncio.run(main())
    assert set(code.told) == {True}


def test_one_thread_looks_after_all_questions_and_ends_with_the_last() -> None:
    code = Sleeps()
    with boxed(code) as shield:
        new = NewThreads()
        for name in "abc":
            shield.run(name).check("low", {})
        assert len(new.named(MINDER)) <= 1
        until(lambda: len(code.told) + shield.answers.counted().get(("rule", "dropped"), 0) >= 3)
        until(lambda: not new.named(MINDER))


def test_closing_ends_it_before_its_time() -> None:
    new = NewThreads()
    with boxed(Sleeps(), time_box_s=3_000) as shield:
        shield.run("a").check("low", {})
        assert len(new.named(MINDER)) == 1
    until(lambda: not new.named(MINDER))


def test_a_shorter_time_box_of_a_new_policy_is_not_kept_waiting_by_a_longer_one() -> None:
    code = Sleeps()
    with boxed(code, time_box_s=3_000) as shield:
        run = shield.run("a")
        run.check("low", {})
        short = {**BOX, "rest_after": 1_000}
        shield.reload({"name": "boxed", "tools": {"low": {"risk": "low"}}, "deep": short})
        for again in itertools.count(1):
            run.check("low", {"again": again})
            until_dropped(shield, again)
            if code.told:
                break


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_looks_after_its_own() -> None:
    code = Sleeps()
    with boxed(code, time_box_s=5) as shield:
        shield.run("a").check("low", {})
        child = os.fork()
        if not child:
            new = NewThreads()
            shield.run("b").check("low", {})
            os._exit(len(new.named(MINDER)) != 1)
        assert os.waitpid(child, 0)[1] == 0
