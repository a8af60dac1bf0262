"""Under a bare policy an agent gives the same with the capability and without: its events in their
order, its messages, its usage, its output and its spans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from pydantic_ai import Agent, InstrumentationSettings
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel

from stanchion.hosts.pydantic_ai import Guarded
from tests.hosts.together import kept_shield


class Found(BaseModel):
    """What was found."""

    pages: int


def turn_of(messages: Any) -> int:
    return sum(message.kind == "response" for message in messages)


def said(_messages: Any, info: Any) -> ModelResponse:
    """A model that answers at once, in the form that is wanted."""
    for tool in info.output_tools:
        return ModelResponse([ToolCallPart(tool.name, {"pages": 2})])
    return ModelResponse([TextPart("sorted")])


async def streamed(messages: Any, info: Any) -> AsyncIterator[Any]:
    """A model that thinks, talks, calls two tools and answers in the form that is wanted."""
    if turn_of(messages) == 0:
        yield {0: DeltaThinkingPart(content="where ")}
        yield {0: DeltaThinkingPart(content="is it", signature="s")}
        for piece in () if info.output_tools else ("I ", "will ", "look"):
            yield piece
        yield {1: DeltaToolCall("look", '{"na', tool_call_id="1")}
        yield {1: DeltaToolCall(json_args='me": "bob"}')}
        yield {2: DeltaToolCall("ask", '{"work": "sort"}', tool_call_id="2")}
    elif info.output_tools:
        yield {0: DeltaToolCall(info.output_tools[0].name, '{"pages"', tool_call_id="3")}
        yield {0: DeltaToolCall(json_args=": 2}")}
    else:
        for piece in ("it ", "is ", "done"):
            yield piece


def agent_of(capabilities: list[Any], output: Any) -> Agent[None, Any]:
    """An agent, and one that it gives work to."""
    other = Agent(FunctionModel(said), name="desk", capabilities=capabilities)

    async def look(name: str) -> str:
        """Look at a page."""
        return f"page of {name}"

    async def ask(work: str) -> str:
        """Ask the desk."""
        return (await other.run(work)).output

    return Agent(
        FunctionModel(said, stream_function=streamed),
        name="helper",
        output_type=output,
        tools=[look, ask],
        capabilities=capabilities,
    )


def plain(told: Any) -> str:
    """Anything without what differs each time."""
    hidden = {"timestamp", "run_id", "conversation_id", "_parts_manager"}
    if isinstance(told, list | tuple):
        return str([plain(one) for one in told])
    if hasattr(told, "__dataclass_fields__"):
        own = {name: value for name, value in vars(told).items() if name not in hidden}
        return f"{type(told).__name__}({ {name: plain(one) for name, one in own.items()} })"
    return repr(told)


def spans(exporter: Any) -> list[Any]:
    """The spans in the order in which they ended: with the names of their parents, and what they
    say."""
    done = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in done}
    return [
        (
            span.name,
            names.get(span.parent.span_id) if span.parent else None,
            sorted(span.attributes or ()),
        )
        for span in done
    ]


def played(guard: bool, output: Any) -> dict[str, Any]:
    """What comes of a conversation in all that a program can hear of it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    watching = Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))
    shield, journal = kept_shield()
    agent = agent_of([watching, *([Guarded(shield)] if guard else [])], output)

    async def play() -> dict[str, Any]:
        handled: list[Any] = []

        async def hear(_ctx: Any, stream: Any) -> None:
            handled.extend([event async for event in stream])

        result = await agent.run("go", event_stream_handler=hear)
        heard: dict[str, Any] = {
            "handled": plain(handled),
            "messages": plain(result.all_messages()),
            "usage": plain(result.usage),
            "output": result.output,
        }
        async with agent.run_stream_events("go") as events:
            heard["events"] = [plain(event) async for event in events][:-1]
        async with agent.run_stream("go") as streaming:
            pieces = streaming.stream_output(debounce_by=None)
            heard["pieces"] = [piece async for piece in pieces]
            heard["streamed"] = plain(streaming.all_messages())
        async with agent.iter("go") as nodes:
            heard["nodes"] = [type(node).__name__ async for node in nodes]
        return heard

    heard = asyncio.run(play())
    assert bool(journal.kept()) is guard
    return {**heard, "spans": spans(exporter)}


@pytest.mark.parametrize("output", [str, Found])
def test_all_is_the_same(output: Any) -> None:
    bare, guarded = played(False, output), played(True, output)
    assert len(bare["events"]) > 10
    assert bare["spans"]
    for name, heard in bare.items():
        assert guarded[name] == heard, name


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_cancelled_ends_at_once(guard: bool) -> None:
    shield, journal = kept_shield()
    left: list[str] = []

    async def play() -> None:
        begun = asyncio.Event()

        async def wait() -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.append("tool")
            return "never"

        model = FunctionModel(lambda _messages, _info: ModelResponse([ToolCallPart("wait", {})]))
        capabilities: list[Any] = [Guarded(shield)] if guard else []
        agent = Agent(model, tools=[wait], capabilities=capabilities)
        task = asyncio.create_task(agent.run("go"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert left == ["tool"]
    assert bool(journal.kept()) is guard
