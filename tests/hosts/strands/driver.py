"""How scenes are played in Strands Agents: with a model of its own interface that says what a
script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager

from stanchion.hosts import Hosted
from stanchion.hosts.strands import STRANDS, Guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn


class Scripted(Model):
    """A model with the script of a scene; it streams in pieces."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        """There is nothing set."""
        return {"model_id": "scripted"}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not in any script."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """The next turn."""
        turn = self._scene.ask([json.dumps(message, ensure_ascii=False) for message in messages])
        yield {"messageStart": {"role": "assistant"}}
        for event in [*said(turn), *called(turn)]:
            yield event
        yield {"messageStop": {"stopReason": "tool_use" if called(turn) else "end_turn"}}
        total = turn.input_tokens + turn.output_tokens
        usage = {
            "inputTokens": turn.input_tokens,
            "outputTokens": turn.output_tokens,
            "totalTokens": total,
        }
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def said(turn: Turn) -> list[Any]:
    """The text of a turn in pieces."""
    pieces = [{"contentBlockDelta": {"delta": {"text": piece}}} for piece in turn.pieces]
    return (
        [{"contentBlockStart": {"start": {}}}, *pieces, {"contentBlockStop": {}}] if pieces else []
    )


def called(turn: Turn) -> list[Any]:
    """The calls of a turn; a handoff is a call of the agent's tool."""
    calls = [(one.id, one.tool, one.args) for one in turn.calls]
    calls += [(turn.id, turn.handoff, {"input": "do it"})] if turn.handoff else []
    events: list[Any] = []
    for name, named, args in calls:
        events.append(
            {"contentBlockStart": {"start": {"toolUse": {"toolUseId": name, "name": named}}}}
        )
        events.append({"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}})
        events.append({"contentBlockStop": {}})
    return events


def agent_of(scene: Scene, hosted: Hosted) -> Agent:
    """The agent of a scene, with the agents that it can hand over to."""
    model = Scripted(scene)
    tools: list[Any] = [tool(fn) for fn in (scene.atools if scene.is_async else scene.tools)]
    others = [
        Agent(model, name=name, tools=list(tools), callback_handler=None) for name in scene.others
    ]
    kept = FileSessionManager(session_id="suite", storage_dir=str(scene.folder / "sessions"))
    return Agent(
        model,
        name=scene.agent,
        agent_id=scene.agent,
        tools=[*tools, *[other.as_tool() for other in others]],
        callback_handler=None,
        plugins=[Guarded(hosted)],
        session_manager=kept if scene.state is not None or not scene.others else None,
    )


def given(scene: Scene) -> Any:
    """What an agent is run with: the prompt, or that calls which have waited may go on."""
    if scene.state is None:
        return scene.prompt
    waiting = json.loads(scene.state)
    return [{"interruptResponse": {"interruptId": one, "response": "go on"}} for one in waiting]


def ended(result: Any) -> Ended:
    """What an agent has come to."""
    if result.stop_reason == "interrupt":
        return Ended(state=json.dumps([one.id for one in result.interrupts]))
    return Ended(str(result).strip())


def play(scene: Scene) -> Ended:
    """Play a scene."""
    if scene.is_async:
        return asyncio.run(aplay(scene))
    with STRANDS.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent, pieces = agent_of(scene, hosted), list[str]()
        if scene.streams:
            agent.callback_handler = lambda **told: (
                pieces.append(told["data"]) if "data" in told else None
            )
        made = ended(agent(given(scene)))
        return Ended(made.answer, tuple(pieces), made.state)


async def aplay(scene: Scene) -> Ended:
    """The same for async code."""
    async with STRANDS.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent = agent_of(scene, hosted)
        if not scene.streams:
            return ended(await agent.invoke_async(given(scene)))
        told = [event async for event in agent.stream_async(given(scene))]
        return Ended(
            str(told[-1]["result"]).strip(),
            tuple([event["data"] for event in told if "data" in event]),
        )


DRIVER = Driver("strands", STRANDS, play, "tests.hosts.strands.driver:DRIVER")
