"""Strands Agents under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.hooks import AfterToolCallEvent
from strands.models import Model
from strands.multiagent import Swarm

from stanchion import Refused, Shield
from stanchion.hosts.strands import STRANDS, Guarded
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.office import GONE, OFFICE
from tests.hosts.strands.driver import DRIVER

REFUSED = "a rule of the policy forbids this"


class Scripted(Model):
    """A model that says this, one after the other: texts, calls as `(tool, args)`, or events as
    they are."""

    def __init__(self, *said: Any) -> None:
        self._said = list(said)
        self.read: list[Any] = []

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        """There is nothing set."""
        return {"model_id": "scripted"}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not in any script."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """The next reply."""
        self.read.append(messages)
        said = self._said[len(self.read) - 1]
        events = said if isinstance(said, list) else [*block(said, f"c{len(self.read)}")]
        yield {"messageStart": {"role": "assistant"}}
        for event in events:
            yield event
        calls = any("toolUse" in str(event.get("contentBlockStart")) for event in events)
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}

    @property
    def results(self) -> list[Any]:
        """What it read of its calls."""
        parts = [part for message in self.read[-1] for part in message["content"]]
        return [part["toolResult"]["content"][0] for part in parts if "toolResult" in part]


def block(said: Any, call: str) -> list[Any]:
    """A text or a call as events."""
    start: dict[str, Any] = (
        {} if isinstance(said, str) else {"toolUse": {"toolUseId": call, "name": said[0]}}
    )
    delta = {"text": said} if isinstance(said, str) else {"toolUse": {"input": json.dumps(said[1])}}
    return [
        {"contentBlockStart": {"start": start}},
        {"contentBlockDelta": {"delta": delta}},
        {"contentBlockStop": {}},
    ]


def run(made: Any, *prompts: Any) -> Any:
    """Run an agent that is made with the plugin, with one prompt after the other; gives what came
    last."""

    async def play() -> Any:
        came = None
        async with STRANDS.run(
            Shield.load(OFFICE, store="memory:"), agent="helper", task="t"
        ) as hosted:
            agent = made(Guarded(hosted))
            for prompt in prompts or ("go",):
                came = await agent.invoke_async(prompt(came) if callable(prompt) else prompt)
        return came

    return asyncio.run(play())


def agent(model: Any, *tools: Any, **options: Any) -> Any:
    """Makes an agent with the plugin."""
    return lambda guarded: Agent(
        model, tools=list(tools), plugins=[guarded], callback_handler=None, **options
    )


@tool
def pay() -> str:
    """Pay."""
    raise AssertionError("it was not approved")


@tool
def look(name: str) -> dict[str, Any]:
    """Look."""
    return {"status": "success", "content": [{"json": {"name": name, "keys": [KEY], "rows": 3}}]}


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_a_result_keeps_its_shape() -> None:
    model = Scripted(("look", {"name": "ann"}), "done")
    run(agent(model, look))
    assert model.results == [{"json": {"name": "ann", "keys": [GONE], "rows": 3}}]


def test_the_hosts_own_answer_is_none_of_the_inbox() -> None:
    model = Scripted(("pay", {}), "later")

    def answer(came: Any) -> list[Any]:
        assert came.stop_reason == "interrupt"
        (asked,) = came.interrupts
        assert set(asked.reason) == {"ticket"}
        return [{"interruptResponse": {"interruptId": asked.id, "response": "yes"}}]

    came = run(agent(model, pay), "go", answer)
    assert str(came).strip() == "later"
    assert "a person has been asked" in str(model.results)


def test_a_prompt_is_judged_and_the_model_reads_it_redacted() -> None:
    model = Scripted("done", "done")
    run(agent(model), f"my key is {KEY}")
    assert model.read[0] == [{"role": "user", "content": [{"text": f"my key is {GONE}"}]}]
    with pytest.raises(Refused) as refused:
        run(agent(model), "stop")
    assert refused.value.ended
    assert len(model.read) == 1


def test_an_agent_as_a_tool_is_a_handoff_and_guarded_though_nobody_gave_it_the_plugin() -> None:
    inner = Scripted(("look", {"name": "root"}), ("look", {"name": "ann"}), f"they have {KEY}")
    model = Scripted(("desk", {"input": "look"}), "done")
    desk = Agent(inner, name="desk", tools=[look], callback_handler=None)
    run(agent(model, desk.as_tool()))
    assert REFUSED in str(inner.results[0])
    assert inner.results[1]["json"]["keys"] == [GONE]
    assert f"they have {GONE}" in str(model.results)
    never, model = Scripted("never"), Scripted(("vault", {"input": "look"}), "done")
    run(agent(model, Agent(never, name="vault", callback_handler=None).as_tool()))
    assert REFUSED in str(model.results)
    assert not never.read


def test_agents_of_a_swarm_hand_over_under_judgement() -> None:
    first = Scripted(
        ("handoff_to_agent", {"agent_name": "vault", "message": "yours"}),
        ("handoff_to_agent", {"agent_name": "desk", "message": f"with {KEY}"}),
        "handed over",
    )
    second = Scripted(("look", {"name": "root"}), "the desk has done it")
    never = Scripted("never")

    async def play() -> Any:
        async with STRANDS.run(
            Shield.load(OFFICE, store="memory:"), agent="helper", task="t"
        ) as hosted:
            guarded = Guarded(hosted)
            models = {"helper": first, "desk": second, "vault": never}
            agents = [
                Agent(model, name=name, tools=[look], plugins=[guarded], callback_handler=None)
                for name, model in models.items()
            ]
            return await Swarm(agents, entry_point=agents[0]).invoke_async("go")

    result = asyncio.run(play())
    assert [node.node_id for node in result.node_history] == ["helper", "desk"]
    assert REFUSED in str(first.read[1])
    assert not never.read
    assert REFUSED in str(second.results)
    assert KEY not in str(second.read)


def test_a_failed_call_is_run_again_where_that_is_decided_and_hooks_see_no_secret() -> None:
    tries: list[int] = []
    seen: list[Any] = []

    @tool
    def fetch() -> str:
        """Fetch."""
        tries.append(1)
        raise ConnectionResetError(f"try again with {KEY}")

    def made(guarded: Any) -> Agent:
        one: Agent = agent(Scripted(("fetch", {}), "done"), fetch)(guarded)
        one.hooks.add_callback(
            AfterToolCallEvent, lambda event: seen.append((event.result, event.exception))
        )
        return one

    run(made)
    assert len(tries) > 1
    assert KEY not in repr(seen)
    assert GONE in repr(seen)


def test_a_tool_that_is_called_directly_is_judged() -> None:
    async def play() -> Any:
        async with STRANDS.run(
            Shield.load(OFFICE, store="memory:"), agent="helper", task="t"
        ) as hosted:
            made = agent(Scripted("x"), look)(Guarded(hosted))
            return await asyncio.to_thread(
                lambda: (made.tool.look(name="root"), made.tool.look(name="ann"))
            )

    refused, redacted = asyncio.run(play())
    assert refused["status"] == "error"
    assert REFUSED in str(refused)
    assert KEY not in str(redacted)


def test_what_a_tool_streams_before_its_result_goes_nowhere_unjudged() -> None:
    @tool
    async def read() -> AsyncIterator[Any]:
        """Read."""
        yield f"first {KEY}"
        yield "last"

    async def play() -> list[Any]:
        async with STRANDS.run(
            Shield.load(OFFICE, store="memory:"), agent="helper", task="t"
        ) as hosted:
            made = agent(Scripted(("read", {}), "done"), read)(Guarded(hosted))
            return [event async for event in made.stream_async("go")]

    assert KEY not in repr(asyncio.run(play()))


def test_a_stream_keeps_the_order_of_its_blocks() -> None:
    thought = [
        {"contentBlockStart": {"start": {}}},
        {"contentBlockDelta": {"delta": {"reasoningContent": {"text": f"of {KEY[:9]}"}}}},
        {"contentBlockDelta": {"delta": {"reasoningContent": {"text": f"{KEY[9:]} now"}}}},
        {"contentBlockStop": {}},
    ]
    model = Scripted(
        [*thought, *block("so I look", ""), *block(("look", {"name": "bob"}), "c1")], "done"
    )
    run(agent(model, look))
    said = model.read[1][1]["content"]
    assert said[0]["reasoningContent"]["reasoningText"]["text"] == f"of {GONE} now"
    assert said[1] == {"text": "so I look"}
    assert said[2]["toolUse"]["input"] == {"name": "bob"}
    assert model.results[0]["json"]["name"] == "bob"
