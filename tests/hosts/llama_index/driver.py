"""A driver that plays scenes with a `FunctionAgent`, or several in an `AgentWorkflow`, and goes on
after its pauses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context
from pydantic import PrivateAttr

from stanchion.hosts import Hosted
from stanchion.hosts.contract.works import Works
from stanchion.hosts.llama_index import (
    HANDOFF,
    LLAMA_INDEX,
    PersonAnswered,
    PersonAsked,
    guarded,
    guarding,
)
from stanchion.testing.host_suite import Call, Driver, Ended, Scene, Turn


class Scripted(MockFunctionCallingLLM):
    """A model that says what a script says, whole or in pieces, and what it used."""

    _ask: Callable[[list[str]], Turn] = PrivateAttr()

    def __init__(self, ask: Callable[[list[str]], Turn]) -> None:
        super().__init__(is_chat_model=True)
        self._ask = ask

    async def achat(self, messages: list[Any], **_options: Any) -> Any:
        """The next reply."""
        turn = self._ask(texts(messages))
        return ChatResponse(message=_message(turn, turn.text), raw=_used(turn), delta=turn.text)

    async def astream_chat(self, messages: list[Any], **_options: Any) -> AsyncIterator[Any]:
        """The same in pieces; each repeats what was said before it, as LlamaIndex has it."""
        turn = self._ask(texts(messages))

        async def pieces() -> AsyncIterator[Any]:
            said = ""
            for piece in turn.pieces:
                said += piece
                yield ChatResponse(
                    message=ChatMessage(role="assistant", content=said),
                    raw={"said": said},
                    delta=piece,
                )
            yield ChatResponse(message=_message(turn, said), raw=_used(turn), delta="")

        return pieces()


def texts(messages: list[Any]) -> list[str]:
    """The words of messages."""
    return [
        block.text
        for message in messages
        for block in message.blocks
        if isinstance(block, TextBlock)
    ]


def _message(turn: Turn, text: str) -> Any:
    calls = list(turn.calls)
    if turn.handoff:
        calls = [
            Call(f"{turn.id}-handoff", HANDOFF, {"to_agent": turn.handoff, "reason": "it can"})
        ]
    said = [TextBlock(text=text)] if text else []
    asked = [
        ToolCallBlock(tool_call_id=one.id, tool_name=one.tool, tool_kwargs=dict(one.args))
        for one in calls
    ]
    return ChatMessage(role="assistant", blocks=[*said, *asked])


def _used(turn: Turn) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}}


def agent_of(scene: Scene, **options: Any) -> Any:
    """An agent with the scene's tools and model, and the others beside it."""
    made = [
        FunctionAgent(
            name=name,
            description="works",
            tools=list(scene.atools),
            llm=Scripted(scene.ask),
            **options,
        )
        for name in (scene.agent, *scene.others)
    ]
    return AgentWorkflow(agents=made, root_agent=scene.agent) if scene.others else made[0]


def play(scene: Scene) -> Ended:
    """Play a scene."""
    return asyncio.run(aplay(scene))


def copied(agent: Any, hosted: Hosted) -> Any:
    """The copy of an agent that one run has."""
    return guarding(agent, Works(LLAMA_INDEX, hosted, lambda one: one), hosted)


async def aplay(scene: Scene) -> Ended:
    """Begin, or go on with a context that has paused, until it pauses or ends."""
    made = agent_of(scene, streaming=scene.streams)
    agent = guarded(made, scene.shield, pause=True, agent=scene.agent, task=scene.task)
    if scene.state is None:
        handler = agent.run(user_msg=scene.prompt)
    else:
        handler = agent.run(ctx=Context.from_dict(agent, json.loads(scene.state)))
        handler.ctx.send_event(PersonAnswered())
    pieces: list[str] = []
    async for event in handler.stream_events():
        if isinstance(event, AgentStream) and event.delta:
            pieces.append(event.delta)
        if isinstance(event, PersonAsked):
            state = json.dumps(handler.ctx.to_dict())
            await handler.cancel_run()
            return Ended(state=state)
    answer = (await handler).response.content
    return Ended(answer, tuple(pieces))


DRIVER = Driver(
    "llama_index", LLAMA_INDEX, play, "tests.hosts.llama_index.driver:DRIVER", ways=("async",)
)
