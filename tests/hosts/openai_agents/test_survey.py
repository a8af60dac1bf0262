"""Tools of an agent that nothing guards are named; where the shield refuses, the agent is not
made."""

from __future__ import annotations

import pytest

pytest.importorskip("agents")

from agents import Agent, WebSearchTool, function_tool

from stanchion import Ungoverned
from stanchion.hosts.openai_agents import OPENAI_AGENTS, guarded
from tests.runtime.coverage.doing import facts, watching


def look(name: str) -> str:
    """Read a page."""
    return name


def an_agent() -> Agent[None]:
    """An agent with a tool of its own and one that the provider runs, which hands over to one like
    it."""
    other = Agent("desk", tools=[WebSearchTool()])
    return Agent("helper", tools=[function_tool(look), WebSearchTool()], handoffs=[other])


def test_a_tool_that_the_provider_runs_is_named_for_each_agent() -> None:
    shield, journal = watching()
    with OPENAI_AGENTS.run(shield) as hosted:
        guarded(an_agent(), hosted)
    found = [
        (fact.data["what"], fact.data["name"], fact.data["place"])
        for fact in facts(journal, "coverage.unguarded")
    ]
    assert found == [("tool", "web_search", "helper"), ("tool", "web_search", "desk")]


def test_the_agent_is_not_made_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with (
        OPENAI_AGENTS.run(shield) as hosted,
        pytest.raises(Ungoverned, match="the tool `web_search`"),
    ):
        guarded(an_agent(), hosted)


def test_an_agent_whose_tools_are_all_functions_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    with OPENAI_AGENTS.run(shield) as hosted:
        guarded(Agent("helper", tools=[function_tool(look)]), hosted)
    assert facts(journal, "coverage.unguarded") == []
