"""How scenes are played in pydantic-ai: with a `FunctionModel` in the place of a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.usage import RequestUsage

from stanchion.hosts import Hosted
from stanchion.hosts.pydantic_ai import PYDANTIC_AI, Guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn

OUTPUT: list[Any] = [str, DeferredToolRequests]


def texts(messages: Any) -> list[str]:
    """The words of messages, as a model reads them."""
    parts = [part for message in messages for part in message.parts]
    return [
        part.model_response_str() if isinstance(part, ToolReturnPart) else str(part.content)
        for part in parts
    ]


def calls_of(turn: Turn) -> list[ToolCallPart]:
    """The calls of a turn; a handoff is a call of the tool that runs the other agent."""
    handed = [ToolCallPart(turn.handoff, {"work": "do it"}, turn.id)] if turn.handoff else []
    return [*[ToolCallPart(one.tool, one.args, one.id) for one in turn.calls], *handed]


def model_of(scene: Scene) -> FunctionModel:
    """A model that says what the scene's script says."""

    def said(messages: Any, info: Any) -> ModelResponse:
        turn = scene.ask(texts([one for one in messages if one.kind == "request"]))
        usage = RequestUsage(input_tokens=turn.input_tokens, output_tokens=turn.output_tokens)
        return ModelResponse([TextPart(turn.text)] if turn.text else calls_of(turn), usage=usage)

    async def streamed(messages: Any, info: Any) -> AsyncIterator[Any]:
        turn = scene.ask(texts([one for one in messages if one.kind == "request"]))
        for piece in turn.pieces:
            yield piece
        for place, call in enumerate(calls_of(turn)):
            yield {
                place: DeltaToolCall(
                    call.tool_name, call.args_as_json_str(), tool_call_id=call.tool_call_id
                )
            }

    return FunctionModel(said, stream_function=streamed)


def agent_of(scene: Scene, hosted: Hosted) -> Agent[None, Any]:
    """The agent of a scene, with a tool for each agent that it can hand over to."""
    model, guarded = model_of(scene), Guarded(hosted)
    own: list[Any] = list(scene.atools if scene.is_async else scene.tools)
    handing = [
        _handing(name, Agent(model, name=name, tools=own, capabilities=[guarded]))
        for name in scene.others
    ]
    return Agent(
        model, name=scene.agent, output_type=OUTPUT, tools=[*own, *handing], capabilities=[guarded]
    )


def _handing(name: str, other: Agent[None, str]) -> Tool[None]:
    async def hand_over(work: str) -> str:
        """Hand work over."""
        return (await other.run(work)).output

    return Tool(hand_over, name=name)


def given(scene: Scene) -> dict[str, Any]:
    """What an agent is run with: the prompt, or what is needed to go on after a pause."""
    if scene.state is None:
        return {"user_prompt": scene.prompt}
    kept = json.loads(scene.state)
    return {
        "message_history": ModelMessagesTypeAdapter.validate_json(kept["messages"]),
        "deferred_tool_results": DeferredToolResults(
            approvals=dict.fromkeys(kept["waiting"], True)
        ),
    }


def ended(result: Any) -> Ended:
    """What an agent has come to."""
    if not isinstance(result.output, DeferredToolRequests):
        return Ended(result.output)
    waiting = [call.tool_call_id for call in result.output.approvals]
    return Ended(
        state=json.dumps({"messages": result.all_messages_json().decode(), "waiting": waiting})
    )


@contextmanager
def own_loop() -> Iterator[None]:
    """An event loop for `run_sync`, which leaves the one that it makes itself open."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        try:
            yield
        finally:
            asyncio.set_event_loop(None)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    if scene.is_async:
        return asyncio.run(aplay(scene))
    with own_loop(), PYDANTIC_AI.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent = agent_of(scene, hosted)
        if not scene.streams:
            return ended(agent.run_sync(**given(scene)))
        streamed = agent.run_stream_sync(**given(scene))
        return Ended(pieces=tuple(streamed.stream_text(delta=True, debounce_by=None)))


async def aplay(scene: Scene) -> Ended:
    """The same for async code."""
    async with PYDANTIC_AI.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent = agent_of(scene, hosted)
        if not scene.streams:
            return ended(await agent.run(**given(scene)))
        async with agent.run_stream(**given(scene)) as streamed:
            return Ended(
                pieces=tuple(
                    [piece async for piece in streamed.stream_text(delta=True, debounce_by=None)]
                )
            )


DRIVER = Driver("pydantic_ai", PYDANTIC_AI, play, "tests.hosts.pydantic_ai.driver:DRIVER")
