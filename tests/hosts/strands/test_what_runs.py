"""What a tool is run with is what was judged, and what a model is asked, whatever other middleware
makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.hooks import BeforeToolCallEvent
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.middleware.stages import ExecuteToolContext

from stanchion.hosts.strands import STRANDS, Guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import KEY
from tests.hosts.office import GONE
from tests.hosts.strands.test_strands import Scripted
from tests.rules import rule

RAN: list[Any] = []
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"use": "secrets"},
        {"id": "deny", "use": "tool_denylist", "tools": ["wipe"]},
        rule(
            "big",
            "tool_call",
            when="has(event.args.amount) and event.args.amount > 100",
            action="block",
        ),
    ],
}
CHANGED = "the call of `pay` was changed after it was judged"


@tool
def pay(amount: int, to: dict[str, str]) -> str:
    """Pay."""
    RAN.append(("pay", amount, to))
    return f"paid {amount}"


@tool
def wipe(amount: int, to: dict[str, str]) -> str:
    """Wipe."""
    RAN.append(("wipe", amount, to))
    return "wiped"


def given(context: Any, **args: Any) -> Any:
    use = context.tool_use
    return context.replace(tool_use={**use, "input": {**use["input"], **args}})


def more(context: Any) -> Any:
    return given(context, amount=999)


def deep(context: Any) -> Any:
    context.tool_use["input"]["to"]["name"] = "eve"
    return context


def another(context: Any) -> Any:
    return context.replace(tool=wipe)


def anew(context: Any) -> Any:
    use: Any = {**context.tool_use, "input": {"amount": 999, "to": {}}}
    rest = (context.invocation_state, context.cancel_signal, context._interrupt_state)
    return ExecuteToolContext(context.agent, wipe, use, *rest)


def the_same(context: Any) -> Any:
    return given(context, amount=1)


def around(make: Any) -> Any:
    async def wrap(context: Any, next_fn: Any) -> AsyncGenerator[Any, None]:
        async for event in next_fn(make(context)):
            yield event

    return wrap


def ran(change: Any, *said: Any) -> Scripted:
    """The model of an agent that does this, and to which something was added after the shield's
    plugin."""
    RAN.clear()
    model = Scripted(*said)

    async def play() -> None:
        async with STRANDS.run(shield_for(POLICY), agent="helper") as hosted:
            agent = Agent(
                model, tools=[pay, wipe], plugins=[Guarded(hosted)], callback_handler=None
            )
            change(agent)
            await agent.invoke_async("go")

    asyncio.run(play())
    return model


def paid(change: Any) -> str:
    """What the model reads of its payment."""
    model = ran(change, ("pay", {"amount": 1, "to": {"name": "ann"}}), "done")
    return str(model.results[0]["text"])


@pytest.mark.parametrize("make", [more, deep, another, anew])
def test_a_call_that_was_changed_after_it_was_judged_does_not_run(make: Any) -> None:
    assert CHANGED in paid(lambda agent: agent.add_middleware(ExecuteToolStage, around(make)))
    assert RAN == []


@pytest.mark.parametrize(
    ("make", "why"), [(more, "a rule of the policy forbids this"), (another, "`wipe`")]
)
def test_a_call_that_was_changed_before_is_judged_as_it_would_run(make: Any, why: str) -> None:
    said = paid(lambda agent: agent.add_middleware(ExecuteToolStage.Input, make))
    assert (why in said, RAN) == (True, [])


def test_a_hook_that_selects_another_tool_has_that_one_judged() -> None:
    def select(event: BeforeToolCallEvent) -> None:
        event.selected_tool = wipe

    said = paid(lambda agent: agent.hooks.add_callback(BeforeToolCallEvent, select))
    assert ("`wipe`" in said, RAN) == (True, [])


def test_a_call_that_is_the_same_runs() -> None:
    assert paid(lambda agent: agent.add_middleware(ExecuteToolStage, around(the_same))) == "paid 1"
    assert RAN == [("pay", 1, {"name": "ann"})]


def test_a_request_that_was_changed_behind_the_plugin_is_judged_as_it_is_sent() -> None:
    def told(context: Any) -> Any:
        return context.replace(
            messages=[*context.messages[:-1], {"role": "user", "content": [{"text": KEY}]}]
        )

    model = ran(lambda agent: agent.add_middleware(InvokeModelStage, around(told)), "done")
    assert model.read[0][-1]["content"] == [{"text": GONE}]


def test_a_model_that_was_put_behind_the_plugin_is_judged() -> None:
    other = Scripted(f"the key is {KEY}")

    def put(agent: Any) -> None:
        agent.add_middleware(InvokeModelStage, around(lambda context: context.replace(model=other)))
        agents.append(agent)

    agents: list[Any] = []
    ran(put, "never said")
    assert agents[0].messages[-1]["content"] == [{"text": f"the key is {GONE}"}]
