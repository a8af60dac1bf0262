"""How scenes are played in the OpenAI Agents SDK: with a model of its own interface that says what
a script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Runner, RunState, Usage, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseTextDeltaEvent

from stanchion.hosts.openai_agents import OPENAI_AGENTS, guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn

set_tracing_disabled(True)


def step_of(turn: Turn) -> ModelStep:
    """A scripted turn in the SDK's own type."""
    total = turn.input_tokens + turn.output_tokens
    usage = Usage(
        requests=1,
        input_tokens=turn.input_tokens,
        output_tokens=turn.output_tokens,
        total_tokens=total,
    )
    calls = [function_call(one.tool, one.args, call_id=one.id) for one in turn.calls]
    if turn.handoff:
        calls = [function_call(f"transfer_to_{turn.handoff}", {}, call_id=turn.id)]
    return ModelStep(output=calls if calls else [assistant_message(turn.text)], usage=usage)


class Model(ScriptedModel):
    """The SDK's scripted model, with the script of a scene; it streams in pieces."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._scene = scene

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        """The next turn."""
        self.enqueue(step_of(self._scene.ask([json.dumps(item) for item in args[1]])))
        return await super().get_response(*args, **kwargs)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """The next turn in pieces."""
        turn = self._scene.ask([json.dumps(item) for item in args[1]])
        self.enqueue(step_of(turn))
        async for event in super().stream_response(*args, **kwargs):
            if not isinstance(event, ResponseTextDeltaEvent):
                yield event
                continue
            for piece in turn.pieces:
                yield event.model_copy(update={"delta": piece})


def failed(_context: Any, error: Exception) -> str:
    """What the model reads of a failure; by default the SDK says only that there was one."""
    return f"it has failed: {error}"


def agent_of(scene: Scene) -> Any:
    """The agent of a scene, with the agents that it can hand over to."""
    model = Model(scene)
    tools = [
        function_tool(fn, failure_error_function=failed)
        for fn in (scene.atools if scene.is_async else scene.tools)
    ]
    others = [Agent(name, tools=list(tools), model=model) for name in scene.others]
    agent = Agent(scene.agent, tools=list(tools), handoffs=list(others), model=model)
    return guarded(agent, scene.shield, task=scene.task)


async def given(scene: Scene, agent: Any) -> Any:
    """What an agent is run with: the prompt, or the state of a run that has paused."""
    if scene.state is None:
        return scene.prompt
    state = await RunState.from_json(agent, json.loads(scene.state))
    for waiting in state.get_interruptions():
        state.approve(waiting)
    return state


def ended(result: Any) -> Ended:
    """What an agent has come to."""
    if result.interruptions:
        return Ended(state=json.dumps(result.to_state().to_json()))
    return Ended(str(result.final_output))


async def streamed(agent: Any, scene: Scene) -> Ended:
    """Stream an answer."""
    result = Runner.run_streamed(agent, scene.prompt)
    pieces = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    return Ended(str(result.final_output), tuple(pieces))


def play(scene: Scene) -> Ended:
    """Play a scene."""
    if scene.is_async or scene.streams:
        return asyncio.run(aplay(scene))
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        try:
            agent = agent_of(scene)
            return ended(Runner.run_sync(agent, runner.run(given(scene, agent))))
        finally:
            asyncio.set_event_loop(None)


async def aplay(scene: Scene) -> Ended:
    """The same for async code; a stream is always that."""
    agent = agent_of(scene)
    if scene.streams:
        return await streamed(agent, scene)
    return ended(await Runner.run(agent, await given(scene, agent)))


DRIVER = Driver("openai_agents", OPENAI_AGENTS, play, "tests.hosts.openai_agents.driver:DRIVER")
