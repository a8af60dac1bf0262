"""Scripted tools and models, shields and lost stores do what their scripts say."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from stanchion import Refused
from stanchion.kernel.state import Batch, Line, StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.testing import (
    STORE_CASES,
    Blocks,
    FakeClock,
    LostStore,
    ScriptedModel,
    ScriptedTool,
    ScriptEnded,
    check_store,
    shield_for,
)

TWO_STEPS = {"name": "two", "guards": [{"use": "step_limit", "max_steps": 2}]}


def test_the_kit_imports_without_the_packages_of_the_testing_extra() -> None:
    code = "import sys; sys.modules.update(pytest=None, hypothesis=None); import stanchion.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_scripted_tool_follows_its_script_and_remembers_its_calls() -> None:
    tool = ScriptedTool("first", ValueError("second"), KeyError, "last", name="search")
    assert tool(q=1) == "first"
    with pytest.raises(ValueError, match="second"):
        tool(q=2)
    with pytest.raises(KeyError):
        tool(q=3)
    assert [tool(), tool(q=5)] == ["last", "last"]
    assert (tool.count, tool.calls) == (5, [{"q": 1}, {"q": 2}, {"q": 3}, {}, {"q": 5}])
    assert ScriptedTool()() is None


def test_a_scripted_tool_is_a_tool_under_its_name_in_every_shape() -> None:
    tool = ScriptedTool(["a", "b"], name="search")
    shield = shield_for({"name": "deny", "guards": [{"use": "tool_denylist", "tools": ["search"]}]})
    run = shield.run("a")
    for shape in (tool, tool.as_generator()):
        with pytest.raises(Refused, match="tool `search` is on the denylist"):
            list(run.call(shape, q="x"))
    with pytest.raises(Refused, match="tool `search` is on the denylist"):
        asyncio.run(run.acall(tool.as_async(), q="x"))
    assert tool.count == 0
    assert shield.journal.kept()[0].read().content == {"q": "x"}
    free = shield_for({"name": "free"}).run("a")
    assert list(free.call(tool.as_generator())) == ["a", "b"]
    assert asyncio.run(free.acall(tool.as_async())) == ["a", "b"]


def test_a_scripted_generator_raises_at_its_place() -> None:
    items = ScriptedTool(["a", OSError("gone"), "c"]).as_generator()()
    assert next(items) == "a"
    with pytest.raises(OSError, match="gone"):
        next(items)
    assert list(ScriptedTool("alone").as_generator()()) == ["alone"]
    assert list(ScriptedTool().as_generator()()) == []


def test_an_async_generator_and_a_block_in_it() -> None:
    async def story() -> list[object]:
        block = Blocks("b")
        tool = ScriptedTool(["a", block])
        items = tool.as_async_generator()()
        first = await anext(items)
        second = asyncio.ensure_future(anext(items))
        while not block.entered.is_set():
            await asyncio.sleep(0)
        assert not second.done()
        block.release()
        return [first, await second]

    assert asyncio.run(story()) == ["a", "b"]


def test_a_block_keeps_a_thread_until_it_is_released() -> None:
    block = Blocks("late")
    tool = ScriptedTool(block)
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(tool()))
    thread.start()
    block.entered.wait()
    assert answers == []
    block.release()
    thread.join()
    assert answers == ["late"]
    assert tool() == "late"
    assert not block.cancelled.is_set()


def test_a_block_notices_that_it_is_cancelled_and_may_raise() -> None:
    async def story() -> None:
        block = Blocks(OSError("gone"))
        task = asyncio.ensure_future(ScriptedTool(block).as_async()())
        while not block.entered.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert block.cancelled.is_set()
        block.release()
        with pytest.raises(OSError, match="gone"):
            await ScriptedTool(block).as_async()()

    asyncio.run(story())


def test_a_scripted_model_gives_its_replies_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel(
        "one", {"text": "two", "usage": {"total_tokens": 5}}, ["thr", "ee"], OSError("down")
    )
    messages = [{"role": "user", "content": "hi"}]
    assert model(messages, temperature=0) == "one"
    messages.append({"role": "assistant", "content": "one"})
    assert model(messages) == {"text": "two", "usage": {"total_tokens": 5}}
    assert asyncio.run(model.as_async()(messages)) == "three"
    with pytest.raises(OSError, match="down"):
        model(messages)
    with pytest.raises(ScriptEnded, match="`model` was asked 5 times and has 4 replies"):
        model(messages)
    assert [len(asked) for asked in model.asked] == [1, 2, 2, 2, 2]
    assert model.params[0] == {"temperature": 0}


def test_a_scripted_model_streams() -> None:
    run = shield_for({"name": "free"}).run("a")
    model = ScriptedModel(["he", "llo"], "whole", ["x", OSError("cut")])
    assert list(run.stream(model.stream([]))) == ["he", "llo"]

    async def collected() -> list[str]:
        return [chunk async for chunk in run.astream(model.astream([]))]

    assert asyncio.run(collected()) == ["whole"]
    chunks = run.stream(model.stream([]))
    assert next(chunks) == "x"
    with pytest.raises(OSError, match="cut"):
        next(chunks)


def test_a_shield_for_tests_repeats_itself_to_the_byte() -> None:
    def story() -> list[bytes]:
        clock = FakeClock()
        shield = shield_for(TWO_STEPS, clock=clock)
        run = shield.run("a", id="r")
        for _ in range(3):
            run.check("t", {})
            clock.advance(7)
        return [kept.text for kept in shield.journal.kept()]

    assert story() == story()


def test_a_shield_for_tests_does_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert shield_for({"name": "free"}).run("a").check("t", {}).proceeds


@pytest.mark.parametrize(("applied", "total"), [(False, 2), (True, 3)])
def test_a_lost_store_loses_the_batch_or_only_its_answer(applied: bool, total: int) -> None:
    store = LostStore(MemoryStore(FakeClock()), on=[2], applied=applied)
    store.carry(Batch("a", lines=(Line("{t}x"),)))
    with pytest.raises(
        StoreLost, match="batch 2 is lost" if not applied else "answer to batch 2 is lost"
    ):
        store.carry(Batch("b", lines=(Line("{t}x"),)))
    asyncio.run(store.acarry(Batch("c", lines=(Line("{t}x"),))))
    assert store.read("{t}x")[0] == total
    assert [batch.id for batch in store.batches] == ["a", "b", "c"]


def test_a_lost_store_that_loses_nothing_is_a_store() -> None:
    assert len(STORE_CASES) > 10
    check_store(lambda clock: LostStore(MemoryStore(clock)))


def test_shields_on_one_store_never_give_the_same_id_twice() -> None:
    store = MemoryStore(FakeClock())
    runs = [shield_for(TWO_STEPS, store=store).run("a", id="same") for _ in range(3)]
    assert [run.check("t", {}).proceeds for run in runs] == [True, True, False]
