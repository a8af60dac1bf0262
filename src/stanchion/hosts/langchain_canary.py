"""The canary of LangChain: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.langchain import LANGCHAIN, Guarded


class Asking(BaseChatModel):
    """A model that asks for the canary until it is answered."""

    @property
    def _llm_type(self) -> str:
        return TOOL

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """It knows its tool."""
        return self

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        calls = (
            []
            if isinstance(messages[-1], ToolMessage)
            else [{"name": TOOL, "args": {}, "id": TOOL}]
        )
        return ChatResult(generations=[ChatGeneration(message=AIMessage("done", tool_calls=calls))])


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the middleware around it."""
    tool = StructuredTool.from_function(body, name=TOOL, description="must not run")
    with LANGCHAIN.run(shield, agent=TOOL) as hosted:
        agent: Any = create_agent(Asking(), [tool], middleware=[Guarded(hosted)])
        agent.invoke({"messages": [("user", "call it")]})
