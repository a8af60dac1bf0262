"""Tools that the provider runs are named; where the shield refuses, the agent is not made."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agno")

from tests.hosts.agno.driver import Scripted  # first, so that it sends no telemetry

from agno.agent import Agent  # isort: skip
from agno.team import Team  # isort: skip

from stanchion import Ungoverned
from stanchion.hosts.agno import AGNO, guarded
from tests.runtime.coverage.doing import facts, watching


def look(name: str) -> str:
    """Look."""
    return name


def an_agent(*more: Any) -> Any:
    return Agent(name="helper", model=Scripted(ask=None), tools=[look, *more], telemetry=False)


SEARCH = {"type": "web_search"}


def test_a_tool_that_the_provider_runs_is_named_also_of_a_member() -> None:
    shield, journal = watching()
    team = Team(name="team", model=Scripted(ask=None), members=[an_agent(SEARCH)], telemetry=False)
    with AGNO.run(shield) as hosted:
        guarded(team, hosted)
    found = [
        (fact.data["name"], fact.data["place"]) for fact in facts(journal, "coverage.unguarded")
    ]
    assert found == [("web_search", "helper")]


def test_the_agent_is_not_made_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    with AGNO.run(shield) as hosted, pytest.raises(Ungoverned, match="the tool `web_search`"):
        guarded(an_agent(SEARCH), hosted)


def test_an_agent_with_tools_of_its_own_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    with AGNO.run(shield) as hosted:
        guarded(an_agent(), hosted)
    assert facts(journal, "coverage.unguarded") == []
