"""Tools that the provider runs are named; where the shield refuses, the model is not asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import Agent

from stanchion import Ungoverned
from stanchion.hosts.agent_framework import AGENT_FRAMEWORK, guarded
from tests.hosts.agent_framework.test_agent_framework import Scripted, look
from tests.runtime.coverage.doing import facts, watching


def asked(shield: Any, *more: Any) -> int:
    """Ask an agent with a tool of its own; how often its client was asked."""
    client = Scripted("done")

    async def play() -> None:
        async with AGENT_FRAMEWORK.run(shield) as hosted:
            await Agent(
                client=client, name="helper", tools=[look, *more], middleware=guarded(hosted)
            ).run("go")

    asyncio.run(play())
    return len(client.read)


SEARCH = {"type": "web_search"}


def test_a_tool_that_the_provider_runs_is_named() -> None:
    shield, journal = watching()
    assert asked(shield, SEARCH) == 1
    found = [
        (fact.data["what"], fact.data["name"]) for fact in facts(journal, "coverage.unguarded")
    ]
    assert found == [("tool", "web_search")]


def test_the_model_is_not_asked_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with pytest.raises(Ungoverned, match="the tool `web_search`"):
        asked(shield, SEARCH)


def test_an_agent_with_tools_of_its_own_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    assert asked(shield) == 1
    assert facts(journal, "coverage.unguarded") == []
