"""A driver that plays scenes with a crew: one agent with a task, and coworkers that it can delegate
to."""

from __future__ import annotations

import asyncio
import functools
import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

if (
    find_spec("crewai") is not None
):  # it reads these when it is imported; elsewhere they would be for other tests
    os.environ.update(
        CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false"
    )

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool as as_tool

from stanchion.hosts.crewai import CREWAI, guarded
from stanchion.testing.host_suite import Call, Driver, Ended, Scene, Turn

DELEGATE = "delegate_work_to_coworker"


class Scripted(BaseLLM):
    """A model that says what a script says, and what it used; it streams where it is told to."""

    ask: Callable[[list[str]], Turn]
    native: bool = True

    def supports_function_calling(self) -> bool:
        """Whether it calls tools by JSON, or by a text that CrewAI reads."""
        return self.native

    def call(self, messages: Any, tools: Any = None, **options: Any) -> Any:
        """The next reply."""
        turn = self.ask([str(one["content"]) for one in messages if one.get("content")])
        used = {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}
        self._track_token_usage_internal({**used, "total_tokens": sum(used.values())})
        for piece in turn.pieces if self._effective_stream() else ():
            self._emit_stream_chunk_event(chunk=piece, from_agent=options.get("from_agent"))
        return [_function(one) for one in calls_of(turn)] if calls_of(turn) else turn.text

    async def acall(self, messages: Any, tools: Any = None, **options: Any) -> Any:
        """The same for async code."""
        return type(self).call(self, messages, tools, **options)


def calls_of(turn: Turn) -> list[Call]:
    """The calls of a turn: handing over is a call of CrewAI's own tool for it."""
    if turn.handoff:
        args = {
            "task": "take it over",
            "context": "all of it",
            "coworker": f"  {turn.handoff.upper()} ",
        }
        return [Call(f"{turn.id}-handoff", DELEGATE, args)]
    return list(turn.calls)


def _function(call: Call) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.tool, "arguments": json.dumps(call.args)},
    }


def tools_of(scene: Scene) -> list[Any]:
    """The scene's functions as tools."""
    return [as_tool(fn.__name__)(_unwrapped(fn)) for fn in scene.tools]


def _unwrapped(fn: Callable[..., str]) -> Callable[..., str]:
    """The function with the types that CrewAI looks for, and not their names."""

    @functools.wraps(fn)
    def own(*args: Any, **kwargs: Any) -> str:
        return fn(*args, **kwargs)

    own.__annotations__ = {
        name: {"str": str, "int": int}[kind] for name, kind in fn.__annotations__.items()
    }
    return own


def crew_of(scene: Scene, llm: Any = None, tools: Any = None, **options: Any) -> Any:
    """A crew with the scene's agent, tools and model, or others."""
    made = Scripted(model="scripted", ask=scene.ask) if llm is None else llm
    quiet = {"goal": "help", "backstory": "a helper", "llm": made, "verbose": False, "max_iter": 9}
    agents = [
        Agent(
            role=name,
            tools=tools_of(scene) if tools is None else tools,
            allow_delegation=bool(scene.others) and name == scene.agent,
            **quiet,
        )
        for name in (scene.agent, *scene.others)
    ]
    task = Task(description=scene.prompt, expected_output="an answer", agent=agents[0])
    return Crew(agents=agents, tasks=[task], verbose=False, stream=scene.streams, **options)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    return asyncio.run(aplay(scene)) if scene.is_async else _play(scene)


def _play(scene: Scene) -> Ended:
    came = guarded(crew_of(scene), scene.shield, agent=scene.agent, task=scene.task).kickoff()
    if not scene.streams:
        return Ended(str(came.raw))
    pieces = tuple([chunk.content for chunk in came if chunk.content])
    return Ended(str(came.result.raw), pieces)


async def aplay(scene: Scene) -> Ended:
    """The same by CrewAI's async code."""
    crew = guarded(crew_of(scene), scene.shield, agent=scene.agent, task=scene.task)
    came = await crew.akickoff()
    if not scene.streams:
        return Ended(str(came.raw))
    pieces = tuple([chunk.content async for chunk in came if chunk.content])
    return Ended(str(came.result.raw), pieces)


DRIVER = Driver("crewai", CREWAI, play, "tests.hosts.crewai.driver:DRIVER")
