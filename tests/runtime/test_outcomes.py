"""A call that is cancelled, closed, late, interrupted or left has its outcome, call by call."""

from __future__ import annotations

import asyncio
import gc
import linecache
import os
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield, Tool
from stanchion.audit.journal import MemoryJournal
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore

SOAK = bool(os.environ.get("STANCHION_SOAK"))
POLICY: dict[str, Any] = {
    "name": "cancelled",
    "tools": {"high": {"risk": "high"}},
    "guards": [{"use": "budget", "duration_s": 10_000, "tokens": 10_000_000}, {"use": "breaker"}],
}
GOES: frozenset[str] = frozenset(NAMES[: PROCEEDS + 1])


class Slow:
    """A store that lets others run before and after it has carried a batch out: so it can be
    cancelled at both."""

    def __init__(self, store: Any) -> None:
        self.inner = store

    async def acarry(self, batch: Batch) -> Reply:
        """Carry a batch out, some turns of the loop later."""
        await asyncio.sleep(0)
        reply: Reply = self.inner.carry(batch)
        await asyncio.sleep(0)
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def unmatched(journal: MemoryJournal) -> tuple[list[str], int]:
    """The calls that went ahead and have no outcome, and how many went ahead."""
    entries = [kept.read() for kept in journal.kept()]
    begun = [
        e.id
        for e in entries
        if e.kind == INTENT and e.stage in ("tool_call", "model_call") and e.action in GOES
    ]
    ended = {e.call for e in entries if e.kind == OUTCOME}
    return [one for one in begun if one not in ended], len(begun)


async def quick(number: int) -> int:
    await asyncio.sleep(0)
    return number


async def fails(number: int) -> int:
    await asyncio.sleep(0)
    raise ValueError(number)


async def pages(number: int) -> AsyncIterator[int]:
    for page in range(number % 3 + 1):
        await asyncio.sleep(0)
        yield page


async def all_of(items: Any) -> list[Any]:
    return [item async for item in items]


async def said(_messages: Any) -> AsyncIterator[str]:
    for word in ("a", "b"):
        await asyncio.sleep(0)
        yield word


async def streamed(run: Any, _number: int) -> Any:
    return await all_of(await run.amodel(said, [{"content": "hi"}], tokens=5))


KINDS: list[Callable[[Any, int], Any]] = [
    lambda run, number: run.acall(quick, number),
    lambda run, number: run.acall(Tool(quick, "high"), number),
    lambda run, number: run.acall_once(f"k{number % 7}", quick, number % 7),
    lambda run, number: run.acall(fails, number),
    lambda run, number: all_of(run.acall(pages, number)),
    lambda run, number: run.amodel(quick, [{"content": "hi"}], tokens=5),
    streamed,
]


async def cancelled_everywhere(run: Any, seed: int, calls: int) -> None:
    """Calls of every kind, several at once, each cancelled after some turns of the loop, or not at
    all."""
    draw = random.Random(seed)

    async def one(number: int) -> None:
        task = asyncio.ensure_future(KINDS[draw.randrange(len(KINDS))](run, number))
        for _ in range(draw.randrange(24)):
            await asyncio.sleep(0)
        for _ in range(draw.choice((0, 1, 1, 2))):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(task, return_exceptions=True)
        assert (
            task.cancelled()
            or task.exception() is None
            or isinstance(task.exception(), (Refused, ValueError))
        )

    for start in range(0, calls, 8):
        await asyncio.gather(*[one(number) for number in range(start, start + 8)])


def stores(tmp_path: Path) -> dict[str, Callable[[], Any]]:
    """Where it is tried; on a server only in a soak."""

    def redis() -> Any:
        from stanchion.stores.redis import RedisStore
        from tests.stores.redis_server import shared

        shared().ask("FLUSHALL")
        return RedisStore(shared().url)

    return {
        "memory": lambda: Slow(MemoryStore()),
        "sqlite": lambda: SqliteStore(tmp_path / "state.db"),
        "redis": redis,
    }


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"] if SOAK else ["memory", "sqlite"])
@pytest.mark.parametrize("seed", range(40 if SOAK else 2))
def test_a_call_that_is_cancelled_anywhere_has_an_outcome(
    tmp_path: Path, kind: str, seed: int
) -> None:
    """Before, during and after the tool, once or twice: one for each call that went ahead, and
    nothing stays held."""
    journal, store = MemoryJournal(), stores(tmp_path)[kind]()
    shield = Shield.load(POLICY, store=store, journal=journal)
    run = shield.run("ann", "bill")
    asyncio.run(cancelled_everywhere(run, seed, 800 if SOAK else 160))
    run.close()
    shield.unsettled.close(store)
    left, count = unmatched(journal)
    assert (left, count > 20) == ([], True)
    assert list(store.holds()) == []
    shield.close()


def test_an_interrupt_anywhere_in_a_call_leaves_no_call_without_an_outcome() -> None:
    """Ctrl-C at one line after the other of the runtime, from its first to its last."""
    lines = 0
    while True:
        journal = MemoryJournal()
        shield = Shield.load({"name": "bare"}, journal=journal)
        seen, place = 0, ""

        def interrupting(frame: Any, event: str, _arg: Any, at: int = lines) -> Any:
            nonlocal seen, place
            if not frame.f_code.co_filename.endswith(
                ("runtime/calling/call.py", "runtime/deciding/judging.py")
            ):
                return (
                    None
                    if event == "call" and "stanchion" not in frame.f_code.co_filename
                    else interrupting
                )
            # Python 3.11 has no handler for the line of a `try` itself, and delivers no signal
            # there either.
            if (
                event == "line"
                and linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip() != "try:"
            ):
                seen += 1
                if seen == at + 1:
                    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                    raise KeyboardInterrupt
            return interrupting

        run = shield.run("ann")
        sys.settrace(interrupting)
        try:
            run.call(str, 1)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        run.close()
        if seen <= lines:
            break
        left, _ = unmatched(journal)
        assert left == [], place
        lines += 1
    assert lines > 40


def numbers(upto: int) -> Iterator[int]:
    yield from range(upto)


def bad_end(_upto: int) -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        raise LookupError("raised while it closed")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", ["closed", "dropped", "never taken", "the rest taken"])
@pytest.mark.parametrize("tool", [numbers, bad_end, lambda upto: iter(numbers(upto))])
def test_a_generator_that_is_left_however_has_an_outcome(tool: Any, how: str) -> None:
    """Also one that raises when it is closed: its error is the tool's own, and recorded."""
    journal = MemoryJournal()
    run = Shield.load(POLICY, journal=journal).run("ann")
    items = run.call(Tool(tool, "tool"), 5)
    try:
        if how != "never taken":
            assert next(items) in (0, 1)
        if how == "closed":
            items.close()
        elif how == "the rest taken":
            list(items)
    except LookupError:
        assert tool is bad_end
    del items
    gc.collect()
    run.close()
    assert unmatched(journal)[0] == []
    errors = [
        entry.beside.get("error")
        for kept in journal.kept()
        if (entry := kept.read()).stage == "error"
    ]
    assert errors == (["LookupError"] if tool is bad_end and how != "never taken" else [])


def test_a_refusal_goes_before_what_a_generator_raises_when_it_is_closed() -> None:
    """What ended it is what the caller gets."""

    def second(event: Any) -> str | None:
        return "no more" if event.result == 2 else None

    second.stages = ["tool_result"]  # type: ignore[attr-defined] # how a guard says it
    items = Shield.load({"name": "bare"}, guards=[second]).run("ann").call(bad_end, 2)
    assert next(items) == 1
    with pytest.raises(Refused, match="no more") as refused:
        next(items)
    assert refused.value.happened


def words(error: BaseException | None) -> Iterator[str]:
    yield "all is well, and there is more to come "
    if error is not None:
        raise error
    yield "key ghp_" + "x7Kp2Lq9Zt4Wv8Rb3Nc6Md1Hs5Jf0Gy7Ta2Q"


@pytest.mark.parametrize("how", ["refused", "interrupted", "closed", "broken"])
def test_a_stream_that_no_call_began_has_an_outcome_too(how: str) -> None:
    journal = MemoryJournal()
    policy = {"name": "p", "guards": [{"use": "secrets", "action": "block"}]}
    run = Shield.load(policy, journal=journal).run("a")
    errors = {"interrupted": KeyboardInterrupt(), "broken": OSError("gone")}
    stream: Any = run.stream(words(errors.get(how)))
    if how == "closed":
        next(stream)
        stream.close()
    else:
        with pytest.raises((Refused, KeyboardInterrupt, OSError)):
            list(stream)
    outcomes = [
        entry for entry in (kept.read() for kept in journal.kept()) if entry.kind == OUTCOME
    ]
    assert [entry.stage for entry in outcomes] == ["model_reply" if how == "refused" else "error"]
    assert how == "broken" or outcomes[0].notes
