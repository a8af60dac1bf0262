"""How scenes are played in the Agent Framework: with a chat client of its own that says what a
script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
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

from stanchion.hosts import Hosted
from stanchion.hosts.agent_framework import AGENT_FRAMEWORK, guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client with the script of a scene; it streams in pieces."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._scene = scene
        self.function_invocation_configuration["include_detailed_errors"] = True

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        turn = self._scene.ask([json.dumps(message.to_dict(), default=str) for message in messages])
        return (
            ResponseStream(updates(turn), finalizer=ChatResponse.from_updates)
            if stream
            else whole(turn)
        )


def used(turn: Turn) -> Any:
    """What a turn has used."""
    total = turn.input_tokens + turn.output_tokens
    counts = {"input_token_count": turn.input_tokens, "output_token_count": turn.output_tokens}
    return {**counts, "total_token_count": total}


def calls(turn: Turn) -> list[Content]:
    """The calls of a turn; a handoff is a call of the agent's tool."""
    made = [
        Content.from_function_call(one.id, one.tool, arguments=json.dumps(one.args))
        for one in turn.calls
    ]
    if turn.handoff:
        made.append(
            Content.from_function_call(
                turn.id, turn.handoff, arguments=json.dumps({"task": "do it"})
            )
        )
    return made


async def whole(turn: Turn) -> ChatResponse:
    """A turn as a whole."""
    said = [Content.from_text(turn.text)] if turn.text else calls(turn)
    return ChatResponse(
        messages=[Message("assistant", said)], response_id=turn.id, usage_details=used(turn)
    )


async def updates(turn: Turn) -> AsyncIterator[ChatResponseUpdate]:
    """A turn in pieces."""
    pieces = [Content.from_text(piece) for piece in turn.pieces]
    for content in [*pieces, *calls(turn), Content.from_usage(used(turn))]:
        yield ChatResponseUpdate(
            role="assistant", contents=[content], response_id=turn.id, message_id=turn.id
        )


def agent_of(scene: Scene, hosted: Hosted) -> Agent:
    """The agent of a scene, with the agents that it can hand over to."""
    client = Client(scene)
    tools: list[Any] = [tool(approval_mode="never_require")(fn) for fn in scene.atools]
    others = [Agent(client=client, name=name, tools=list(tools)).as_tool() for name in scene.others]
    return Agent(
        client=client, name=scene.agent, tools=[*tools, *others], middleware=guarded(hosted)
    )


def play(scene: Scene) -> Ended:
    """Play a scene."""
    return asyncio.run(aplay(scene))


async def aplay(scene: Scene) -> Ended:
    """The framework has async code alone."""
    async with AGENT_FRAMEWORK.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent = agent_of(scene, hosted)
        if scene.streams:
            stream = agent.run(scene.prompt, stream=True)
            pieces = tuple([update.text async for update in stream if update.text])
            return Ended((await stream.get_final_response()).text, pieces)
        session, given = restored(scene, agent)
        result = await agent.run(given, session=session)
        if not result.user_input_requests:
            return Ended(result.text)
        waiting = [request.to_dict() for request in result.user_input_requests]
        return Ended(state=json.dumps({"session": session.to_dict(), "waiting": waiting}))


def restored(scene: Scene, agent: Agent) -> tuple[Any, Any]:
    """A session, and what the agent is given: the prompt, or that calls which have waited may go
    on."""
    if scene.state is None:
        return agent.create_session(), scene.prompt
    kept = json.loads(scene.state)
    requests = [Content.from_dict(one) for one in kept["waiting"]]
    answers = [request.to_function_approval_response(approved=True) for request in requests]
    return AgentSession.from_dict(kept["session"]), Message("user", answers)


DRIVER = Driver(
    "agent_framework",
    AGENT_FRAMEWORK,
    play,
    "tests.hosts.agent_framework.driver:DRIVER",
    ways=("async",),
)
