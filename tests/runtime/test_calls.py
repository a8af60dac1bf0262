"""Calling tools: any kind of function keeps its result, its exceptions and its signature."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion import Action, DeadlineExceeded, NoRun, Refused, Shield, Stage
from stanchion.kernel.findings import Patch
from tests.rules import rule
from tests.runtime.guards import says

BARE = {"name": "bare"}


def refusing(*tools: str) -> Shield:
    """A shield that refuses these tools and nothing else."""
    return Shield.load(BARE, guards=[says(Action.BLOCK, Stage.TOOL_CALL, tools=frozenset(tools))])


def test_the_tools_own_result_comes_back() -> None:
    """Not a copy, not a projection: the object itself."""
    kept: Any
    for kept in (["a"], {"a": (1, 2)}, b"a", SimpleNamespace(a=1), object()):
        with Shield.load({**BARE, "unread": "allow"}).run() as run:
            give: Callable[[], Any] = partial(lambda one: one, kept)
            assert run.call(give) is kept


def test_the_tools_own_exception_comes_back() -> None:
    """With its type, its arguments and its identity."""
    error = KeyError("missing")

    def fails() -> None:
        raise error

    with Shield.load(BARE).run() as run, pytest.raises(KeyError) as raised:
        run.call(fails)
    assert raised.value is error


def test_a_shielded_function_looks_like_the_function() -> None:
    """Name, docs, signature and kind are kept, so that frameworks see what they expect."""
    shield = Shield.load(BARE)

    def read(path: str, *, limit: int = 3) -> str:
        """Read a file."""
        return path[:limit]

    async def fetch(url: str) -> str:
        return url

    def lines(n: int) -> Iterator[int]:
        yield from range(n)

    async def events(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    for fn in (read, fetch, lines, events):
        shielded = shield.tool(fn)
        assert shielded.__name__ == fn.__name__
        assert shielded.__doc__ == fn.__doc__
        assert inspect.signature(shielded) == inspect.signature(fn)
        for kind in (
            inspect.iscoroutinefunction,
            inspect.isgeneratorfunction,
            inspect.isasyncgenfunction,
        ):
            assert kind(shielded) == kind(fn)


def test_a_shielded_function_outside_a_run_says_what_to_do() -> None:
    """It does not run unjudged."""
    ran: list[int] = []

    @Shield.load(BARE).tool
    def tool() -> None:
        ran.append(1)

    with pytest.raises(NoRun, match=r"inside `with shield\.run"):
        tool()
    assert ran == []


def test_a_tool_of_one_shield_is_not_judged_by_another() -> None:
    """The run that counts is the innermost one of the tool's own shield."""
    mine, other = refusing("touch"), Shield.load(BARE)

    @mine.tool
    def touch() -> str:
        return "touched"

    with other.run(), pytest.raises(NoRun):
        touch()
    with mine.run(), other.run(), pytest.raises(Refused):
        touch()


def test_methods_are_judged_by_their_arguments_not_their_object() -> None:
    """`self` is no argument of the event; the bound object still gets the call."""
    shield = Shield.load(BARE)

    class Disk:
        def __init__(self) -> None:
            self.gone: list[str] = []

        @shield.tool(name="disk.remove")
        def remove(self, path: str) -> int:
            self.gone.append(path)
            return len(self.gone)

    disk = Disk()
    with shield.run() as run:
        assert disk.remove("a") == 1
        assert run.call(disk.remove, path="b") == 2
    first, second = (
        kept.read() for kept in shield.journal.kept() if kept.read().stage == "tool_call"
    )
    assert (first.tool, first.content, second.content) == (
        "disk.remove",
        {"path": "a"},
        {"path": "b"},
    )


def test_async_tools_are_awaited() -> None:
    """Their result comes back, and a refusal keeps them from starting."""
    ran: list[str] = []
    shield = refusing("denied")

    @shield.tool
    async def allowed(x: int) -> int:
        ran.append("allowed")
        return x + 1

    @shield.tool
    async def denied() -> None:
        ran.append("denied")

    async def main() -> int:
        async with shield.run() as run:
            assert await run.acall(allowed, 1) == 2
            with pytest.raises(Refused):
                await denied()
            return await allowed(41)

    assert asyncio.run(main()) == 42
    assert ran == ["allowed", "allowed"]


def test_an_async_tool_in_a_sync_call_is_an_error_not_an_allow() -> None:
    """Nothing is judged as done that nobody awaited."""

    async def fetch() -> None: ...

    with Shield.load(BARE).run() as run:
        with pytest.raises(TypeError, match="acall"):
            run.call(fetch)  # type: ignore[unused-coroutine]  # the mistake is what is tested
        with pytest.raises(TypeError, match="acall"):
            run.call(lambda: fetch())  # type: ignore[unused-coroutine]  # the mistake is what is tested


def test_sync_tools_in_async_code_do_not_hold_up_the_loop() -> None:
    """They work in a thread: something else on the loop can let them finish."""
    free = threading.Event()

    async def main() -> str:
        with Shield.load(BARE).run() as run:
            waiting = asyncio.ensure_future(run.acall(lambda: free.wait(30) and "done"))
            await asyncio.sleep(0)
            free.set()
            return str(await waiting)

    assert asyncio.run(main()) == "done"


def test_generator_tools_are_judged_item_by_item() -> None:
    """Refused before the first step, and every item before the agent gets it."""
    steps: list[int] = []
    shield = Shield.load(
        BARE,
        guards=[
            says(Action.BLOCK, Stage.TOOL_CALL, id="no", tools=frozenset({"denied"})),
            says(Action.REDACT, Stage.TOOL_RESULT, id="hide", patches=(Patch((), "hidden"),)),
        ],
    )

    def numbers(n: int) -> Iterator[Any]:
        for i in range(n):
            steps.append(i)
            yield i

    def denied() -> Iterator[int]:
        steps.append(-1)
        yield 1

    with shield.run() as run:
        stream = run.call(numbers, 3)
        assert steps == []
        assert list(stream) == ["hidden"] * 3
        with pytest.raises(Refused):
            next(run.call(denied))
    assert steps == [0, 1, 2]


def test_async_generator_tools_are_judged_item_by_item() -> None:
    """The same on an event loop."""

    async def numbers(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    async def main() -> list[int]:
        with Shield.load(BARE).run() as run:
            return [item async for item in run.acall(numbers, 3)]

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_sync_caller_is_kept_to_the_deadline() -> None:
    """The caller gets its error while the tool is still blocked."""
    free = threading.Event()
    shield = Shield.load({"name": "p", "tools": {"hang": {"timeout_s": 0.05}}})

    def hang() -> None:
        free.wait(30)

    with (
        shield.run() as run,
        pytest.raises(DeadlineExceeded, match=r"`hang` did not finish within 0\.05 s"),
    ):
        run.call(hang)
    assert not free.is_set()
    free.set()


def test_an_async_tool_is_cancelled_at_its_deadline() -> None:
    """It sees the cancellation, and the caller a deadline."""
    seen: list[str] = []
    shield = Shield.load(BARE)

    @shield.tool(timeout_s=0.05)
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        with shield.run(), pytest.raises(DeadlineExceeded):
            await hang()

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_a_tools_own_timeout_error_is_not_ours() -> None:
    """A TimeoutError that the tool raises comes back as it is."""

    async def fails() -> None:
        raise TimeoutError("the server's")

    async def main() -> None:
        with Shield.load(BARE).run(deadline_s=60) as run:
            with pytest.raises(TimeoutError, match="the server's") as raised:
                await run.acall(fails)
            assert not isinstance(raised.value, DeadlineExceeded)

    asyncio.run(main())


def test_patched_arguments_reach_the_tool_and_the_others_stay_themselves() -> None:
    """Only what a patch changed is replaced; positional, keyword and spread arguments alike."""
    patches = (Patch(("text",), "hidden"), Patch(("extra",), 7), Patch(("rest", 0), "first"))
    shield = Shield.load(BARE, guards=[says(Action.REDACT, Stage.TOOL_CALL, patches=patches)])
    kept = Path("x")

    def tool(path: Path, text: str, *rest: str, **more: Any) -> tuple[Any, ...]:
        return path, text, rest, more

    with shield.run() as run:
        path, text, rest, more = run.call(tool, kept, "secret", "a", "b", extra=1, other=kept)
    assert path is kept
    assert more == {"extra": 7, "other": kept}
    assert (text, rest) == ("hidden", ("first", "b"))


def test_a_call_with_wrong_arguments_fails_as_python_does_and_is_recorded() -> None:
    """It was judged with what the agent gave; the tool never ran."""
    shield = Shield.load(BARE)

    def read(path: str) -> str:
        return path

    with shield.run() as run, pytest.raises(TypeError, match="unexpected keyword"):
        run.call(read, paht="x")  # type: ignore[call-overload]  # the mistake is what is tested
    stages = [kept.read().stage for kept in shield.journal.kept()]
    assert stages == ["tool_call", "error"]


def test_what_an_undo_raises_does_not_hide_the_refusal() -> None:
    """The agent is told of both."""
    shield = Shield.load(BARE, guards=[says(Action.BLOCK, Stage.TOOL_RESULT)])

    def broken(_user: str) -> None:
        raise OSError("disk")

    @shield.tool(undo=broken)
    def delete(user: str) -> str:
        return user

    with shield.run() as run:
        with pytest.raises(Refused):
            delete("ada")
        assert run.notices() == ("the action could not be undone: `OSError`",)


def test_a_keyboard_interrupt_goes_through() -> None:
    """Stanchion swallows nothing that is not its own."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    with Shield.load(BARE).run() as run, pytest.raises(KeyboardInterrupt):
        run.call(interrupted)


def test_an_argument_that_a_patch_takes_out_does_not_reach_the_tool() -> None:
    """Whole arguments are patched: one that is gone is not given."""
    guard = says(Action.REDACT, Stage.TOOL_CALL, patches=(Patch((), {"a": 1}),))
    got: list[dict[str, Any]] = []

    def tool(**options: Any) -> None:
        got.append(options)

    Shield.load({"name": "bare"}, guards=[guard]).run("x").call(tool, a=2, secret="s")
    assert got == [{"a": 1}]


def test_a_value_that_a_name_would_hide_is_an_error_and_nothing_runs() -> None:
    paid: list[int] = []

    def pay(amount: int, /, **more: int) -> None:
        """Pay."""
        paid.append(amount)

    run = Shield.load(rule_on_amounts(), store="memory:", journal="memory:").run("a")
    with pytest.raises(TypeError, match="`pay` is given `amount` twice"):
        run.call(pay, 5_000, amount=1)
    with pytest.raises(Refused):
        run.call(pay, 5_000)
    run.call(pay, 5, tip=1)
    assert paid == [5]


def rule_on_amounts() -> dict[str, Any]:
    """A policy under which nobody pays much."""
    most = rule("most", "tool_call", when="event.args.amount > 1000")
    return {"name": "p", "guards": [most]}
