"""A shield is enough: one agent, built once, has a run for each conversation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from stanchion.hosts.pydantic_ai import Guarded
from tests.hosts.pydantic_ai.driver import own_loop
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)


def reads(messages: Any, _info: Any) -> ModelResponse:
    """A model that reads the page that it is asked for, and says what is there."""
    (*_, last) = messages[-1].parts
    if isinstance(last, ToolReturnPart):
        return ModelResponse([TextPart(str(last.content))])
    return ModelResponse([ToolCallPart("read_page", {"name": last.content})])


async def read_page(name: str) -> str:
    await asyncio.sleep(0)
    return f"text of {name}"


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`pydantic-ai` is given a .*give it the shield"):
        Guarded(wrong)


@pytest.mark.parametrize("threads", [False, True])
def test_a_hundred_requests_at_once(threads: bool) -> None:
    shield, journal = kept_shield()
    agent = Agent(FunctionModel(reads), tools=[read_page], capabilities=[Guarded(shield)])

    async def ask(name: str) -> str:
        return (await agent.run(name)).output

    def ask_sync(name: str) -> str:
        with own_loop():
            return agent.run_sync(name).output

    said = all_in_threads(ask_sync) if threads else all_at_once(ask)
    assert said == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


def test_a_conversation_keeps_its_run() -> None:
    shield, journal = kept_shield()
    agent = Agent(
        FunctionModel(reads),
        name="reader",
        tools=[read_page],
        capabilities=[Guarded(shield, task="reading")],
    )

    async def talk() -> None:
        first = await agent.run("one")
        await agent.run("two", message_history=first.all_messages())
        await agent.run("three")

    asyncio.run(talk())
    one, other = runs_of(journal).values()
    assert "two" in str([record.content for record in one])
    assert "three" in str([record.content for record in other])
    assert {(record.agent, record.task) for record in [*one, *other]} == {("reader", "reading")}


def test_a_sub_agent_works_in_a_child_and_agents_in_a_streams_body_do_not() -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield)
    other = Agent(FunctionModel(reads), name="desk", tools=[read_page], capabilities=[guarded])

    async def ask(name: str) -> str:
        return (await other.run(name)).output

    async def said(messages: Any, info: Any) -> Any:
        yield "done"

    agent = Agent(
        FunctionModel(lambda m, i: asks(m)), name="boss", tools=[ask], capabilities=[guarded]
    )
    streaming = Agent(FunctionModel(stream_function=said), name="s", capabilities=[guarded])

    async def play() -> str:
        async with streaming.run_stream("go"):
            return (await agent.run("work")).output

    assert asyncio.run(play()) == "text of work"
    found = runs_of(journal).values()
    assert [records[0].agent for records in found] == ["s", "boss", "desk"]
    handed = [record.agent for records in found for record in records if record.stage == "handoff"]
    assert handed == ["boss"]


def asks(messages: Any) -> ModelResponse:
    (*_, last) = messages[-1].parts
    if isinstance(last, ToolReturnPart):
        return ModelResponse([TextPart(str(last.content))])
    return ModelResponse([ToolCallPart("ask", {"name": last.content})])
