"""A driver that plays scenes with an agent, or with a team whose leader delegates to its
members."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ.update(AGNO_TELEMETRY="false")

from agno.agent import Agent
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.run.agent import RunContentEvent
from agno.run.team import RunContentEvent as TeamRunContentEvent
from agno.team import Team

from stanchion.hosts.agno import AGNO, ONE, guarded
from stanchion.testing.host_suite import Call, Driver, Ended, Scene, Turn

CONTENT = (RunContentEvent, TeamRunContentEvent)


@dataclass
class Scripted(Model):
    """A model that says what a script says, whole or in pieces, and what it used."""

    id: str = "scripted"
    ask: Callable[[list[str]], Turn] | None = None

    def invoke(self, messages: list[Any], **_options: Any) -> Any:
        """The next reply."""
        turn = self._asked(messages)
        return ModelResponse(
            role="assistant",
            content=turn.text if turn.text else None,
            tool_calls=calls_of(turn),
            response_usage=used(turn),
        )

    async def ainvoke(self, messages: list[Any], **options: Any) -> Any:
        """The same for async code."""
        return type(self).invoke(self, messages, **options)

    def invoke_stream(self, messages: list[Any], **_options: Any) -> Iterator[Any]:
        """The same in pieces."""
        turn = self._asked(messages)
        for piece in turn.pieces:
            yield ModelResponse(content=piece)
        yield ModelResponse(tool_calls=calls_of(turn), response_usage=used(turn))

    async def ainvoke_stream(self, messages: list[Any], **options: Any) -> AsyncIterator[Any]:
        """The same for async code."""
        for piece in type(self).invoke_stream(self, messages, **options):
            yield piece

    def _asked(self, messages: list[Any]) -> Turn:
        assert self.ask is not None
        return self.ask([str(one.content) for one in messages if one.content])

    def _parse_provider_response(self, response: Any, **_options: Any) -> Any:
        return response

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return response


def calls_of(turn: Turn) -> list[dict[str, Any]]:
    """The calls of a turn; handing over is a call of the leader's own tool for it."""
    calls = list(turn.calls)
    if turn.handoff:
        calls = [
            Call(f"{turn.id}-handoff", ONE, {"member_id": turn.handoff, "task": "take it over"})
        ]
    return [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.tool, "arguments": json.dumps(one.args)},
        }
        for one in calls
    ]


def used(turn: Turn) -> Any:
    """What a turn has used."""
    return MessageMetrics(
        input_tokens=turn.input_tokens,
        output_tokens=turn.output_tokens,
        total_tokens=turn.input_tokens + turn.output_tokens,
    )


def tools_of(scene: Scene) -> list[Any]:
    """The scene's functions, with the types that Agno looks for, and not their names."""
    return [_typed(fn) for fn in (scene.atools if scene.is_async else scene.tools)]


def _typed(fn: Callable[..., Any]) -> Callable[..., Any]:
    fn.__annotations__ = {
        name: {"str": str, "int": int}.get(kind, kind) for name, kind in fn.__annotations__.items()
    }
    return fn


def agent_of(scene: Scene, **options: Any) -> Any:
    """An agent with the scene's tools and model, or a team that it leads."""
    quiet = {"tools": tools_of(scene), "telemetry": False, **options}

    def model() -> Any:
        return Scripted(ask=scene.ask)

    if not scene.others:
        return Agent(name=scene.agent, model=model(), **quiet)
    members = [Agent(name=name, model=model(), **quiet) for name in scene.others]
    return Team(name=scene.agent, members=members, model=model(), telemetry=False)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    return asyncio.run(aplay(scene)) if scene.is_async else _play(scene)


def _play(scene: Scene) -> Ended:
    agent = guarded(agent_of(scene), scene.shield, task=scene.task)
    if not scene.streams:
        return Ended(str(agent.run(scene.prompt).content))
    pieces = [
        one.content for one in agent.run(scene.prompt, stream=True) if isinstance(one, CONTENT)
    ]
    return Ended("".join(pieces), tuple(pieces))


async def aplay(scene: Scene) -> Ended:
    """The same by Agno's async code."""
    agent = guarded(agent_of(scene), scene.shield, task=scene.task)
    if not scene.streams:
        return Ended(str((await agent.arun(scene.prompt)).content))
    pieces = [
        one.content
        async for one in agent.arun(scene.prompt, stream=True)
        if isinstance(one, CONTENT)
    ]
    return Ended("".join(pieces), tuple(pieces))


DRIVER = Driver("agno", AGNO, play, "tests.hosts.agno.driver:DRIVER")
