"""The canary of Strands Agents: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from strands import Agent, tool
from strands.models import Model

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.strands import STRANDS, Guarded


class Asking(Model):
    """A model that asks for the canary until it is answered."""

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        """Its name."""
        return {"model_id": TOOL}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not asked for."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """The next turn."""
        asks = len(messages) == 1
        start = {"toolUse": {"toolUseId": TOOL, "name": TOOL}} if asks else {}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {
            "contentBlockDelta": {
                "delta": {"toolUse": {"input": "{}"}} if asks else {"text": "done"}
            }
        }
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if asks else "end_turn"}}


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the plugin around it."""
    async with STRANDS.run(shield, agent=TOOL) as hosted:
        tools: list[Any] = [tool(body, name=TOOL, description="must not run")]
        agent = Agent(
            Asking(), name=TOOL, tools=tools, callback_handler=None, plugins=[Guarded(hosted)]
        )
        await agent.invoke_async("call it")
