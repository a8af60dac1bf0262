"""The canary of pydantic-ai: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import Tool

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.pydantic_ai import PYDANTIC_AI, Guarded


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the capability around it."""
    async with PYDANTIC_AI.run(shield, agent=TOOL) as hosted:
        tool: Any = Tool(body, name=TOOL, description="must not run")
        agent: Any = Agent(
            FunctionModel(_asks), name=TOOL, tools=[tool], capabilities=[Guarded(hosted)]
        )
        await agent.run("call it")


def _asks(messages: list[Any], _info: Any) -> ModelResponse:
    """Ask for the canary until there is an answer."""
    return ModelResponse([ToolCallPart(TOOL, {})] if len(messages) == 1 else [TextPart("done")])
