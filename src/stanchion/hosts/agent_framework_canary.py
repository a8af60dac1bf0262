"""The canary of the Microsoft Agent Framework: an agent whose model asks for the canary and nothing
else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from stanchion.hosts.agent_framework import AGENT_FRAMEWORK, guarded
from stanchion.hosts.contract.canary import TOOL


class Asking(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client whose model asks for the canary until it is answered."""

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> Any:
        asks = len(messages) == 1
        said = (
            Content.from_function_call(TOOL, TOOL, arguments="{}")
            if asks
            else Content.from_text("done")
        )
        return ChatResponse(messages=[Message("assistant", [said])], response_id=TOOL)


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the middleware around it."""
    async with AGENT_FRAMEWORK.run(shield, agent=TOOL) as hosted:
        tools: list[Any] = [
            tool(body, name=TOOL, description="must not run", approval_mode="never_require")
        ]
        await Agent(client=Asking(), name=TOOL, tools=tools, middleware=guarded(hosted)).run(
            "call it"
        )
