"""Under a bare policy an agent gives the same with the plugin and without: its events in their
order, what hooks and callback handlers hear, its usage, its output and its spans."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("strands")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeModelCallEvent, BeforeToolCallEvent
from strands.models import Model

from stanchion.hosts.strands import Guarded
from stanchion.testing.host_suite import KEY
from tests.hosts.together import kept_shield

EXPORTER = InMemorySpanExporter()


class Found(BaseModel):
    """What was found."""

    pages: int


class Scripted(Model):
    """A model that says what a script says, in pieces."""

    def __init__(self, script: list[Any], waits: bool = False) -> None:
        self.script, self._waits = script, waits

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        blocks = self.script.pop(0)
        if self._waits:
            await asyncio.Event().wait()
        yield {"messageStart": {"role": "assistant"}}
        for start, deltas in blocks:
            yield {"contentBlockStart": {"start": start}}
            for delta in deltas:
                yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        calls = any(start for start, _ in blocks)
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        usage = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def said(*pieces: str) -> Any:
    return ({}, [{"text": piece} for piece in pieces])


def thought(*pieces: str) -> Any:
    return ({}, [{"reasoningContent": {"text": piece}} for piece in pieces])


def called(name: str, /, **args: Any) -> Any:
    whole = json.dumps(args)
    start = {"toolUse": {"toolUseId": f"{name}-1", "name": name}}
    return (start, [{"toolUse": {"input": part}} for part in (whole[:4], whole[4:])])


@tool
async def look(name: str) -> Any:
    """Look at a page."""
    yield f"opening {name}"
    yield f"page of {name}"


def plain(told: Any) -> Any:
    """What a program hears, without what differs each time and without what it holds beside."""
    if isinstance(told, dict):
        return {str(name): plain(one) for name, one in told.items() if name not in HIDDEN}
    if isinstance(told, list | tuple):
        return [plain(one) for one in told]
    return told if isinstance(told, str | int | float | bool | None) else type(told).__name__


HIDDEN = frozenset(
    {
        "agent", "event_loop_cycle_id", "event_loop_parent_cycle_id", "request_state", "model",
        "event_loop_cycle_trace", "event_loop_cycle_span", "latencyMs", "timeToFirstByteMs",
        "metadata", "id", "tracking_id",
    }
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def watched() -> None:
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))


def spans() -> list[Any]:
    """What spans say, but for times: one under a millisecond is not said."""
    done = EXPORTER.get_finished_spans()
    names = {span.context.span_id: span.name for span in done}
    return [
        (
            span.name,
            names.get(span.parent.span_id) if span.parent else None,
            sorted(n for n in span.attributes or () if not n.startswith("gen_ai.server.")),
        )
        for span in done
    ]


def played(guard: bool, output: Any) -> dict[str, Any]:
    EXPORTER.clear()
    heard: list[Any] = []
    hooks: list[Any] = []
    shield, journal = kept_shield()
    desk = Agent(Scripted([[said("it is ", "sorted")]]), name="desk", callback_handler=None)
    first = [
        thought("where ", "is it"),
        said("I ", "will ", "look"),
        called("look", name="bob"),
        called("desk", input="sort it"),
    ]
    last = [called("Found", pages=2)] if output is not None else [said("it ", "is ", "done")]
    agent = Agent(
        Scripted([first, last, [said("done")]]),
        name="helper",
        tools=[look, desk.as_tool()],
        plugins=[Guarded(shield)] if guard else [],
        callback_handler=lambda **told: heard.append(plain(told)),
        structured_output_model=output,
    )
    for kind in (BeforeModelCallEvent, BeforeToolCallEvent, AfterToolCallEvent):
        agent.add_hook(lambda event: hooks.append(shown(event)), kind)

    async def play() -> dict[str, Any]:
        events = [event async for event in agent.stream_async("go")]
        result = events[-1]["result"]
        return {
            "events": [plain(event) for event in events],
            "usage": dict(result.metrics.accumulated_usage),
            "output": result.structured_output,
            "stopped": result.stop_reason,
            "messages": plain(agent.messages),
        }

    came = asyncio.run(play())
    assert bool(journal.kept()) is guard
    return {**came, "heard": heard, "hooks": hooks, "spans": sorted(spans())}


def shown(event: Any) -> Any:
    kept = ("tool_use", "result", "exception")
    return type(event).__name__, plain({n: getattr(event, n) for n in kept if hasattr(event, n)})


def by_source(told: list[Any]) -> list[Any]:
    """Events of tools that run side by side come in any order between each other."""
    return sorted(map(repr, told))


@pytest.mark.parametrize("output", [None, Found])
def test_all_is_the_same(output: Any) -> None:
    bare, guarded = played(False, output), played(True, output)
    assert bare["output"] == (None if output is None else Found(pages=2))
    assert bare["spans"]
    for name in ("events", "heard", "hooks"):
        assert by_source(guarded.pop(name)) == by_source(bare.pop(name)), name
    for name, came in bare.items():
        assert guarded[name] == came, name


@pytest.mark.parametrize("guard", [False, True])
def test_what_is_streamed_comes_in_order(guard: bool) -> None:
    shield, _ = kept_shield()
    agent = Agent(
        Scripted([[thought("a", "b"), said("c", "d"), called("look", name="bob")], [said("e")]]),
        tools=[look],
        plugins=[Guarded(shield)] if guard else [],
        callback_handler=None,
    )

    async def play() -> list[Any]:
        told = [event async for event in agent.stream_async("go")]
        return [
            event.get("data", event.get("reasoningText", event.get("tool_stream_event")))
            for event in told
            if {"data", "reasoningText", "tool_stream_event"} & event.keys()
        ]

    *words, opening, page, end = asyncio.run(play())
    assert (words, end) == (["a", "b", "c", "d"], "e")
    assert [one["data"] for one in (opening, page)] == ["opening bob", "page of bob"]


def test_what_a_tool_streams_is_judged() -> None:
    @tool
    async def leak(name: str) -> Any:
        """Leak."""
        yield f"{name} has {KEY}"
        yield "done"

    shield, _ = kept_shield({"name": "p", "guards": [{"use": "secrets"}]})
    agent = Agent(
        Scripted([[called("leak", name="bob")], [said("e")]]),
        tools=[leak],
        plugins=[Guarded(shield)],
        callback_handler=None,
    )

    async def play() -> list[Any]:
        return [event async for event in agent.stream_async("go")]

    told = [
        event["tool_stream_event"] for event in asyncio.run(play()) if "tool_stream_event" in event
    ]
    assert [one["data"] for one in told] == ["bob has [redacted:github-pat]", "done"]


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("where", ["model", "tool"])
def test_a_run_that_is_cancelled_ends_at_once(where: str, guard: bool) -> None:
    shield, _ = kept_shield()
    left: list[str] = []

    async def play() -> None:
        begun = asyncio.Event()

        @tool
        async def wait() -> str:
            """Wait."""
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.append("tool")
            return "never"

        model = Scripted([[called("wait")]], waits=where == "model")
        agent = Agent(
            model, tools=[wait], plugins=[Guarded(shield)] if guard else [], callback_handler=None
        )
        task = asyncio.create_task(agent.invoke_async("go"))
        while model.script:
            await asyncio.sleep(0)
        if where == "tool":
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert left == (["tool"] if where == "tool" else [])
