"""Every tool of an agent is guarded: where a shield refuses what is not, the agent is made, and
nothing is named."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import ToolCallingAgent

from stanchion import Ungoverned
from stanchion.hosts import smolagents as adapter
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.smolagents import SMOLAGENTS, SmolCanaryModel, SmolCanaryTool, guarded
from tests.runtime.coverage.doing import facts, watching


def an_agent() -> Any:
    return ToolCallingAgent([SmolCanaryTool(lambda: "done")], SmolCanaryModel())


def test_every_tool_is_guarded() -> None:
    shield, journal = watching("refuse")
    with SMOLAGENTS.run(shield) as hosted:
        assert TOOL in guarded(an_agent(), hosted).tools
    assert facts(journal, "coverage.unguarded") == []


def test_a_tool_that_was_left_as_it_is_would_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "_tool", lambda tool, *_: tool)
    shield, _ = watching("refuse")
    with SMOLAGENTS.run(shield) as hosted, pytest.raises(Ungoverned, match=f"the tool `{TOOL}`"):
        guarded(an_agent(), hosted)
