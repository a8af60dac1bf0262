"""Code behind guards answers in a bounded number of threads, and calls do not wait for threads
that hang."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import Risk, Shield, Stage
from stanchion.kernel.lookups import Expired, Lookup
from stanchion.runtime.answers.lookups import LookupAnswering
from stanchion.runtime.answers.pool import LanePool
from tests.new_threads import NewThreads
from tests.runtime.test_pool import until

BARE = {"name": "bare"}


class Hangs:
    """A deep guard whose code hangs until it is let go."""

    id = "hangs"
    deep = True
    deadline_ms = 50

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []

    def judge(self, event: Any) -> str | None:
        self.asked.append(event.tool)
        self.go.wait(30)
        return f"{event.tool} is bad"


def quick(event: Any) -> str | None:
    """A guard that fails closed and answers at once."""
    return "no" if event.tool == "bad" else None


@pytest.fixture
def hangs() -> Iterator[Hangs]:
    """A guard that hangs, let go at the end."""
    guard = Hangs()
    yield guard
    guard.go.set()


@pytest.fixture
def new() -> NewThreads:
    """The threads of this test."""
    return NewThreads()


def test_200_calls_beside_one_that_hangs_have_few_threads_and_do_not_wait(
    hangs: Hangs, new: NewThreads
) -> None:
    """Low-risk calls proceed: the first ones after the deadline, the rest at once."""
    with Shield.load(BARE, guards=[hangs], answer_threads=4) as shield:
        run = shield.run("a")
        begun = time.monotonic()
        for number in range(200):
            decision = run.check(f"tool-{number}", {})
            assert decision.proceeds
            assert [finding.code for finding in decision.findings] == ["kernel.lookup_late"]
        assert time.monotonic() - begun < 25  # one alone hangs for longer
        assert len(new.named("stanchion-hangs")) == 4
        until(lambda: len(hangs.asked) == 4)


def test_by_default_it_is_32_threads(hangs: Hangs, new: NewThreads) -> None:
    """Enough for many agents at a time, and never 201."""
    hangs.deadline_ms = 1
    with Shield.load({**BARE, "deep": {"rest_after": 1_000}}, guards=[hangs]) as shield:
        run = shield.run("a")
        for number in range(200):
            run.check(f"tool-{number}", {})
        assert len(new.named("stanchion-hangs")) == 32


def test_a_high_risk_call_is_refused_at_once(hangs: Hangs) -> None:
    """Nobody would answer in time: it fails closed as it would later."""
    hangs.deadline_ms = 1
    policy = {"name": "risky", "tools": {"pay": {"risk": "high"}}}
    with Shield.load(policy, guards=[hangs], answer_threads=1) as shield:
        run = shield.run("a")
        assert run.check("read", {}).proceeds
        refused = run.check("pay", {})
        assert (refused.code, refused.proceeds) == ("kernel.lookup_undecided", False)
        assert refused.inputs.answers == (("hangs", Expired(1)),)


def test_a_guard_that_hangs_takes_nothing_from_another(hangs: Hangs) -> None:
    """Each has threads of its own."""
    hangs.deadline_ms = 1
    with Shield.load(BARE, guards=[hangs, quick], answer_threads=1) as shield:
        run = shield.run("a")
        for _ in range(20):
            assert run.check("good", {}).proceeds
            assert run.check("bad", {}).code == "python.refused"


def test_what_went_ahead_is_still_asked_about_when_a_thread_is_free(hangs: Hangs) -> None:
    """A late answer enters the run's next event, also one that had to wait for its turn."""
    hangs.deadline_ms = 1
    with Shield.load(BARE, guards=[hangs], answer_threads=1) as shield:
        run = shield.run("a")
        for tool in ("one", "two", "three"):
            assert run.check(tool, {}).proceeds
        hangs.go.set()
        until(lambda: len(run.desk._late) == 3)
        said = [finding.message for finding in run.prompt("go on").findings]
        assert [sum(tool in words for words in said) for tool in ("one", "two", "three")] == [
            1,
            1,
            1,
        ]


def test_10000_lookups_leave_nothing_behind(new: NewThreads) -> None:
    """Whatever became of them: answered, raised, late."""
    pool = LanePool(4)
    go = threading.Event()

    def answer(number: int) -> int:
        if number % 1_000 == 7:
            go.wait(30)
        if number % 3 == 0:
            raise ValueError
        return number

    late: list[Any] = []
    answering = LookupAnswering(
        lambda *_: answer, lambda *told: late.append(told[2]), lambda _: None, lambda *_: True, pool
    )

    class Asked:
        policy = "p"

        def __init__(self, number: int) -> None:
            self.lookups = (Lookup("counts", number, 1 if number % 1_000 == 7 else 5_000),)

    hung = 0
    for number in range(10_000):
        (answered,) = answering.answer(Asked(number))  # type: ignore[arg-type]  # all that is read of it
        hung += isinstance(answered, Expired)
        if hung == 3:
            go.set()
        assert len(new.named("stanchion-counts")) <= 4
    assert hung >= 3
    pool.close()
    for thread in new.named("stanchion-counts"):
        thread.join(60)
    assert new.named("stanchion-counts") == []
    assert not answering._asked
    assert set(late) <= {7, 1_007, 2_007, 3_007, 4_007, 5_007, 6_007, 7_007, 8_007, 9_007}


class Sees:
    """An async guard that hangs, and sees that it is cancelled."""

    id = "sees"
    deep = True
    deadline_ms = 1

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0

    async def judge(self, event: Any) -> None:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def test_async_code_of_an_async_host_is_bounded_and_cancelled() -> None:
    """The newest late ones may still answer; the others are cancelled, and all of them when the run
    is over."""
    guard = Sees()

    async def host() -> None:
        shield = Shield.load(BARE, guards=[guard], answer_threads=4)
        async with shield.run("a") as run:
            for number in range(20):
                assert (await run.acheck(f"tool-{number}", {})).proceeds
            await asyncio.sleep(0)
            assert (guard.begun, guard.cancelled) == (20, 16)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert guard.cancelled == 20
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(host())


def test_async_code_of_a_sync_host_makes_way(new: NewThreads) -> None:
    """Where all threads are late, the one that has been for longest is cancelled, and the next is
    asked."""
    guard = Sees()
    restless = {**BARE, "deep": {"rest_after": 1_000_000}}
    with Shield.load(restless, guards=[guard], answer_threads=2) as shield:
        run = shield.run("a")
        give_up = time.monotonic() + 30
        for number in itertools.count():
            assert run.check(f"tool-{number}", {}).proceeds
            assert len(new.named("stanchion-sees")) <= 2
            if guard.begun > 4 or time.monotonic() > give_up:
                break
        run.close()
        shield.close()
        for thread in new.named("stanchion-sees"):
            thread.join(60)
        assert guard.begun > 4
        assert guard.cancelled == guard.begun


def test_deep_guards_of_other_risks_and_stages_behave_as_before(new: NewThreads) -> None:
    """An answer that comes in time is an answer."""

    def refuse(event: Any) -> str | None:
        return "no" if event.risk >= Risk.HIGH else None

    refuse.stages = (Stage.TOOL_CALL,)  # type: ignore[attr-defined]  # how a guard says where it stands
    refuse.deadline_ms = 30_000  # type: ignore[attr-defined]  # the same
    shield = Shield.load(
        {"name": "risky", "tools": {"pay": {"risk": "high"}}}, guards=[refuse], answer_threads=1
    )
    run = shield.run("a")
    asked = [threading.Thread(target=run.check, args=("read", {})) for _ in range(50)]
    for one in asked:
        one.start()
    for one in asked:
        one.join()
    assert run.check("pay", {}).message == "no"
    assert len(new.named("stanchion-refuse")) == 1
    shield.close()
