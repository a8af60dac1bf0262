"""An agent in a real framework: what its adapter guards is covered, and what nobody guards is
named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool

from stanchion.hosts.canaries import driven
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.langchain import LANGCHAIN, Guarded, LangChainCanaryModel
from tests.runtime.coverage.doing import facts, named, watching, write


def agent(path: Path, middleware: list[Any]) -> Any:
    """An agent whose one tool writes a file."""

    def save() -> str:
        return write(path)

    tool = StructuredTool.from_function(save, name=TOOL, description="write a file")
    return create_agent(LangChainCanaryModel(), [tool], middleware=middleware)


def asked(one: Any) -> list[Any]:
    found: list[Any] = one.invoke({"messages": [("user", "save it")]})["messages"]
    return found


@pytest.mark.parametrize("mode", ["observe", "refuse"])
def test_a_guarded_agent_names_nothing(mode: str, tmp_path: Path) -> None:
    shield, journal = watching(mode)
    with LANGCHAIN.run(shield) as hosted:
        messages = asked(agent(tmp_path / "file", [Guarded(hosted)]))
    assert [type(one) for one in messages[-2:]] == [ToolMessage, AIMessage]
    assert (tmp_path / "file").exists()
    assert named(journal) == []


def test_an_agent_without_its_middleware_is_named(tmp_path: Path) -> None:
    shield, journal = watching()
    with LANGCHAIN.run(shield):
        asked(agent(tmp_path / "file", []))
    (fact,) = facts(journal)
    assert (fact.data["within"][:2], fact.data["by"]) == (["write", "save"], "context")


def test_it_is_stopped_where_the_shield_refuses(tmp_path: Path) -> None:
    shield, _ = watching("refuse")
    with LANGCHAIN.run(shield), pytest.raises(Exception, match="in no call that was decided"):
        asked(agent(tmp_path / "file", []))
    assert not (tmp_path / "file").exists()


def test_the_adapter_catches_its_canary() -> None:
    assert driven("langchain").caught
