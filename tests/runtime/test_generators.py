"""Generator tools of both kinds work in async code, for hosts that iterate and for hosts that
await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from stanchion import Action, Patch, Refused, Shield, Stage, Tool
from stanchion.audit.journal import MemoryJournal
from tests.runtime.guards import says

BARE = {"name": "bare"}


def count(to: int) -> Iterator[str]:
    """Yield texts, from wherever it is driven."""
    for number in range(to):
        yield f"{number}"


async def acount(to: int) -> AsyncIterator[str]:
    """The same for async code."""
    for number in range(to):
        yield f"{number}"


async def listed(items: Any) -> list[Any]:
    """All items, as a framework that always awaits would get them."""
    return [item async for item in await items]


@pytest.mark.parametrize("tool", [count, acount])
def test_both_kinds_are_iterated_over_and_awaited(tool: Any) -> None:
    """Iterating gives the items, awaiting gives what is iterated over."""
    run = Shield.load(BARE).run("a")

    async def host() -> None:
        assert [item async for item in run.acall(tool, 3)] == ["0", "1", "2"]
        assert await listed(run.acall(tool, 3)) == ["0", "1", "2"]
        assert await listed(asyncio.ensure_future(run.acall(tool, 2))) == ["0", "1"]

    asyncio.run(host())


@pytest.mark.parametrize("tool", [count, acount])
def test_every_item_is_judged_and_the_call_settled(tool: Any) -> None:
    """An item that is refused ends it; each is patched by itself; the trail has them all."""
    journal = MemoryJournal()
    hide = says(Action.REDACT, Stage.TOOL_RESULT, patches=(Patch((), "[hidden]"),))
    run = Shield.load(BARE, guards=[hide], journal=journal).run("a")
    assert asyncio.run(listed(run.acall(tool, 2))) == ["[hidden]", "[hidden]"]
    kept = [record.read() for record in journal.kept()]
    assert [entry.stage for entry in kept] == [
        "tool_call",
        "tool_result",
        "tool_result",
        "tool_result",
    ]
    assert kept[-1].notes == ("it ended after 2 items",)

    def third(event: Any) -> str | None:
        return "no third" if event.result == "2" else None

    third.stages = (Stage.TOOL_RESULT,)  # type: ignore[attr-defined]  # how a guard says where it stands
    run = Shield.load(BARE, guards=[third]).run("a")
    got: list[str] = []

    async def host() -> None:
        async for item in run.acall(tool, 9):
            got.append(item)

    with pytest.raises(Refused):
        asyncio.run(host())
    assert got == ["0", "1"]


def test_a_refused_generator_does_not_start() -> None:
    """Judged before its first step, as everywhere."""
    begun: list[int] = []

    def tool() -> Iterator[int]:
        begun.append(1)
        yield 1

    run = Shield.load(BARE, guards=[says(Action.BLOCK, Stage.TOOL_CALL)]).run("a")
    with pytest.raises(Refused):
        asyncio.run(listed(run.acall(tool)))
    assert begun == []


def test_a_sync_generator_never_holds_up_the_loop_and_is_closed_in_a_thread() -> None:
    """Its steps are made elsewhere; closing early ends it."""
    threads: list[int] = []
    closed = threading.Event()

    def tool() -> Iterator[int]:
        try:
            while True:
                threads.append(threading.get_ident())
                yield len(threads)
        finally:
            threads.append(threading.get_ident())
            closed.set()

    async def host() -> int:
        async with aclosing(Shield.load(BARE).run("a").acall(tool)) as items:
            assert [await anext(items), await anext(items)] == [1, 2]
        return threading.get_ident()

    assert asyncio.run(host()) not in threads
    assert closed.is_set()


def test_a_sync_generator_that_is_left_in_the_middle_of_a_step_is_closed_by_it() -> None:
    """Cancelled while it works: nobody waits for it, and its own thread closes it when the step is
    done."""
    working, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def tool() -> Iterator[int]:
        try:
            yield 1
            working.set()
            go_on.wait(60)
            yield 2
        finally:
            closed.set()

    journal = MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("a")

    async def host() -> None:
        items = run.acall(tool)
        assert await anext(items) == 1
        step = asyncio.ensure_future(anext(items))
        await asyncio.to_thread(working.wait, 10)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert not closed.is_set()
        go_on.set()
        assert await asyncio.to_thread(closed.wait, 10)

    asyncio.run(host())


def test_a_shielded_async_generator_that_is_left_early_is_closed_at_once() -> None:
    """Leaving the wrapper leaves the tool, not whenever memory is tidied up."""
    closed: list[bool] = []
    shield = Shield.load(BARE)

    @shield.tool
    async def tool() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    async def host() -> None:
        with shield.run("a"):
            async with aclosing(tool()) as items:  # type: ignore[type-var]  # an async generator, by its hint less
                assert await anext(items) == 1
            assert closed == [True]

    asyncio.run(host())


@pytest.mark.parametrize("tool", [count, acount])
def test_errors_of_both_kinds_are_judged(tool: Any) -> None:
    """What a step raises comes out as it is, and is in the trail."""

    def fails() -> Iterator[int]:
        yield 1
        raise KeyError("lost")

    async def afails() -> AsyncIterator[int]:
        yield 1
        raise KeyError("lost")

    journal = MemoryJournal()
    run = Shield.load(BARE, journal=journal).run("a")
    with pytest.raises(KeyError):
        asyncio.run(listed(run.acall(fails if tool is count else afails)))
    assert "error" in [record.read().stage for record in journal.kept()]


def test_sync_code_is_told_how_to_call_an_async_generator() -> None:
    """`call` cannot drive one, and says what can."""
    with pytest.raises(
        TypeError, match=r"`acount` is an async generator: use `async for item in run.acall\(...\)`"
    ):
        Shield.load(BARE).run("a").call(Tool(acount), 3)
