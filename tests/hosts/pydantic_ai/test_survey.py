"""Native tools, which the provider runs, are named; where the shield refuses, the model is not
asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.native_tools import WebSearchTool

from stanchion import Ungoverned
from stanchion.hosts.pydantic_ai import PYDANTIC_AI, Guarded
from tests.runtime.coverage.doing import facts, watching


class Searching(FunctionModel):
    """A model whose provider can search."""

    @classmethod
    def supported_native_tools(cls) -> Any:
        return frozenset({WebSearchTool})


def look(name: str) -> str:
    """Read a page."""
    return name


def asked(shield: Any, *more: Any) -> int:
    """Ask an agent with a tool of its own; how often its model was asked."""
    times: list[Any] = []

    def said(messages: Any, info: Any) -> ModelResponse:
        times.append(messages)
        return ModelResponse([TextPart("done")])

    async def work() -> None:
        async with PYDANTIC_AI.run(shield) as hosted:
            agent = Agent(Searching(said), tools=[look], capabilities=[Guarded(hosted), *more])
            await agent.run("search")

    asyncio.run(work())
    return len(times)


def test_a_tool_that_the_provider_runs_is_named() -> None:
    shield, journal = watching()
    assert asked(shield, NativeTool(WebSearchTool())) == 1
    assert [
        (fact.data["what"], fact.data["name"]) for fact in facts(journal, "coverage.unguarded")
    ] == [("tool", "web_search")]


def test_the_model_is_not_asked_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with pytest.raises(Ungoverned, match="the tool `web_search`"):
        asked(shield, NativeTool(WebSearchTool()))


def test_an_agent_with_tools_of_its_own_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    assert asked(shield) == 1
    assert facts(journal, "coverage.unguarded") == []
