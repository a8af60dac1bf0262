"""A shield is enough: an agent that is guarded once works for many requests, each in a run of its
own, and its events, tokens and answers are those of an agent without the guard."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from pydantic import BaseModel

from stanchion.hosts.llama_index import LLAMA_INDEX, guarded
from stanchion.runtime.run import current_run
from tests.hosts.together import (
    WRONG,
    all_at_once,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Page(BaseModel):
    """A page."""

    text: str


def model_of(tool: str = "read_page", **more: Any) -> Any:
    """A model that calls a tool with the words it was given, and says what came of it."""

    def reply(messages: Any, **_options: Any) -> ChatMessage:
        last = messages[-1]
        if str(last.role.value) == "tool":
            return ChatMessage(role="assistant", content=last.content)
        asked = next(one.content for one in messages if one.role.value == "user")
        if tool == "handoff" and any(one.role.value == "tool" for one in messages):
            return ChatMessage(role="assistant", content="done")
        args = more if more else {"name": asked}
        call = ToolCallBlock(tool_call_id="1", tool_name=tool, tool_kwargs=args)
        return ChatMessage(role="assistant", blocks=[call])

    return MockFunctionCallingLLM(response_generator=reply, is_chat_model=True)


async def read_page(name: str) -> str:
    """Read a page."""
    await asyncio.sleep(0)
    return f"text of {name}"


def agent_of(name: str = "helper", **options: Any) -> Any:
    given = {"description": "reads", "tools": [read_page], "llm": model_of(), **options}
    return FunctionAgent(name=name, **given)


def team_of() -> Any:
    """A workflow in which one agent hands over to another."""
    first = agent_of("first", tools=[], llm=model_of("handoff", to_agent="desk", reason="it can"))
    return AgentWorkflow(agents=[first, agent_of("desk")], root_agent="first")


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_guarded(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`llama-index` is given a .*give it the shield"):
        guarded(agent_of(), wrong)


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(TypeError, match="takes an agent or an `AgentWorkflow`, not a `str`"):
        guarded("agent", kept_shield()[0])


@pytest.mark.parametrize("streaming", [False, True])
def test_a_hundred_requests_at_once(streaming: bool) -> None:
    shield, journal = kept_shield()
    agent = guarded(agent_of(streaming=streaming), shield, task="reading")

    async def ask(name: str) -> str:
        return str((await agent.run(user_msg=name)).response.content)

    assert all_at_once(ask) == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())
    assert {(r.agent, r.task) for records in runs_of(journal).values() for r in records} == {
        ("helper", "reading")
    }


def test_a_run_is_closed_when_its_workflow_has_ended() -> None:
    shield, _ = kept_shield()
    at_work: list[Any] = []

    async def note(name: str) -> str:
        """Note."""
        at_work.append(current_run())
        return name

    agent = guarded(agent_of(tools=[note], llm=model_of("note")), shield)

    async def play() -> None:
        await agent.run(user_msg="page-1")
        assert at_work[0].desk.ended is not None

    asyncio.run(play())


def test_a_run_that_is_given_works_for_all() -> None:
    shield, journal = kept_shield()

    async def play() -> None:
        async with LLAMA_INDEX.run(shield, "helper") as hosted:
            for given in (hosted, hosted.run):
                await guarded(agent_of(), given).run(user_msg="page-1")

    asyncio.run(play())
    assert len(runs_of(journal)) == 1


def test_an_agent_in_a_tool_works_in_a_child_run() -> None:
    shield, journal = kept_shield()
    inner = guarded(agent_of("desk"), shield)

    async def ask_desk(name: str) -> str:
        """Ask the desk."""
        return str((await inner.run(user_msg=name)).response.content)

    boss = guarded(agent_of("boss", tools=[ask_desk], llm=model_of("ask_desk")), shield)

    async def play() -> str:
        return str((await boss.run(user_msg="page-1")).response.content)

    assert asyncio.run(play()) == "text of page-1"
    assert [records[0].agent for records in runs_of(journal).values()] == ["boss", "desk"]


def test_a_guarded_agent_in_a_workflow_that_is_not_is_refused() -> None:
    one = guarded(agent_of(), kept_shield()[0])
    team = AgentWorkflow(agents=[one], root_agent="helper")

    async def play() -> None:
        await team.run(user_msg="page-1")

    with pytest.raises(TypeError, match="`take_step` is not guarded: guard the workflow"):
        asyncio.run(play())


def plain(event: Any) -> Any:
    """An event without what differs each time, and without the provider's own form of a reply."""
    if isinstance(event, AgentStream):
        return "AgentStream", event.delta, event.response
    said = event.model_dump() if hasattr(event, "model_dump") else dict(event)
    return type(event).__name__, str({n: v for n, v in said.items() if n not in ("raw", "id")})


def heard(events: list[Any]) -> list[Any]:
    """Events without those of a stream that say nothing: a guarded one has its calls at its end."""
    return [plain(one) for one in events if not isinstance(one, AgentStream) or one.delta]


@pytest.mark.parametrize("make", [agent_of, team_of], ids=["one", "two"])
@pytest.mark.parametrize("streaming", [False, True])
def test_all_is_the_same(make: Any, streaming: bool) -> None:
    def played(guard: bool) -> Any:
        shield, journal = kept_shield()
        made = make()
        for one in getattr(made, "agents", {"": made}).values():
            one.streaming = streaming
        agent = guarded(made, shield) if guard else made

        async def play() -> Any:
            handler = agent.run(user_msg="page-1")
            events = heard([event async for event in handler.stream_events()])
            return events, str((await handler).response)

        came = asyncio.run(play())
        assert bool(journal.kept()) is guard
        return came

    bare, held = played(False), played(True)
    assert len(bare[0]) > 5
    assert held[1] == bare[1]
    assert held[0] == bare[0]


@pytest.mark.parametrize("guard", [False, True])
def test_structured_output_is_that_of_the_agent(guard: bool) -> None:
    def structure(messages: Any) -> dict[str, Any]:
        return {"text": messages[-1].content}

    shield, _ = kept_shield()
    made = agent_of(structured_output_fn=structure)
    agent = guarded(made, shield) if guard else made

    async def play() -> Any:
        return (await agent.run(user_msg="page-1")).structured_response

    assert Page(**asyncio.run(play())).text == "text of page-1"


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_cancelled_ends_at_once(guard: bool) -> None:
    shield, _ = kept_shield()
    left: list[str] = []

    async def play() -> None:
        begun = asyncio.Event()

        async def wait(name: str) -> str:
            """Wait."""
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.append("tool")
            return name

        made = agent_of(tools=[wait], llm=model_of("wait"))
        handler = (guarded(made, shield) if guard else made).run(user_msg="page-1")
        await begun.wait()
        await handler.cancel_run()
        with pytest.raises(Exception, match=r"(?i)^$|cancel"):
            await handler

    asyncio.run(play())
    assert left == ["tool"]
