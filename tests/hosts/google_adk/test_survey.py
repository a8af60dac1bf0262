"""Tools that the provider runs are named; where the shield refuses, the model is not asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.code_executors import UnsafeLocalCodeExecutor
from google.adk.runners import InMemoryRunner
from google.adk.tools import google_search
from google.genai import types

from stanchion import Ungoverned
from stanchion.hosts.google_adk import GOOGLE_ADK, Guarded
from tests.hosts.google_adk.test_google_adk import look, scripted
from tests.runtime.coverage.doing import facts, watching


def asked(shield: Any, *more: Any, **options: Any) -> int:
    """Ask an agent; how often its model was asked."""
    model = scripted("done")
    model.model = "gemini-2.5-flash"

    async def play() -> None:
        async with GOOGLE_ADK.run(shield) as hosted:
            agent = LlmAgent(name="helper", model=model, tools=[*more], **options)
            runner = InMemoryRunner(
                app=App(name="app", root_agent=agent, plugins=[Guarded(hosted)])
            )
            session = await runner.session_service.create_session(app_name="app", user_id="u")
            message = types.Content(role="user", parts=[types.Part(text="go")])
            async for _ in runner.run_async(
                user_id="u", session_id=session.id, new_message=message
            ):
                pass

    asyncio.run(play())
    return len(model.read)


def named(journal: Any) -> list[Any]:
    return [(fact.data["what"], fact.data["name"]) for fact in facts(journal, "coverage.unguarded")]


def test_a_tool_that_the_provider_runs_is_named() -> None:
    shield, journal = watching()
    assert asked(shield, google_search) == 1
    assert named(journal) == [("tool", "google_search")]


def test_what_runs_code_without_a_call_is_named() -> None:
    shield, journal = watching()
    assert asked(shield, code_executor=UnsafeLocalCodeExecutor()) == 1
    assert named(journal) == [("tool", "UnsafeLocalCodeExecutor")]


def test_the_model_is_not_asked_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with pytest.raises(Ungoverned, match="the tool `google_search`"):
        asked(shield, google_search)


def test_an_agent_with_tools_of_its_own_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    assert asked(shield, look) == 1
    assert named(journal) == []
