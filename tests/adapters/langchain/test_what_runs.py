"""What a tool is run with is what was judged, whatever other middlewares make of a call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import HumanMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from stanchion import Ungoverned
from stanchion.adapters.langchain import LANGCHAIN, Guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import Scene
from stanchion.testing.host_suite.script import script
from tests.adapters.langchain.driver import Scripted

RAN: list[Any] = []
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"id": "deny", "use": "tool_denylist", "tools": ["wipe"]},
        {"id": "big", "use": "rule", "stages": ["tool_call"], "when": "event.args.amount > 100", "action": "block"},
    ],
}


@tool
def pay(amount: int, runtime: ToolRuntime) -> str:
    """Pay."""
    RAN.append(("pay", amount))
    return f"paid {amount}, {count.invoke({'amount': 7}, runtime.config)}"


@tool
def wipe(amount: int) -> str:
    """Wipe."""
    RAN.append(("wipe", amount))
    return "wiped"


@tool
def count(amount: int) -> str:
    """Count."""
    return f"counted {amount}"


class Makes(AgentMiddleware):
    """A middleware that makes something else of each call."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make = make

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(self._make(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._make(request))


def more(request: Any) -> Any:
    return request.override(tool_call={**request.tool_call, "args": {"amount": 999}})


def in_place(request: Any) -> Any:
    request.tool_call["args"]["amount"] = 999
    return request


def fewer(request: Any) -> Any:
    return request.override(tool_call={**request.tool_call, "args": {}})


def another(request: Any) -> Any:
    return request.override(tool=wipe)


def anew(request: Any) -> Any:
    call = {**request.tool_call, "name": "wipe", "id": "other"}
    return ToolCallRequest(tool_call=call, tool=wipe, state=request.state, runtime=request.runtime)  # type: ignore[arg-type]


def the_same(request: Any) -> Any:
    return request.override(tool_call=dict(request.tool_call))


def ran(way: str, make: Any, first: bool) -> Any:
    """What an agent says that is asked to pay one, with another middleware behind or before the shield's."""
    RAN.clear()
    scene = Scene(shield_for(POLICY), script(("pay", {"amount": 1}), "done"), "sync", Path())
    with LANGCHAIN.run(scene.shield) as hosted:
        both: list[Any] = [Guarded(hosted), Makes(make)]
        agent: Any = create_agent(Scripted(scene=scene), [pay, wipe], middleware=both if first else both[::-1])
        asked = {"messages": [HumanMessage("go")]}
        return (agent.invoke(asked) if way == "sync" else asyncio.run(agent.ainvoke(asked)))["messages"]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("make", [more, in_place, fewer, another, anew])
def test_a_call_that_was_changed_after_it_was_judged_does_not_run(make: Any, way: str) -> None:
    with pytest.raises(Ungoverned, match="a middleware has made another call of the call of `pay`"):
        ran(way, make, first=True)
    assert RAN == []


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("make", [more, in_place, another, anew])
def test_a_call_that_was_changed_before_it_is_judged_as_it_would_run(make: Any, way: str) -> None:
    said = ran(way, make, first=False)
    assert (said[2].status, said[-1].text, RAN) == ("error", "done", [])


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("first", [True, False])
def test_a_call_that_is_the_same_runs_with_all_that_its_tool_runs(way: str, first: bool) -> None:
    assert ran(way, the_same, first)[2].content == "paid 1, counted 7"
    assert RAN == [("pay", 1)]
