"""The canary of LlamaIndex: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.llama_index import LLAMA_INDEX, guarded


class Asking(MockFunctionCallingLLM):
    """A model that asks for the canary until it is answered."""

    async def achat(self, messages: Any, **_options: Any) -> ChatResponse:
        """The next reply."""
        if any(one.role == "tool" for one in messages):
            return ChatResponse(message=ChatMessage(role="assistant", content="done"))
        asks = ToolCallBlock(tool_call_id=TOOL, tool_name=TOOL, tool_kwargs={})
        return ChatResponse(message=ChatMessage(role="assistant", blocks=[asks]))


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    tool = FunctionTool.from_defaults(body, name=TOOL, description="must not run")
    agent = FunctionAgent(
        name=TOOL, description=TOOL, tools=[tool], llm=Asking(is_chat_model=True), streaming=False
    )
    async with LLAMA_INDEX.run(shield, agent=TOOL) as hosted:
        await guarded(agent, hosted).run(user_msg="call it")
