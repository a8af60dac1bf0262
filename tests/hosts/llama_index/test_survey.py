"""Tools that the provider runs are named; where the shield refuses, the agent is not made."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool

from stanchion import Ungoverned
from stanchion.hosts.llama_index import LLAMA_INDEX
from tests.hosts.llama_index.driver import Scripted, copied
from tests.runtime.coverage.doing import facts, watching

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the framework's own, of pydantic


def look(name: str) -> str:
    """Look."""
    return name


def an_agent(*built_in: Any) -> Any:
    """An agent whose model has tools of its own, as those of the Responses API have."""
    llm = Scripted(None)  # type: ignore[arg-type] # it is not asked
    if built_in:
        llm.__dict__["built_in_tools"] = list(built_in)
    return FunctionAgent(
        name="helper", description="helps", tools=[FunctionTool.from_defaults(look)], llm=llm
    )


SEARCH = {"type": "web_search"}


def test_a_tool_that_the_provider_runs_is_named() -> None:
    shield, journal = watching()
    with LLAMA_INDEX.run(shield) as hosted:
        copied(AgentWorkflow(agents=[an_agent(SEARCH)], root_agent="helper"), hosted)
    found = [
        (fact.data["name"], fact.data["place"]) for fact in facts(journal, "coverage.unguarded")
    ]
    assert found == [("web_search", "helper")]


def test_the_agent_is_not_made_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with (
        LLAMA_INDEX.run(shield) as hosted,
        pytest.raises(Ungoverned, match="the tool `web_search`"),
    ):
        copied(an_agent(SEARCH), hosted)


def test_an_agent_with_tools_of_its_own_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    with LLAMA_INDEX.run(shield) as hosted:
        copied(an_agent(), hosted)
    assert facts(journal, "coverage.unguarded") == []
