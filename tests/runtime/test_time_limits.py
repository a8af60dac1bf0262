"""Time limits of tools that yield, and of streams: they bound all items together, not the host's
own time."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from stanchion import DeadlineExceeded, Shield, Tool
from stanchion.audit.journal import MemoryJournal
from stanchion.runtime.calling.pace import Pace
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving import on_loop
from stanchion.testing.clock import FakeClock
from stanchion.testing.shields import shield_for
from tests.new_threads import NewThreads

BARE = {"name": "bare"}


class Stuck:
    """Tools that hang until the test lets them go on."""

    def __init__(self) -> None:
        self.free, self.closed = threading.Event(), threading.Event()

    def pages(self) -> Iterator[int]:
        try:
            self.free.wait(60)
            yield 1
        finally:
            self.closed.set()

    def listed(self) -> Any:
        return iter(self.pages())

    async def apages(self) -> AsyncIterator[int]:
        try:
            await asyncio.Event().wait()
            yield 1
        finally:
            self.closed.set()


def outcomes(journal: MemoryJournal) -> list[tuple[str, str]]:
    """What is written of how calls ended: the error, and the note."""
    entries = [kept.read() for kept in journal.kept()]
    return [
        (e.beside.get("error", ""), e.notes[-1] if e.notes else "")
        for e in entries
        if e.kind == "outcome"
    ]


@pytest.mark.parametrize("of", [lambda stuck: stuck.pages, lambda stuck: stuck.listed])
def test_a_sync_generator_that_hangs_is_left(of: Callable[[Stuck], Any]) -> None:
    """The caller is kept to the limit; the generator is closed by its own thread once it goes
    on."""
    stuck, journal = Stuck(), MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("ann")
    items = run.call(Tool(of(stuck), "pages", timeout_s=0.05))
    with pytest.raises(
        DeadlineExceeded, match="`pages` did not give all its items within 0\\.05 s"
    ):
        next(items)
    assert not stuck.closed.is_set()
    stuck.free.set()
    assert stuck.closed.wait(60)
    failed, over = outcomes(journal)
    assert (failed[0], over) == ("DeadlineExceeded", ("", "it ended after 0 items"))


@pytest.mark.parametrize("of", [lambda stuck: stuck.pages, lambda stuck: stuck.apages])
def test_a_generator_that_hangs_in_async_code_is_left(of: Callable[[Stuck], Any]) -> None:
    """An async one is cancelled and closed, a sync one goes on in its thread."""
    stuck, journal = Stuck(), MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("ann")

    async def host() -> None:
        items = run.acall(Tool(of(stuck), "pages", timeout_s=0.05))
        with pytest.raises(
            DeadlineExceeded, match="`pages` did not give all its items within 0\\.05 s"
        ):
            await anext(items)
        stuck.free.set()

    asyncio.run(host())
    assert stuck.closed.wait(60)
    assert [error for error, _ in outcomes(journal)] == ["DeadlineExceeded", ""]


def test_the_policys_limit_holds_for_generators() -> None:
    """As it does for functions."""
    stuck = Stuck()
    items = (
        Shield.load({"name": "x", "tools": {"pages": {"timeout_s": 0.05}}})
        .run("ann")
        .call(stuck.pages)
    )
    with pytest.raises(DeadlineExceeded):
        next(items)
    stuck.free.set()


@pytest.mark.parametrize(
    "streams", [lambda run, source: run.stream(source), lambda run, s: run.model(lambda _: s, [])]
)
def test_a_stream_that_hangs_ends_at_the_runs_deadline(streams: Callable[[Any, Any], Any]) -> None:
    """A model's stream, or one of the host's own."""
    stuck = Stuck()

    def words() -> Iterator[str]:
        for number in stuck.pages():
            yield f"{number} "

    chunks = streams(shield_for(BARE).run("ann", deadline_s=0.05), words())
    with pytest.raises(DeadlineExceeded, match="before the run's deadline"):
        list(chunks)
    stuck.free.set()


def test_an_async_stream_that_hangs_ends_at_the_runs_deadline() -> None:
    """The same on an event loop."""
    stuck = Stuck()

    async def words() -> AsyncIterator[str]:
        async for number in stuck.apages():
            yield f"{number} "

    async def host() -> None:
        async for _ in shield_for(BARE).run("ann", deadline_s=0.05).astream(words()):
            pass

    with pytest.raises(DeadlineExceeded, match="before the run's deadline"):
        asyncio.run(host())


def desk_of(clock: FakeClock, **options: Any) -> Desk:
    """A run's desk on a clock of its own."""
    return shield_for(BARE, clock=clock).run("ann", **options).desk


def test_items_share_one_limit_and_the_hosts_time_counts_for_the_deadline_alone() -> None:
    """What each took is taken off; what passes between them is not, unless the run itself has a
    deadline."""
    clock = FakeClock()
    pace = Pace(desk_of(clock), "pages", 10.0)
    assert pace.left_s() == 10.0
    pace.took(4.0)
    clock.advance(3_600_000)
    assert pace.left_s() == 6.0
    pace.took(9.0)
    assert pace.left_s() == 0.0
    pace = Pace(desk_of(clock, deadline_s=5), "pages", 10.0)
    assert pace.left_s() == 5.0
    clock.advance(4_000)
    assert pace.left_s() == 1.0
    clock.advance(4_000)
    assert pace.left_s() == 0.0
    assert Pace(desk_of(clock), "pages", None).left_s() is None


def test_a_generator_in_time_gives_all_its_items_in_order() -> None:
    """With a limit items are made in threads, and nothing else changes: errors, ends, what closing
    it raises."""

    def counted(upto: int) -> Iterator[int]:
        yield from range(upto)
        raise LookupError("at the end")

    items = Shield.load(BARE).run("ann").call(Tool(counted, "counted", timeout_s=60), 3)
    assert [next(items), next(items), next(items)] == [0, 1, 2]
    with pytest.raises(LookupError, match="at the end"):
        next(items)
    assert list(items) == []


class Stubborn:
    """Async tools that hear that they are cancelled, and go on until the test lets them end."""

    def __init__(self, ends: BaseException | None = None) -> None:
        self._ends = ends
        self.closed = False

    def begin(self) -> None:
        """Called on the loop on which it works."""
        self.free, self.over, self.begun = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(self) -> str:
        self.begun.set()
        try:
            while not self.free.is_set():
                with suppress(asyncio.CancelledError):
                    await self.free.wait()
            if self._ends is not None:
                raise self._ends
            return "done"
        finally:
            self.over.set()

    async def pages(self) -> AsyncIterator[str]:
        try:
            yield "first"
            yield await self.work()
        finally:
            self.closed = True

    async def closing(self) -> AsyncIterator[str]:
        try:
            yield "first"
            await asyncio.Event().wait()
        finally:
            await self.work()


def heard(loop: asyncio.AbstractEventLoop) -> list[dict[str, Any]]:
    """What an event loop says of exceptions that nobody took."""
    found: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: found.append(context))
    return found


async def everybody() -> None:
    """Let all other tasks end, and what they leave be collected."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    gc.collect()
    await asyncio.sleep(0)


async def collected(items: Any) -> list[Any]:
    return [item async for item in items]


STILL = "it was cancelled, and is still running"


@pytest.mark.parametrize(
    ("ends", "how"),
    [
        (None, "it returned"),
        (ValueError(), "it raised `ValueError`"),
        (asyncio.CancelledError(), "it was cancelled"),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_an_async_tool_that_does_not_let_itself_be_cancelled_is_left(
    many: bool, ends: BaseException | None, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller has the answer, the outcome says that it goes on, and its end is written down when
    it comes."""
    monkeypatch.setattr(on_loop, "GRACE_S", 0.05)
    stubborn, journal = Stubborn(ends), MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("ann")

    async def host() -> list[dict[str, Any]]:
        stubborn.begin()
        troubles = heard(asyncio.get_running_loop())
        call = run.acall(Tool(stubborn.pages if many else stubborn.work, "work", timeout_s=0.05))
        try:
            with pytest.raises(DeadlineExceeded, match=STILL):
                await (collected(call) if many else call)
            assert not stubborn.over.is_set()
            gc.collect()
        finally:
            stubborn.free.set()
        await everybody()
        assert stubborn.over.is_set()
        return troubles

    assert asyncio.run(host()) == []
    assert stubborn.closed is many
    assert "DeadlineExceeded" in [error for error, _ in outcomes(journal)]
    (fact,) = journal.facts()
    assert (fact.what, fact.why) == (
        "call.ended_late",
        f"`work` was still running when its time was up: {how}",
    )


def test_who_is_cancelled_does_not_wait_for_a_tool_that_is_not() -> None:
    """However much of the tool's time is left."""
    stubborn, journal = Stubborn(), MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("ann")

    async def host() -> None:
        stubborn.begin()
        call = asyncio.create_task(run.acall(Tool(stubborn.work, "work", timeout_s=3_600)))
        await stubborn.begun.wait()
        call.cancel()
        try:
            await asyncio.wait((call,), timeout=120)
            assert call.cancelled()
            assert not stubborn.over.is_set()
        finally:
            stubborn.free.set()
        await everybody()

    asyncio.run(host())


def test_an_async_generator_whose_end_does_not_let_itself_be_cancelled_is_left() -> None:
    stubborn, journal = Stubborn(), MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("ann")

    async def host() -> list[dict[str, Any]]:
        stubborn.begin()
        troubles = heard(asyncio.get_running_loop())
        try:
            with pytest.raises(DeadlineExceeded):
                await collected(run.acall(Tool(stubborn.closing, "work", timeout_s=0.05)))
        finally:
            stubborn.free.set()
        await everybody()
        return troubles

    assert asyncio.run(host()) == []
    assert [fact.what for fact in journal.facts()] == ["call.ended_late"]


def test_a_sync_tool_that_is_late_is_still_running_and_its_end_is_written_down() -> None:
    stuck, journal, threads = Stuck(), MemoryJournal(), NewThreads()
    run = Shield.load(BARE, journal=journal).run("ann")
    tool = Tool(lambda: stuck.free.wait(60), "work", timeout_s=0.05)
    with pytest.raises(DeadlineExceeded, match="and is still running"):
        run.call(tool)
    with pytest.raises(DeadlineExceeded, match="and is still running"):
        asyncio.run(awaiting(run, tool, stuck))
    for thread in threads.named("stanchion-tool"):
        thread.join()
    assert [fact.what for fact in journal.facts()] == ["call.ended_late"] * 2


async def awaiting(run: Any, tool: Tool, stuck: Stuck) -> None:
    try:
        await run.acall(tool)
    finally:
        stuck.free.set()


@pytest.mark.parametrize("many", [False, True])
def test_who_cancels_the_caller_cancels_a_tool_with_a_limit(many: bool) -> None:
    """Where it hears, it ends, and the caller is cancelled."""
    stuck = Stuck()
    run = shield_for(BARE).run("ann")

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stuck.closed.set()

    async def host() -> None:
        tool = Tool(stuck.apages if many else work, "work", timeout_s=60)
        call = collected(run.acall(tool)) if many else run.acall(tool)
        task = asyncio.ensure_future(call)
        while not run._desk.under_way:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(host())
    assert stuck.closed.is_set()


def test_code_between_two_items_keeps_what_belongs_to_its_task() -> None:
    """A time limit of a generator's own holds over several items."""
    run = shield_for(BARE).run("ann")

    async def pages() -> AsyncIterator[int]:
        try:
            async with asyncio.timeout(0.05):
                yield 1
                await asyncio.Event().wait()
        except TimeoutError:
            yield 2

    assert asyncio.run(collected(run.acall(Tool(pages, "pages", timeout_s=60)))) == [1, 2]
