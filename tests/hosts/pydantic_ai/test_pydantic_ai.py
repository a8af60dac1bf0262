"""pydantic-ai under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ModelRetry, ToolReturn
from pydantic_ai.messages import (
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from stanchion import Refused, Shield
from stanchion.hosts.pydantic_ai import PYDANTIC_AI, Guarded
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.pydantic_ai.driver import DRIVER
from tests.rules import rule

GONE = "[redacted:github-pat]"
POLICY: dict[str, Any] = {
    "name": "office",
    "guards": [
        {"use": "secrets"},
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
        rule("over", "prompt", when="event.text == 'stop'", action="halt"),
    ],
}


def scripted(*replies: Any) -> FunctionModel:
    """A model that says this, one after the other, and keeps what it was asked."""
    steps = iter(replies)
    return FunctionModel(lambda _messages, _info: ModelResponse(list(next(steps))))


def run(agent_of: Any, prompt: Any = "do it", policy: Any = POLICY, **options: Any) -> Any:
    """Run an agent that is made with the capability."""

    async def play() -> Any:
        async with PYDANTIC_AI.run(
            Shield.load(policy, store="memory:"), agent="helper", task="t"
        ) as hosted:
            return await agent_of(Guarded(hosted)).run(prompt, **options)

    return asyncio.run(play())


def returned(result: Any) -> list[Any]:
    """What came of the tools."""
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_a_result_keeps_its_type_and_what_is_beside_its_words() -> None:
    def look() -> ToolReturn[Any]:
        return ToolReturn(
            {"key": KEY, "rows": 3}, content=f"once more {KEY}", metadata={"kept": 7, "of": KEY}
        )

    model = scripted([ToolCallPart("look", {}, "1")], [TextPart("done")])
    result = run(lambda guarded: Agent(model, tools=[look], capabilities=[guarded]))
    (part,) = returned(result)
    assert (part.content, part.metadata) == ({"key": GONE, "rows": 3}, {"kept": 7, "of": GONE})
    assert KEY not in str(result.all_messages())


def test_a_tool_that_asks_for_another_try_is_redacted_and_still_tried_again() -> None:
    tries: list[int] = []

    def look() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ModelRetry(f"not with {KEY}")
        return "found"

    model = scripted(
        [ToolCallPart("look", {}, "1")], [ToolCallPart("look", {}, "2")], [TextPart("done")]
    )
    first, second = returned(
        run(lambda guarded: Agent(model, tools=[look], capabilities=[guarded]))
    )
    assert (first.outcome, first.content) == ("retried", f"not with {GONE}")
    assert second.content == "found"


def test_a_prompt_is_judged_and_the_model_reads_it_redacted() -> None:
    read: list[Any] = []

    def said(messages: Any, _info: Any) -> ModelResponse:
        read.extend(
            [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
        )
        return ModelResponse([TextPart("done")])

    run(lambda guarded: Agent(FunctionModel(said), capabilities=[guarded]), f"my key is {KEY}")
    run(
        lambda guarded: Agent(FunctionModel(said), capabilities=[guarded]),
        ["two", f"texts with {KEY}"],
    )
    assert read == [f"my key is {GONE}", ["two", f"texts with {GONE}"]]
    with pytest.raises(Refused) as refused:
        run(lambda guarded: Agent(FunctionModel(said), capabilities=[guarded]), "stop")
    assert refused.value.ended
    assert len(read) == 2


def pay() -> str:
    """Pay."""
    raise AssertionError("it was not approved")


def test_the_hosts_own_yes_is_none_of_the_inbox() -> None:
    model = scripted([ToolCallPart("pay", {}, "1")])

    async def play() -> Any:
        async with PYDANTIC_AI.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            kinds: list[Any] = [str, DeferredToolRequests]
            agent: Agent[None, Any] = Agent(
                model, output_type=kinds, tools=[pay], capabilities=[Guarded(hosted)]
            )
            waits = await agent.run("pay")
            yes = DeferredToolResults(approvals={"1": True})
            return waits.output, (
                await agent.run(message_history=waits.all_messages(), deferred_tool_results=yes)
            ).output

    waited, again = asyncio.run(play())
    assert [call.tool_call_id for call in waited.approvals] == ["1"]
    assert again.metadata == waited.metadata == {"1": {"ticket": waited.metadata["1"]["ticket"]}}


def test_an_agent_that_cannot_defer_reads_that_a_person_was_asked() -> None:
    model = scripted([ToolCallPart("pay", {}, "1")], [TextPart("later")])
    result = run(lambda guarded: Agent(model, tools=[pay], capabilities=[guarded]))
    assert "a person has been asked" in returned(result)[0].content
    assert result.output == "later"


def test_a_stream_keeps_its_parts_in_order_and_its_calls_whole() -> None:
    steps = iter([0, 1])

    async def streamed(_messages: Any, _info: Any) -> AsyncIterator[Any]:
        if next(steps):
            yield "done"
            return
        yield {0: DeltaThinkingPart(content=f"thinking of {KEY[:9]}")}
        yield {0: DeltaThinkingPart(content=f"{KEY[9:]} now")}
        for piece in ("so ", "I ", "look"):
            yield piece
        yield {1: DeltaToolCall("look", '{"na', tool_call_id="1")}
        yield {1: DeltaToolCall(json_args='me": "bob"}')}

    def look(name: str) -> str:
        return f"page of {name}"

    model = FunctionModel(stream_function=streamed)
    heard: list[Any] = []
    result = run(
        lambda guarded: Agent(model, tools=[look], capabilities=[guarded]),
        event_stream_handler=_heard(heard),
    )
    thought, text, call = result.all_messages()[1].parts
    assert thought == ThinkingPart(f"thinking of {GONE} now")
    assert (text.content, call.args) == ("so I look", '{"name": "bob"}')
    assert returned(result)[0].content == "page of bob"
    assert KEY[:9] not in str(heard)
    assert KEY[9:] not in str(heard)
    assert result.output == "done"


def _heard(events: list[Any]) -> Any:
    async def hear(_ctx: Any, stream: Any) -> None:
        events.extend([event async for event in stream])

    return hear


def test_agents_one_after_the_other_are_no_sub_agents() -> None:
    no = rule("no", "handoff", when="event.to != ''", action="block")
    shield = Shield.load({"name": "h", "guards": [no]}, store="memory:")

    async def play() -> str:
        async with PYDANTIC_AI.run(shield, agent="helper", task="t") as hosted:
            first = Agent(scripted([TextPart("one")]), name="first", capabilities=[Guarded(hosted)])
            second = Agent(
                scripted([TextPart("two")]), name="second", capabilities=[Guarded(hosted)]
            )
            return (await first.run("a")).output + (await second.run("b")).output

    assert asyncio.run(play()) == "onetwo"
