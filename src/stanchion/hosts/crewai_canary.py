"""The canary of CrewAI: an agent whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crewai import Agent, BaseLLM
from crewai.tools import BaseTool

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.crewai import CREWAI, guarded

CALL = {"id": TOOL, "type": "function", "function": {"name": TOOL, "arguments": "{}"}}


class Asking(BaseLLM):
    """A model that asks for the canary until it is answered."""

    def supports_function_calling(self) -> bool:
        """It calls tools by JSON."""
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        """The next reply."""
        return "done" if any(one["role"] == "tool" for one in messages) else [CALL]


class Called(BaseTool):
    """A function as a tool of the canary's name."""

    name: str = TOOL
    description: str = "must not run"
    body: Callable[[], str]

    def _run(self) -> str:
        return self.body()


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    agent = Agent(
        role=TOOL,
        goal=TOOL,
        backstory=TOOL,
        llm=Asking(model=TOOL),
        tools=[Called(body=body)],
        max_iter=2,
    )
    with CREWAI.run(shield, agent=TOOL) as hosted, guarded(agent, hosted):
        agent.kickoff("call it")
