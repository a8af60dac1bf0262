"""A shield is enough: one app, built once, has a run for each session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from stanchion.hosts.google_adk import Guarded
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)

USER = "ann"


class Reads(BaseLlm):
    """A model that calls a tool with the words it was given, and says what came of it."""

    model: str = "reads"
    tool: str = "read_page"
    argument: str = "name"

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        part = llm_request.contents[-1].parts[-1]
        if part.function_response:
            made = types.Part(text=str(part.function_response.response["result"]))
        else:
            made = types.Part.from_function_call(name=self.tool, args={self.argument: part.text})
        yield LlmResponse(content=types.Content(role="model", parts=[made]))


async def read_page(name: str) -> str:
    """Read a page."""
    await asyncio.sleep(0)
    return f"text of {name}"


def reader(name: str = "helper") -> LlmAgent:
    return LlmAgent(name=name, model=Reads(), tools=[read_page])


def runner_of(agent: Any, shield: Any, **said: str) -> InMemoryRunner:
    return InMemoryRunner(
        app=App(name="office", root_agent=agent, plugins=[Guarded(shield, **said)])
    )


def words(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


async def session_of(runner: InMemoryRunner) -> str:
    made = await runner.session_service.create_session(app_name="office", user_id=USER)
    return str(made.id)


async def told(runner: InMemoryRunner, session: str, text: str) -> str:
    said = runner.run_async(user_id=USER, session_id=session, new_message=words(text))
    return [str(event.content.parts[0].text) async for event in said][-1]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_app_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`google-adk` is given a .*give it the shield"):
        Guarded(wrong)


@pytest.mark.parametrize("threads", [False, True])
def test_a_hundred_requests_at_once(threads: bool) -> None:
    shield, journal = kept_shield()
    runner = runner_of(reader(), shield)

    async def ask(name: str) -> str:
        return await told(runner, await session_of(runner), name)

    def ask_sync(name: str) -> str:
        session = asyncio.run(session_of(runner))
        said = runner.run(user_id=USER, session_id=session, new_message=words(name))
        return str(list(said)[-1].content.parts[0].text)

    said = all_in_threads(ask_sync) if threads else all_at_once(ask)
    assert said == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


def test_a_session_keeps_its_run() -> None:
    shield, journal = kept_shield()
    runner = runner_of(reader(), shield, task="reading")

    async def talk() -> None:
        first, second = await session_of(runner), await session_of(runner)
        for session, text in ((first, "one"), (second, "three"), (first, "two")):
            await told(runner, session, text)

    asyncio.run(talk())
    one, other = runs_of(journal).values()
    assert "two" in str([record.content for record in one])
    assert "three" in str([record.content for record in other])
    assert {(record.agent, record.task) for record in [*one, *other]} == {("helper", "reading")}


def test_an_agent_that_a_tool_runs_works_in_a_child_each_time() -> None:
    shield, journal = kept_shield()
    tool = AgentTool(reader("desk"))
    boss = LlmAgent(name="boss", model=Reads(tool="desk", argument="request"), tools=[tool])
    runner = runner_of(boss, shield)

    async def talk() -> str:
        session = await session_of(runner)
        return await told(runner, session, "one") + await told(runner, session, "two")

    assert asyncio.run(talk()) == "text of onetext of two"
    found = list(runs_of(journal).items())
    assert [records[0].agent for _, records in found] == ["boss", "desk", "desk"]
