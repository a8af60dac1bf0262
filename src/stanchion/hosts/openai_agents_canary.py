"""The canary of the OpenAI Agents SDK: an agent whose model asks for the canary and nothing
else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.openai_agents import OPENAI_AGENTS, guarded


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary; nothing of it is traced."""
    asks = ModelStep(output=[function_call(TOOL, {}, call_id=TOOL)])
    model = ScriptedModel([asks, ModelStep(output=[assistant_message("done")])])
    tool = function_tool(body, name_override=TOOL, description_override="must not run")
    async with OPENAI_AGENTS.run(shield, agent=TOOL) as hosted:
        agent = guarded(Agent(TOOL, tools=[tool], model=model), hosted)
        await Runner.run(agent, "call it", run_config=RunConfig(tracing_disabled=True))
