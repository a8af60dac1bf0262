"""A shield is enough: one agent, built once, has a run for each session and each invocation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

from stanchion.hosts.agent_framework import guarded
from stanchion.runtime.errors import Ungoverned
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)


class Reads(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A client whose model calls a tool with the words it was given, and says what came of it."""

    def __init__(self, tool_name: str = "read_page", argument: str = "name") -> None:
        super().__init__()
        self._tool, self._argument = tool_name, argument

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        last = messages[-1].contents[-1]
        if last.type == "function_result":
            said = Content.from_text(str(last.result))
        else:
            args = json.dumps({self._argument: last.text})
            said = Content.from_function_call(f"call-{last.text}", self._tool, arguments=args)
        if stream:
            return ResponseStream(pieces(said), finalizer=ChatResponse.from_updates)
        return whole(said)


async def whole(said: Content) -> ChatResponse:
    await asyncio.sleep(0)
    return ChatResponse(messages=[Message("assistant", [said])])


async def pieces(said: Content) -> AsyncIterator[ChatResponseUpdate]:
    yield ChatResponseUpdate(role="assistant", contents=[said])


@tool(approval_mode="never_require")
async def read_page(name: str) -> str:
    """Read a page."""
    await asyncio.sleep(0)
    return f"text of {name}"


def reader(shield: Any, **said: str) -> Agent:
    middleware = guarded(shield, **said)
    return Agent(client=Reads(), name="helper", tools=[read_page], middleware=middleware)


async def asked(agent: Agent, text: str, streams: bool, session: Any = None) -> str:
    if not streams:
        return (await agent.run(text, session=session)).text
    stream = agent.run(text, stream=True, session=session)
    async for _ in stream:
        await asyncio.sleep(0)
    return (await stream.get_final_response()).text


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`agent-framework` is given a .*give it the shield"):
        guarded(wrong)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("threads", [False, True])
def test_a_hundred_requests_at_once(threads: bool, streams: bool) -> None:
    shield, journal = kept_shield()
    agent = reader(shield)

    async def ask(name: str) -> str:
        return await asked(agent, name, streams)

    said = all_in_threads(lambda name: asyncio.run(ask(name))) if threads else all_at_once(ask)
    assert said == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


@pytest.mark.parametrize("streams", [False, True])
def test_a_session_keeps_its_run(streams: bool) -> None:
    shield, journal = kept_shield()
    agent = reader(shield, task="reading")

    async def talk() -> None:
        session = agent.create_session()
        await asked(agent, "one", streams, session)
        await asked(agent, "three", streams)
        await asked(agent, "two", streams, session)

    asyncio.run(talk())
    one, other = runs_of(journal).values()
    assert "two" in str([record.content for record in one])
    assert "three" in str([record.content for record in other])
    assert {(record.agent, record.task) for record in [*one, *other]} == {("helper", "reading")}


@pytest.mark.parametrize("streams", [False, True])
def test_a_sub_agent_works_in_a_child_each_time(streams: bool) -> None:
    shield, journal = kept_shield()
    desk = Agent(client=Reads(), name="desk", tools=[read_page])
    work = desk.as_tool(approval_mode="never_require")
    boss = Agent(
        client=Reads("desk", "task"), name="boss", tools=[work], middleware=guarded(shield)
    )

    async def talk() -> str:
        session = boss.create_session()
        one = await asked(boss, "one", streams, session)
        return one + await asked(boss, "two", streams, session)

    assert asyncio.run(talk()) == "text of onetext of two"
    found = runs_of(journal).values()
    assert [records[0].agent for records in found] == ["boss", "desk", "desk"]


def test_a_client_that_no_agent_uses_is_not_asked_unjudged() -> None:
    shield, _ = kept_shield()
    _agents, _tools, models = guarded(shield)
    client = Reads()
    client.chat_middleware = [models]

    async def ask() -> Any:
        return await client.get_response([Message("user", ["go"])])

    with pytest.raises(Ungoverned, match="run it by the guarded agent"):
        asyncio.run(ask())
