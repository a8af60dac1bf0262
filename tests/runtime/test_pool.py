"""The pool in which users' code answers: turns, stops, ends, forks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield, current_run
from stanchion.kernel.lookups import Answer, Answered, Ask, Expired, Failed, Lookup
from stanchion.runtime.answers import pool as pools
from stanchion.runtime.answers.lookups import CLOSED, LookupAnswering
from stanchion.runtime.answers.pool import LanePool
from tests.new_threads import NewThreads

BARE = {"name": "bare"}
LONG_MS = 30_000


def until(true: Callable[[], bool]) -> None:
    """Let others work until something is true."""
    limit = time.monotonic() + 30
    while not true():
        assert time.monotonic() < limit
        time.sleep(0)


class Desk:
    """Asks one guard's code through a pool, and hears what is late."""

    def __init__(self, code: Any, size: int = 1, keeps: bool = False) -> None:
        self.pool = LanePool(size)
        self.late: list[Any] = []
        self.heard = threading.Event()
        self._new = NewThreads()
        self.answering = LookupAnswering(
            lambda *_: code, self._late, lambda _: None, lambda *_: keeps, self.pool
        )

    def ask(self, payload: Any = None, deadline_ms: int = LONG_MS) -> Answer:
        """Ask, and wait for the answer."""
        return self.answering.answer(Ask((Lookup("g", payload, deadline_ms),)))[0]

    async def aask(self, payload: Any = None, deadline_ms: int = LONG_MS) -> Answer:
        """The same in async code."""
        return (await self.answering.aanswer(Ask((Lookup("g", payload, deadline_ms),))))[0]

    def asking(
        self, payload: Any = None, deadline_ms: int = LONG_MS
    ) -> tuple[threading.Thread, list[Answer]]:
        """Ask in a thread of its own."""
        got: list[Answer] = []
        thread = threading.Thread(target=lambda: got.append(self.ask(payload, deadline_ms)))
        thread.start()
        return thread, got

    def threads(self) -> list[threading.Thread]:
        """The threads that work for the guard."""
        return self._new.named("stanchion-g")

    def end(self) -> None:
        """Close the pool and wait until its threads have ended."""
        self.pool.close()
        for thread in self.threads():
            thread.join(60)
        assert not self.threads()

    def _late(self, _policy: str, _lookup: Lookup, value: Any) -> None:
        self.late.append(value)
        self.heard.set()


class Gate:
    """Code that says when it has begun, and waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.asked: list[Any] = []

    def __call__(self, payload: Any) -> Any:
        self.asked.append(payload)
        self.begun.set()
        assert self.go.wait(30)
        return payload


def test_questions_wait_for_their_turn_and_are_answered() -> None:
    """With one thread they are answered one after the other, all of them in time."""
    gate = Gate()
    desk = Desk(gate)
    asked = [desk.asking(number) for number in range(5)]
    gate.begun.wait(60)
    gate.go.set()
    for thread, _ in asked:
        thread.join(60)
    assert sorted(
        answer.value for _, got in asked for answer in got if isinstance(answer, Answered)
    ) == [0, 1, 2, 3, 4]
    assert len(desk.threads()) == 1
    desk.end()


def test_what_raises_is_its_answer_and_the_thread_goes_on() -> None:
    """Even `SystemExit` is one."""

    def code(payload: Any) -> Any:
        raise payload

    desk = Desk(code)
    assert [desk.ask(error("x")) for error in (ValueError, SystemExit, KeyboardInterrupt)] == [
        Failed("ValueError"),
        Failed("SystemExit"),
        Failed("KeyboardInterrupt"),
    ]
    assert len(desk.threads()) == 1
    desk.end()


@pytest.mark.parametrize("keeps", [False, True])
def test_what_has_not_begun_at_its_deadline_is_asked_later_only_where_it_went_ahead(
    keeps: bool,
) -> None:
    """Nobody needs an answer about what was refused; what went ahead is looked at when there is
    time."""
    gate = Gate()
    desk = Desk(gate, keeps=keeps)
    first, got = desk.asking("first")
    gate.begun.wait(60)
    assert desk.ask("second", deadline_ms=1) == Expired(1)
    gate.go.set()
    first.join(60)
    assert got == [Answered("first")]
    assert desk.ask("third") == Answered("third")
    assert gate.asked == (["first", "second", "third"] if keeps else ["first", "third"])
    assert desk.late == (["second"] if keeps else [])
    assert not desk.answering._asked
    desk.end()


def test_where_the_queue_is_full_nobody_waits() -> None:
    """A question that finds no room expires at once, however long its deadline is."""
    gate = Gate()
    desk = Desk(gate)
    asked = [desk.asking(0)]
    assert gate.begun.wait(60)  # until then it waits, too, and takes the room of another
    asked += [desk.asking(number) for number in range(1, 1 + pools.ROOM)]
    lane = desk.pool.lane("g")
    until(lambda: len(lane._waiting) == pools.ROOM)
    assert desk.ask("one too many") == Expired(LONG_MS)
    gate.go.set()
    for thread, got in asked:
        thread.join(60)
        assert isinstance(got[0], Answered)
    assert "one too many" not in gate.asked
    assert not desk.answering._asked
    desk.end()


def test_code_that_takes_a_stop_is_told_when_its_time_is_over() -> None:
    """It can end by itself, and its thread is free again."""
    told: list[bool] = []

    def code(payload: Any, stop: threading.Event) -> str:
        told.append(stop.wait(30))
        return f"{payload} was stopped"

    desk = Desk(code)
    while not told:  # a question that nobody had begun with when its time was over is dropped
        assert desk.ask("one", deadline_ms=1) == Expired(1)
    assert desk.heard.wait(60)
    desk.end()
    assert set(told) == {True}
    assert set(desk.late) == {"one was stopped"}


def test_when_the_run_is_over_what_waits_never_begins_and_nothing_is_heard() -> None:
    """Who still waits is let go at once."""
    gate = Gate()
    desk = Desk(gate, keeps=True)
    first, got = desk.asking("first")
    gate.begun.wait(60)
    second, other = desk.asking("second")
    lane = desk.pool.lane("g")
    until(lambda: bool(lane._waiting))
    desk.answering.stop()
    first.join(60)
    second.join(60)
    assert (got, other) == ([Expired(LONG_MS)], [Expired(LONG_MS)])
    gate.go.set()
    desk.end()
    assert (gate.asked, desk.late) == (["first"], [])
    assert not desk.answering._asked


def test_a_cancelled_caller_wants_no_answer() -> None:
    """Neither async code nor a thread works on for one who has gone."""
    cancelled: list[bool] = []

    async def code(_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    async def gone(desk: Desk, begun: Any) -> None:
        task = asyncio.ensure_future(desk.aask("x"))
        await begun()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def soon() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    desk = Desk(code)
    asyncio.run(gone(desk, soon))
    assert cancelled == [True]
    assert not desk.answering._asked

    gate = Gate()
    desk = Desk(gate, keeps=True)
    asyncio.run(gone(desk, lambda: asyncio.to_thread(gate.begun.wait, 10)))
    gate.go.set()
    desk.end()
    assert desk.late == []
    assert not desk.answering._asked


def test_sync_code_of_an_async_host_answers_in_the_pool() -> None:
    """In time, late, and many at a time."""
    gate = Gate()
    desk = Desk(gate, size=2, keeps=True)

    async def host() -> None:
        assert await desk.aask("late", deadline_ms=1) == Expired(1)
        gate.go.set()
        answers = await asyncio.gather(*[desk.aask(number) for number in range(10)])
        assert answers == [Answered(number) for number in range(10)]

    asyncio.run(host())
    desk.end()
    assert desk.late == ["late"]


def test_an_answer_after_its_loop_has_ended_is_only_late() -> None:
    """Nothing breaks where nobody is left to be woken."""
    gate = Gate()
    desk = Desk(gate, keeps=True)

    async def host() -> Answer:
        return await desk.aask("x", deadline_ms=1)

    assert asyncio.run(host()) == Expired(1)
    gate.go.set()
    assert desk.heard.wait(60)
    desk.end()


def test_threads_end_when_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """And come back when there is."""
    monkeypatch.setattr(pools, "IDLE_S", 0.001)
    desk = Desk(lambda payload: payload)
    for number in range(3):
        assert desk.ask(number) == Answered(number)
        for thread in desk.threads():
            thread.join(60)
        assert not desk.threads()
    desk.end()


def test_a_closed_pool_takes_nothing() -> None:
    """A lookup after the end is refused for that: nobody was late, so that no guard fails open."""
    desk = Desk(lambda payload: payload)
    desk.pool.close()
    assert desk.ask("x") == CLOSED
    assert not desk.answering._asked
    shield = Shield.load(BARE, guards=[lambda event: None])
    run = shield.run("a")
    assert run.check("t", {}).proceeds
    shield.answers.close()
    assert run.check("t", {}).code == "kernel.ended"


def test_code_sees_the_run_it_answers_for_sync_or_async() -> None:
    """The caller's context is there, in a coroutine too."""
    seen: list[Any] = []

    def plain(event: Any) -> None:
        seen.append(current_run())

    async def coroutine(event: Any) -> None:
        seen.append(current_run())

    with Shield.load(BARE, guards=[plain, coroutine]).run("a") as run:
        run.check("t", {})
    assert seen == [run, run]


@pytest.mark.parametrize("size", [0, -1, 10_001, True, 2.5, "8"])
def test_a_size_that_is_none_is_an_error(size: Any) -> None:
    """It says what to give."""
    with pytest.raises(
        ValueError, match=f"answer_threads is `{size}`: give a whole number from 1 to 10,000"
    ):
        Shield.load(BARE, answer_threads=size)


FORKS = """
import os, sys, threading
from stanchion import Shield

begun, go = threading.Event(), threading.Event()

def slow(event):
    if event.tool == "hang":
        begun.set()
        go.wait(30)
    return None if event.tool != "bad" else "no"

slow.deep, slow.deadline_ms = True, int(sys.argv[1])
shield = Shield.load({"name": "bare"}, guards=[slow], store="memory:", journal="memory:", answer_threads=1)
run = shield.run("a")
assert run.check("good", {}).proceeds
other = threading.Thread(target=run.check, args=("hang", {}))
other.start()
begun.wait(60)
child = os.fork()
if child == 0:
    ok = run.check("good", {}).proceeds and run.check("bad", {}).message == "no"
    run.close()
    shield.close()
    os._exit(0 if ok else 1)
go.set()
other.join()
assert run.check("bad", {}).message == "no"
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""  # noqa: E501


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """A child asks and is answered, though its parent's thread was at work when it began."""
    source = str(Path(pools.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, str(LONG_MS)],
        env={**os.environ, "PYTHONPATH": source},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
