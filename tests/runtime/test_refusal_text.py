"""With `refusal="text"` a refused call gives its words as the result; what ends the run is raised
all the same."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type, get_type_hints

import pytest

from stanchion import Action, Refused, Shield, Stage, Tool
from stanchion.testing import ScriptedTool, shield_for
from tests.ops.broker.brokers import serving
from tests.rules import rule
from tests.runtime.guards import says

NO_ROOT: dict[str, Any] = {
    "name": "no-root",
    "guards": [
        rule(
            "root",
            "tool_call",
            when="has(event.args.name) and event.args.name == 'root'",
            action="block",
        ),
        rule(
            "end",
            "tool_call",
            when="has(event.args.name) and event.args.name == 'end'",
            action="halt",
        ),
        rule(
            "ask",
            "tool_call",
            when="has(event.args.name) and event.args.name == 'ask'",
            action="escalate",
        ),
        rule("out", "tool_result", when="event.result == 'leak'", action="block"),
    ],
}


def text_of(shield: Any, fn: Any, *args: Any) -> str:
    """What `Refused` says where the same call raises it."""
    with shield.run("ann") as run, pytest.raises(Refused) as refused:
        run.call(fn, *args)
    return str(refused.value)


def delete(name: str) -> int:
    return len(name)


async def adelete(name: str) -> int:
    return len(name)


def each(name: str) -> Iterator[str]:
    yield "first"
    yield name
    yield "last"


async def aeach(name: str) -> AsyncIterator[str]:
    yield "first"
    yield name
    yield "last"


def test_the_words_are_those_of_the_exception_and_nothing_runs() -> None:
    shield = shield_for(NO_ROOT)
    ran: list[str] = []

    @shield.tool(refusal="text")
    def remove(name: str) -> int:
        ran.append(name)
        return len(name)

    raising = Tool(lambda name: 0, "remove")
    with shield.run("ann"):
        assert remove("tmp") == 3
        assert remove("root") == text_of(shield, raising, "root") != ""
    assert ran == ["tmp"]


def test_async_tools_and_generators_of_both_kinds() -> None:
    shield = shield_for(NO_ROOT)
    words = text_of(shield, Tool(delete, "t"), "root")
    kinds: tuple[Any, ...] = (adelete, each, aeach)
    tools: list[Any] = [shield.tool(name="t", refusal="text")(fn) for fn in kinds]

    async def host() -> None:
        async with shield.run("ann"):
            assert await tools[0]("root") == words
            assert await tools[0]("tmp") == 3
            assert [item async for item in tools[2]("root")] == [words]
            assert [item async for item in tools[2]("a")] == ["first", "a", "last"]

    asyncio.run(host())
    with shield.run("ann") as run:
        assert list(tools[1]("root")) == [words]
        assert list(tools[1]("a")) == ["first", "a", "last"]
        assert asyncio.run(_all(run.acall(tools[1], "root"))) == [words]


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


def test_a_refused_item_is_the_last_one() -> None:
    shield = shield_for(NO_ROOT)
    with shield.run("ann") as run:
        *before, words = list(run.call(Tool(each, refusal="text"), "leak"))
        assert before == ["first"]
        assert words.startswith("the call was done")
        *before, words = asyncio.run(_all(run.acall(Tool(aeach, refusal="text"), "leak")))
        assert before == ["first"]
        made = run.call(Tool(lambda name: each(name), "made", refusal="text"), "leak")
        assert len(list(made)) == 2


def test_a_withheld_result_says_that_it_happened_and_was_undone() -> None:
    shield = shield_for(NO_ROOT)
    undone: list[str] = []
    tool = Tool(lambda name: "leak", "tell", undo=undone.append, refusal="text")
    words = shield.run("ann").call(tool, "x")
    assert words.startswith("the call was done, and only its result is withheld")
    assert "it was undone again" in words
    assert undone == ["x"]


def test_what_waits_for_a_person_is_text() -> None:
    shield = shield_for(NO_ROOT)
    tool, run = Tool(delete, refusal="text"), shield.run("ann")
    assert "a person has been asked" in run.call(tool, "ask")
    (ticket,) = shield.tickets()
    shield.approve(ticket.id, by="bob")
    assert run.call(tool, "ask") == 3


def test_what_ends_the_run_is_raised_and_so_is_everything_behind_it() -> None:
    shield = shield_for(NO_ROOT)
    kinds: tuple[tuple[Any, str], ...] = (
        (delete, "call"),
        (adelete, "acall"),
        (each, "call"),
        (aeach, "acall"),
    )
    for tool, call in kinds:
        run = shield.run("ann")
        for name in ("end", "tmp"):
            with pytest.raises(Refused) as refused:
                _consumed(getattr(run, call)(Tool(tool, "t", refusal="text"), name))
            assert refused.value.ended


def _consumed(made: Any) -> Any:
    if hasattr(made, "__aiter__"):
        return asyncio.run(_all(made))
    return asyncio.run(_awaited(made)) if inspect.isawaitable(made) else list(made)


async def _awaited(made: Any) -> Any:
    return await made


def test_errors_of_the_tool_are_raised() -> None:
    def fails(name: str) -> None:
        raise KeyError(name)

    with pytest.raises(KeyError):
        shield_for(NO_ROOT).run("ann").call(Tool(fails, refusal="text"), "x")


def test_a_refusal_inside_the_tool_is_its_text_too() -> None:
    shield = shield_for(NO_ROOT)
    run = shield.run("ann")
    outer = Tool(lambda name: run.call(delete, name), "outer", refusal="text")
    assert run.call(
        Tool(lambda who: run.call(delete, who), "outer", refusal="text"), "root"
    ) == text_of(shield, delete, "root")
    assert run.call(outer, "tmp") == 3


def test_a_call_that_happens_once_is_answered_or_says_why_not() -> None:
    shield = shield_for(NO_ROOT)
    sent: list[str] = []
    tool = Tool(sent.append, "send", once=True, refusal="text")
    run = shield.run("ann", "post")
    run.call(tool, "a")
    run.call_once("k", tool, "b")
    run.call_once("k", tool, "b")
    assert sent == ["a", "b"]
    other = Tool(lambda name: sent.append(name), "send", refusal="text")
    assert isinstance(run.call_once("j", other, "root"), str)
    assert sent == ["a", "b"]


def test_a_failed_call_is_tried_again_before_anything_is_said() -> None:
    """The second attempt is refused: its words are the result."""
    guards = [{"use": "recovery", "backoff_base_s": 0}, {"use": "budget", "calls": 2}]
    shield = shield_for(
        {"name": "r", "tools": {"flaky": {"annotations": ["idempotent"]}}, "guards": guards}
    )
    tool = ScriptedTool(
        ConnectionResetError("reset"), "there", ConnectionResetError("reset"), name="flaky"
    )
    assert shield.run("ann", "one").call(Tool(tool, "flaky", refusal="text")) == "there"
    tried = shield.run("ann", "two")
    tried.call(delete, "a")
    assert "budget" in tried.call(Tool(tool, "flaky", refusal="text"))


def test_what_was_reserved_for_a_refused_call_is_free_again() -> None:
    policy = {"name": "b", "guards": [{"use": "budget", "calls": 2}, *NO_ROOT["guards"]]}
    run = shield_for(policy).run("ann")
    tool = Tool(delete, refusal="text")
    assert [run.call(tool, name) for name in ("root", "root", "a", "b")][2:] == [1, 1]
    assert isinstance(run.call(tool, "c"), str)


def test_methods_keep_it() -> None:
    shield = shield_for(NO_ROOT)

    class Files:
        @shield.tool(refusal="text")
        def remove(self, name: str) -> int:
            return len(name)

    with shield.run("ann") as run:
        assert isinstance(Files().remove("root"), str)
        assert isinstance(run.call(Files().remove, "root"), str)


def test_a_word_that_is_neither_is_refused() -> None:
    bad: Any = "return"
    with pytest.raises(
        ValueError, match="refusal of `delete` is `return`: write `raise` or `text`"
    ):
        Tool(delete, refusal=bad)


def test_what_it_gives_is_typed() -> None:
    shield = shield_for(NO_ROOT)
    plain, later = shield.tool(refusal="text")(delete), shield.tool(refusal="text")(adelete)
    items, aitems = shield.tool(refusal="text")(each), shield.tool(refusal="text")(aeach)
    with shield.run("ann"):
        assert_type(plain("a"), int | str)
        assert_type(asyncio.run(later("a")), int | str)
        assert_type(items("a"), Iterator[str | str])
        assert_type(aitems("a"), AsyncIterator[str | str])
        assert_type(shield.tool(refusal="raise")(delete)("a"), int)
        assert_type(shield.tool(risk="low")(delete)("a"), int)
        assert_type(shield.tool(delete)("a"), int)


def test_its_annotations_say_that_it_may_be_a_text() -> None:
    shield = shield_for(NO_ROOT)
    kinds: tuple[Any, ...] = (delete, adelete)
    for fn in kinds:
        made: Any = shield.tool(refusal="text")(fn)
        assert get_type_hints(made) == {"name": str, "return": int | str}
        assert inspect.signature(made).return_annotation == "int | str"
        assert list(inspect.signature(made).parameters) == ["name"]
    assert get_type_hints(shield.tool(delete)) == {"name": str, "return": int}

    def bare(name): ...  # type: ignore[no-untyped-def]

    def unpolished(name: str) -> None: ...

    unpolished.__annotations__ = {"name": str, "return": None}
    assert (
        inspect.signature(shield.tool(refusal="text")(bare)).return_annotation
        is inspect.Signature.empty
    )
    assert get_type_hints(shield.tool(refusal="text")(unpolished))["return"] == str | None


def test_through_a_broker() -> None:
    guard = says(Action.BLOCK, Stage.TOOL_CALL, tools=frozenset({"no"}))
    end = says(Action.HALT, Stage.TOOL_CALL, id="ends", tools=frozenset({"end"}))
    with Shield.load({"name": "b"}, guards=[guard, end]) as shield, serving(shield) as path:
        far: Any = Shield.load(f"broker:{path}")
        no, end_it = (
            far.tool(name="no", refusal="text")(delete),
            far.tool(name="end", refusal="text")(delete),
        )
        later, yes = (
            far.tool(name="no", refusal="text")(adelete),
            far.tool(name="yes", refusal="text")(delete),
        )
        with far, far.run("ann") as run:
            assert yes("a") == 1
            with pytest.raises(Refused) as refused:
                run.call(Tool(delete, "no"), "a")
            assert (
                no("a")
                == asyncio.run(later("a"))
                == run.call_once("k", no, "a")
                == str(refused.value)
            )
            with pytest.raises(Refused):
                end_it("a")
