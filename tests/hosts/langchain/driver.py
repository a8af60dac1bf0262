"""Plays the scenes of the behaviour suite in LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from stanchion.hosts.langchain import LANGCHAIN, Guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn

THREAD: Any = {"configurable": {"thread_id": "t1"}}


class Scripted(BaseChatModel):
    """A model that says what the scene's script says, whole or in pieces."""

    scene: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        turn = self.scene.ask([message.text for message in messages])
        return ChatResult(generations=[ChatGeneration(message=reply(turn))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        turn = self.scene.ask([message.text for message in messages])
        for piece in turn.pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece, id=turn.id))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", id=turn.id, usage_metadata=used(turn))
        )


def used(turn: Turn) -> Any:
    """A turn's usage as LangChain has it."""
    total = turn.input_tokens + turn.output_tokens
    return {
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
        "total_tokens": total,
    }


def reply(turn: Turn) -> AIMessage:
    """A turn as LangChain's message."""
    calls = [{"name": one.tool, "args": one.args, "id": one.id} for one in turn.calls]
    if turn.handoff:
        calls = [{"name": f"to_{turn.handoff}", "args": {}, "id": f"{turn.id}-handoff"}]
    return AIMessage(turn.text, id=turn.id, tool_calls=calls, usage_metadata=used(turn))


def handing_to(agent: str) -> Any:
    """The tool by which an agent hands over to another one."""

    @tool(f"to_{agent}")
    def hand_over(runtime: ToolRuntime) -> Command:  # type: ignore[type-arg] # the tool's schema is made from it
        """Hand over."""
        said = ToolMessage("it is yours now", tool_call_id=runtime.tool_call_id)
        return Command(goto=agent, graph=Command.PARENT, update={"messages": [said]})

    return hand_over


def agent_of(scene: Scene, hosted: Any, saver: Any = None) -> Any:
    """The scene's agent; with others beside it, the graph of all of them."""
    tools: list[Any] = list(scene.atools if scene.is_async else scene.tools)
    options: Any = {"middleware": [Guarded(hosted)]}
    model = Scripted(scene=scene)
    if not scene.others:
        return create_agent(model, tools, checkpointer=saver, **options)
    graph: Any = StateGraph(MessagesState)
    first = create_agent(
        model, [*tools, *map(handing_to, scene.others)], name=scene.agent, **options
    )
    graph.add_node(scene.agent, first, destinations=scene.others)
    for name in scene.others:
        graph.add_node(name, create_agent(model, tools, name=name, **options))
    graph.add_edge(START, scene.agent)
    return graph.compile()


def begins(scene: Scene) -> Any:
    """What the agent is given: the prompt, or word to go on."""
    return (
        {"messages": [HumanMessage(scene.prompt)]} if scene.state is None else Command(resume=True)
    )


def ended(said: Any) -> Ended:
    """What came of a scene."""
    if "__interrupt__" in said:
        return Ended(state="paused")
    return Ended(said["messages"][-1].text)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    if scene.is_async:
        return asyncio.run(aplay(scene))
    with LANGCHAIN.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        if scene.streams:
            chunks = agent_of(scene, hosted).stream(begins(scene), stream_mode="messages")
            return Ended(pieces=tuple([one.text for one, _ in chunks if one.type != "human"]))
        with SqliteSaver.from_conn_string(str(scene.folder / "graph.db")) as saver:
            return ended(agent_of(scene, hosted, saver).invoke(begins(scene), THREAD))


async def aplay(scene: Scene) -> Ended:
    """The same for async code."""
    async with LANGCHAIN.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        if scene.streams:
            chunks = agent_of(scene, hosted).astream(begins(scene), stream_mode="messages")
            return Ended(pieces=tuple([one.text async for one, _ in chunks if one.type != "human"]))
        async with AsyncSqliteSaver.from_conn_string(str(scene.folder / "graph.db")) as saver:
            return ended(await agent_of(scene, hosted, saver).ainvoke(begins(scene), THREAD))


DRIVER = Driver("langchain", LANGCHAIN, play, "tests.hosts.langchain.driver:DRIVER")
