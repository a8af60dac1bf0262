"""A driver that plays scenes with a `ToolCallingAgent`; its model says what the scene's script
says."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
)
from smolagents.monitoring import TokenUsage

from stanchion.hosts.smolagents import ANSWER, SMOLAGENTS, guarded
from stanchion.testing.host_suite import Call, Driver, Ended, Scene, Turn

TYPES: Final = {"str": "string", "int": "integer"}
QUIET: Final = {"verbosity_level": LogLevel.OFF, "max_steps": 8}


class Plain(Tool):
    """A function as a tool."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, fn: Callable[..., str]) -> None:
        self.name, self.description = fn.__name__, str(fn.__doc__)
        named = inspect.signature(fn).parameters.values()
        self.inputs = {
            one.name: {"type": TYPES[one.annotation], "description": one.name} for one in named
        }
        self._fn = fn
        super().__init__()

    def forward(self, **args: Any) -> str:
        """Call the function."""
        return self._fn(**args)


class Scripted(Model):
    """A model that says what a script says, whole or in pieces."""

    def __init__(self, ask: Callable[[list[str]], Turn]) -> None:
        super().__init__(model_id="scripted")
        self._ask = ask

    def generate(self, messages: list[Any], **_options: Any) -> Any:
        """The next reply."""
        turn = self._ask(texts(messages))
        calls = [ChatMessageToolCall(_function(one), one.id, "function") for one in calls_of(turn)]
        return ChatMessage(MessageRole.ASSISTANT, "", calls, token_usage=_used(turn))

    def generate_stream(self, messages: list[Any], **_options: Any) -> Iterator[Any]:
        """The next reply in pieces; the last ones say what it used."""
        turn = self._ask(texts(messages))
        for piece in turn.pieces:
            yield ChatMessageStreamDelta(piece, token_usage=TokenUsage(0, 1))
        for index, one in enumerate(calls_of(turn)):
            function = ChatMessageToolCallFunction(json.dumps(one.args), one.tool)
            yield ChatMessageStreamDelta(
                None, [ChatMessageToolCallStreamDelta(index, one.id, "function", function)]
            )
        yield ChatMessageStreamDelta(
            token_usage=TokenUsage(turn.input_tokens, turn.output_tokens - len(turn.pieces))
        )


def texts(messages: list[Any]) -> list[str]:
    """The words of messages."""
    return [one["text"] for message in messages for one in message.content]


def calls_of(turn: Turn) -> list[Call]:
    """The calls of a turn: handing over is a call of the other agent, answering one of the tool for
    answers."""
    if turn.handoff:
        return [Call(f"{turn.id}-handoff", turn.handoff, {"task": "take it over"})]
    return (
        list(turn.calls)
        if turn.calls
        else [Call(f"{turn.id}-answer", ANSWER, {"answer": turn.text})]
    )


def _function(call: Call) -> Any:
    return ChatMessageToolCallFunction(dict(call.args), call.tool)


def _used(turn: Turn) -> Any:
    return TokenUsage(turn.input_tokens, turn.output_tokens)


def agent_of(scene: Scene, **options: Any) -> Any:
    """An agent with the scene's tools and model, and the others as its team."""
    tools, model = [Plain(fn) for fn in scene.tools], Scripted(scene.ask)
    team = [
        ToolCallingAgent(
            tools, model, name=name, description="takes over", provide_run_summary=True, **QUIET
        )
        for name in scene.others
    ]
    return ToolCallingAgent(tools, model, managed_agents=team, **QUIET, **options)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    plain = agent_of(scene, stream_outputs=scene.streams)
    agent = guarded(plain, scene.shield, agent=scene.agent, task=scene.task)
    if not scene.streams:
        return Ended(str(agent.run(scene.prompt)))
    steps = list(agent.run(scene.prompt, stream=True))
    pieces = [
        one.content for one in steps if isinstance(one, ChatMessageStreamDelta) and one.content
    ]
    return Ended(str(steps[-1].output), tuple(pieces))


DRIVER = Driver(
    "smolagents", SMOLAGENTS, play, "tests.hosts.smolagents.driver:DRIVER", ways=("sync",)
)
