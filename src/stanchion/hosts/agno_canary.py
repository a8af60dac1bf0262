"""The canary of Agno: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.tools.function import Function

from stanchion.hosts.agno import AGNO, guarded
from stanchion.hosts.contract.canary import TOOL

CALL = {"id": TOOL, "type": "function", "function": {"name": TOOL, "arguments": "{}"}}


@dataclass
class Asking(Model):
    """A model that asks for the canary until it is answered. It is asked for whole replies
    alone."""

    id: str = TOOL

    def invoke(self, messages: list[Any], **_options: Any) -> ModelResponse:
        """The next reply."""
        if any(one.role == "tool" for one in messages):
            return ModelResponse(role="assistant", content="done")
        return ModelResponse(role="assistant", tool_calls=[CALL])

    async def ainvoke(self, *_: Any, **__: Any) -> ModelResponse:
        """Not asked for."""
        raise NotImplementedError

    def invoke_stream(self, *_: Any, **__: Any) -> Iterator[ModelResponse]:
        """Not asked for."""
        raise NotImplementedError

    def ainvoke_stream(self, *_: Any, **__: Any) -> AsyncIterator[ModelResponse]:
        """Not asked for."""
        raise NotImplementedError

    def _parse_provider_response(self, response: Any, **_options: Any) -> Any:
        return response

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return response


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary; nothing of it is reported to Agno."""
    tool = Function(name=TOOL, description="must not run", entrypoint=body)
    with AGNO.run(shield, agent=TOOL) as hosted:
        guarded(Agent(name=TOOL, model=Asking(), tools=[tool], telemetry=False), hosted).run(
            "call it"
        )
