"""The canary of smolagents: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.smolagents import ANSWER, SMOLAGENTS, guarded


class Called(Tool):
    """A function as a tool of the canary's name."""

    name, description = TOOL, "must not run"
    inputs: dict[str, Any] = {}  # noqa: RUF012 - where the framework wants it
    output_type = "string"

    def __init__(self, body: Callable[[], str]) -> None:
        self._body = body
        super().__init__()

    def forward(self) -> str:
        """Call the function."""
        return self._body()


class Asking(Model):
    """A model that asks for the canary, and then answers."""

    def __init__(self) -> None:
        super().__init__(model_id=TOOL)
        self._turns = [(TOOL, {}), (ANSWER, {"answer": "done"})]

    def generate(self, _messages: list[Any], **_options: Any) -> ChatMessage:
        """The next reply."""
        name, args = self._turns.pop(0)
        call = ChatMessageToolCall(ChatMessageToolCallFunction(args, name), TOOL, "function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call])


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    with SMOLAGENTS.run(shield, agent=TOOL) as hosted:
        agent = ToolCallingAgent(
            [Called(body)], Asking(), max_steps=2, verbosity_level=LogLevel.OFF
        )
        guarded(agent, hosted).run("call it")
