"""What a tool raises comes out as it is, also where generators and coroutines have their own
meaning for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.findings import Retry
from stanchion.runtime.calling.tool import Tool
from tests.runtime.guards import Says, says

BARE = {"name": "bare"}
LEFT = "it was interrupted: its outcome is not known"


class Custom(StopIteration):
    """Somebody's own kind of it."""


def raises(error: BaseException) -> Any:
    """A tool that raises that."""

    def tool() -> None:
        raise error

    return tool


def araises(error: BaseException) -> Any:
    """The same as an async one."""

    async def tool() -> None:
        raise error

    return tool


def traced() -> tuple[Any, MemoryJournal]:
    """A run and its journal."""
    journal = MemoryJournal()
    return Shield.load(BARE, journal=journal).run("a"), journal


def judged(journal: MemoryJournal) -> list[str]:
    """The errors that were judged."""
    kept = [record.read() for record in journal.kept()]
    return [
        entry.beside["error"]
        for entry in kept
        if entry.stage == "error" and LEFT not in entry.notes
    ]


@pytest.mark.parametrize(
    "error", [StopIteration(7), Custom(), StopAsyncIteration(), StopIteration()]
)
@pytest.mark.parametrize("timeout_s", [None, 5.0])
def test_the_caller_of_a_sync_tool_gets_what_it_raised(
    error: Exception, timeout_s: float | None
) -> None:
    """The very object, without a `RuntimeError` round it, judged under its own name."""
    run, journal = traced()
    with pytest.raises(type(error)) as raised:
        run.call(Tool(raises(error), timeout_s=timeout_s))
    assert raised.value is error
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert judged(journal) == [type(error).__name__]


def test_an_empty_iterator_can_be_asked_through_a_run() -> None:
    """`next` is a function like any other."""
    run, _ = traced()
    items = iter(["one"])
    assert run.call(Tool(lambda: next(items), "next_item")) == "one"
    with pytest.raises(StopIteration):
        run.call(Tool(lambda: next(items), "next_item"))


@pytest.mark.parametrize("error", [StopIteration(7), Custom()])
def test_the_awaiting_caller_gets_what_python_makes_of_it(error: StopIteration) -> None:
    """No coroutine can raise it: a `RuntimeError` has it as its cause. It is judged under its own
    name, and does not hang where a sync tool raises it in a thread."""
    run, journal = traced()

    async def host() -> None:
        async with asyncio.timeout(10):
            await run.acall(raises(error))

    with pytest.raises(RuntimeError, match="StopIteration") as raised:
        asyncio.run(host())
    assert raised.value.__cause__ is error
    assert judged(journal) == [type(error).__name__]


def test_an_async_tool_cannot_raise_it_either() -> None:
    """Python turns it before anybody sees it; `StopAsyncIteration` comes out as it is."""
    run, journal = traced()
    with pytest.raises(RuntimeError, match="coroutine raised StopIteration"):
        asyncio.run(run.acall(araises(StopIteration())))
    with pytest.raises(StopAsyncIteration):
        asyncio.run(run.acall(araises(StopAsyncIteration())))
    with pytest.raises(StopAsyncIteration):
        asyncio.run(run.acall(raises(StopAsyncIteration())))
    assert judged(journal) == ["RuntimeError", "StopAsyncIteration", "StopAsyncIteration"]


def test_a_runtime_error_with_such_a_cause_stays_what_it_is() -> None:
    """Only what Python itself made of it is undone."""
    run, journal = traced()

    def tool() -> None:
        try:
            next(iter(()))
        except StopIteration as stop:
            raise RuntimeError("nothing there") from stop

    with pytest.raises(RuntimeError, match="nothing there"):
        run.call(tool)
    assert judged(journal) == ["RuntimeError"]


def test_it_is_retried_and_ends_a_run_as_any_error() -> None:
    """What is decided about an error holds for it."""
    calls: list[int] = []

    def tool() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise StopIteration
        return "done"

    retry = Says(Action.RETRY, frozenset({Stage.ERROR}), terms=Retry(max_attempts=3))
    assert Shield.load(BARE, guards=[retry]).run("a").call(tool) == "done"
    with pytest.raises(Refused):
        Shield.load(BARE, guards=[says(Action.HALT, Stage.ERROR)]).run("a").call(
            raises(StopIteration())
        )


def test_a_models_comes_out_too() -> None:
    """The same for whatever `run.model` calls."""

    def model(messages: list[Any]) -> str:
        raise StopIteration("no more replies")

    run, journal = traced()
    with pytest.raises(StopIteration, match="no more replies"):
        run.model(model, [])
    assert judged(journal) == ["StopIteration"]


@pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError(), KeyboardInterrupt()])
def test_what_is_no_error_goes_through_and_leaves_an_outcome(error: BaseException) -> None:
    """Nobody judges it; the trail says that the call was left."""
    run, journal = traced()
    with pytest.raises(type(error)) as raised:
        run.call(raises(error))
    assert raised.value is error
    assert judged(journal) == []
    assert journal.kept()[-1].read().notes == (LEFT,)
