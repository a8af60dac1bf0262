"""What a tool is run with is what was judged: nothing of LlamaIndex's own comes between, and who
changes a call's arguments elsewhere changes nothing of what runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import FunctionAgent, ToolCall
from llama_index.core.tools import FunctionTool

from stanchion.hosts.llama_index import LLAMA_INDEX, PersonAnswered, PersonAsked, guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import Call, Scene, Turn
from stanchion.testing.operators import operator
from tests.hosts.llama_index.driver import Scripted

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the framework's own, of pydantic

RAN: list[Any] = []
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
    ],
}


def pay(amount: int, to: dict[str, str]) -> str:
    """Pay."""
    RAN.append((amount, to))
    return f"paid {amount}"


def more(args: dict[str, Any]) -> None:
    args["amount"] = 999


def deep(args: dict[str, Any]) -> None:
    args["to"]["name"] = "eve"


def nothing(args: dict[str, Any]) -> None:
    """Leave the call as it is."""


def paid(tmp_path: Path, make: Any) -> Any:
    """What the model reads of its payment, which a person has approved. Whoever reads the events of
    a workflow gets the call itself, and can change it until then."""
    RAN.clear()
    signer, known = operator("ann")
    turns = [
        Turn("1", calls=(Call("c", "pay", {"amount": 1, "to": {"name": "ann"}}),)),
        Turn("2", "done"),
    ]
    scene = Scene(shield_for(POLICY, operators=[known]), turns, "async", tmp_path)

    async def play() -> None:
        called, asked = list[Any](), list[str]()
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            agent = FunctionAgent(
                name="helper", tools=[FunctionTool.from_defaults(pay)], llm=Scripted(scene.ask)
            )
            handler = guarded(agent, hosted, pause=True).run(user_msg="go")
            async for event in handler.stream_events():
                if type(event) is ToolCall:
                    called.append(event.tool_kwargs)
                if isinstance(event, PersonAsked):
                    if not asked:
                        await asyncio.to_thread(scene.shield.approve, event.ticket, by=signer)
                        make(called[0])
                    asked.append(event.ticket)
                    handler.ctx.send_event(PersonAnswered())
            await handler

    asyncio.run(play())
    return scene.asked[-1]


def test_a_call_that_was_changed_is_not_the_one_that_was_approved(tmp_path: Path) -> None:
    assert "a person has been asked" in str(paid(tmp_path, deep))
    assert RAN == []


@pytest.mark.parametrize("make", [more, nothing])
def test_a_call_that_is_the_same_runs(make: Any, tmp_path: Path) -> None:
    """An event has its arguments in a dictionary of its own."""
    assert "paid 1" in paid(tmp_path, make)
    assert RAN == [(1, {"name": "ann"})]


def test_what_a_tool_makes_of_its_own_call_comes_after(tmp_path: Path) -> None:
    """A tool's `callback` gets its result, and `partial_params` are no arguments that a model
    gives."""
    RAN.clear()
    seen: list[Any] = []
    tool = FunctionTool.from_defaults(
        pay, callback=seen.append, partial_params={"to": {"name": "bob"}}
    )
    turns = [Turn("1", calls=(Call("c", "pay", {"amount": 1}),)), Turn("2", "done")]
    scene = Scene(shield_for({"name": "p", "guards": []}), turns, "async", tmp_path)

    async def play() -> None:
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            agent = FunctionAgent(name="helper", tools=[tool], llm=Scripted(scene.ask))
            await guarded(agent, hosted).run(user_msg="go")

    asyncio.run(play())
    assert (RAN, seen) == ([(1, {"name": "bob"})], ["paid 1"])
