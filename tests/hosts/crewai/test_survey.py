"""A memory has a model of its own, which is named; where the shield refuses, the crew is not
guarded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai")

from stanchion import Ungoverned
from stanchion.hosts.crewai import CREWAI, guarding
from stanchion.testing.host_suite import Scene
from tests.hosts.crewai.driver import crew_of  # first, so that it sends no telemetry
from tests.runtime.coverage.doing import facts, watching

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning"
)  # the framework's own


def a_crew(shield: Any, **options: Any) -> Any:
    crew = crew_of(Scene(shield, [], "sync", Path()))
    for name, value in options.items():
        crew.__dict__[name] = (
            value  # CrewAI itself would make the memory at once, with a model and a store
        )
    return crew


def test_a_memory_is_named() -> None:
    shield, journal = watching()
    with CREWAI.run(shield, "helper") as hosted, guarding(a_crew(shield, memory=True), hosted):
        pass
    found = [
        (fact.data["what"], fact.data["name"], fact.data["place"])
        for fact in facts(journal, "coverage.unguarded")
    ]
    assert found == [("client", "memory", "crew")]


def test_the_crew_is_not_guarded_where_the_shield_refuses() -> None:
    shield, _ = watching("refuse")
    crew = a_crew(shield, memory=True)
    with (
        CREWAI.run(shield, "helper") as hosted,
        pytest.raises(Ungoverned, match="the client `memory`"),
    ):
        guarding(crew, hosted).__enter__()


def test_a_crew_without_one_has_nothing_named() -> None:
    shield, journal = watching("refuse")
    crew = a_crew(shield)
    with CREWAI.run(shield, "helper") as hosted, guarding(crew, hosted):
        pass
    assert facts(journal, "coverage.unguarded") == []
