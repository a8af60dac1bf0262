"""Tools that the provider runs are named; where the shield refuses, the model is not asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import HumanMessage

from stanchion import Ungoverned
from stanchion.hosts.langchain import LANGCHAIN, Guarded
from stanchion.testing.host_suite import Scene
from stanchion.testing.host_suite.scene import script
from tests.hosts.langchain.driver import Scripted
from tests.runtime.coverage.doing import facts, watching


@tool
def look(name: str) -> str:
    """Look."""
    return name


def asked(shield: Any, *more: Any) -> int:
    """Ask an agent with a tool of its own; how often its model was asked."""
    scene = Scene(shield, script("done"), "sync", Path())
    with LANGCHAIN.run(shield) as hosted:
        agent: Any = create_agent(
            Scripted(scene=scene), [look, *more], middleware=[Guarded(hosted)]
        )
        agent.invoke({"messages": [HumanMessage("search")]})
    return len(scene.asked)


SEARCH = {"type": "web_search_20250305", "name": "web_search"}


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
