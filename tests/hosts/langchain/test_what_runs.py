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
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from stanchion import Ungoverned
from stanchion.hosts.langchain import LANGCHAIN, Guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import Scene
from stanchion.testing.host_suite.scene import script
from tests.hosts.langchain.driver import Scripted
from tests.rules import rule

RAN: list[Any] = []
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"id": "deny", "use": "tool_denylist", "tools": ["wipe"]},
        rule(
            "big",
            "tool_call",
            when="has(event.args.amount) and event.args.amount > 100",
            action="block",
        ),
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
    """What an agent says that is asked to pay one, with another middleware behind or before the
    shield's."""
    RAN.clear()
    scene = Scene(shield_for(POLICY), script(("pay", {"amount": 1}), "done"), "sync", Path())
    with LANGCHAIN.run(scene.shield) as hosted:
        both: list[Any] = [Guarded(hosted), Makes(make)]
        agent: Any = create_agent(
            Scripted(scene=scene), [pay, wipe], middleware=both if first else both[::-1]
        )
        asked = {"messages": [HumanMessage("go")]}
        return (agent.invoke(asked) if way == "sync" else asyncio.run(agent.ainvoke(asked)))[
            "messages"
        ]


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


class Asks(AgentMiddleware):
    """A middleware that makes something else of each request to a model."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make = make

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(self._make(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._make(request))


def one_more(request: Any) -> Any:
    return request.override(messages=[*request.messages, HumanMessage("mind the key")])


def said_otherwise(request: Any) -> Any:
    request.messages[-1].content = "mind the key"
    return request


def told_first(request: Any) -> Any:
    return request.override(system_message=SystemMessage("mind the key"))


def of_another(request: Any) -> Any:
    return request.override(
        model=Scripted(scene=request.model.scene, metadata={"of": "another"}, tags=["other"])
    )


def another_before(request: Any) -> Any:
    Scripted(scene=request.model.scene).invoke("which tools does it need?")
    return request


def as_it_is(request: Any) -> Any:
    return request.override(messages=list(request.messages))


def asked(way: str, make: Any, first: bool, seen: Any = None) -> list[Any]:
    """What a model was asked, which is also put into `seen`, with another middleware behind or
    before the shield's."""
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    scene = Scene(shield_for(MIND), script(("pay", {"amount": 1}), "done"), "sync", Path())
    scene.asked = [] if seen is None else seen
    with LANGCHAIN.run(scene.shield) as hosted:
        both: list[Any] = [Guarded(hosted), Asks(make)]
        agent: Any = create_agent(
            Scripted(scene=scene), [pay], middleware=both if first else both[::-1]
        )
        given = {"messages": [HumanMessage([{"type": "text", "text": "go"}, image])]}
        agent.invoke(given) if way == "sync" else asyncio.run(agent.ainvoke(given))
    return list(scene.asked)


MIND: dict[str, Any] = {
    "name": "p",
    "unread": "media",
    "guards": [
        rule(
            "mind",
            "model_call",
            when="event.messages.exists(m, m.content == 'mind the key')",
            action="block",
        )
    ],
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("make", [of_another, another_before])
def test_a_request_to_another_model_is_not_sent(make: Any, way: str) -> None:
    seen: list[Any] = []
    with pytest.raises(
        Ungoverned, match="has made another request of the one to a model that was judged"
    ):
        asked(way, make, first=True, seen=seen)
    assert seen == []


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("first", [True, False])
def test_a_request_that_is_the_same_is_sent(way: str, first: bool) -> None:
    assert len(asked(way, as_it_is, first)) == 2


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("first", [True, False])
def test_a_request_that_was_changed_is_judged_as_it_would_be_sent(way: str, first: bool) -> None:
    for make in (told_first, one_more, said_otherwise):
        assert asked(way, make, first) == []
