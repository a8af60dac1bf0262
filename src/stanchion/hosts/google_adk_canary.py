"""The canary of Google ADK: an app whose model asks for the canary and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.google_adk import GOOGLE_ADK, Guarded


class Asking(BaseLlm):
    """A model that asks for the canary until it is answered."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next turn."""
        call = types.FunctionCall(id=TOOL, name=TOOL, args={})
        part = (
            types.Part(function_call=call)
            if len(llm_request.contents) == 1
            else types.Part(text="done")
        )
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class Called(FunctionTool):
    """A function as a tool of the canary's name."""

    def __init__(self, body: Callable[[], str]) -> None:
        super().__init__(body)
        self.name, self.description = TOOL, "must not run"


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an app call the canary, with the plugin around it."""
    async with GOOGLE_ADK.run(shield, agent=TOOL) as hosted:
        agent = LlmAgent(name=TOOL, model=Asking(model=TOOL), tools=[Called(body)])
        runner = InMemoryRunner(app=App(name=TOOL, root_agent=agent, plugins=[Guarded(hosted)]))
        session = await runner.session_service.create_session(app_name=TOOL, user_id=TOOL)
        said = types.Content(role="user", parts=[types.Part(text="call it")])
        async for _ in runner.run_async(user_id=TOOL, session_id=session.id, new_message=said):
            pass
