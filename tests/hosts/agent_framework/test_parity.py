"""Under a bare policy an agent gives the same with the middleware and without: its updates in their
order, what other middleware hears, its usage, its output and its spans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    ResponseStream,
    tool,
)
from agent_framework.observability import ChatTelemetryLayer, enable_instrumentation
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from stanchion.hosts.agent_framework import guarded
from tests.hosts.together import kept_shield

EXPORTER = InMemorySpanExporter()


class Found(BaseModel):
    """What was found."""

    pages: int


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """A client whose model says what a script says, in pieces where it is to stream."""

    model = "scripted"

    def __init__(self, script: list[Any], waits: bool = False) -> None:
        super().__init__()
        self.script, self._waits = script, waits

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        said = self.script.pop(0)
        if stream:
            return ResponseStream(pieces(said), finalizer=self._finalized(options))
        return self._whole(said, options)

    def _finalized(self, options: Any) -> Any:
        def made(updates: Any) -> ChatResponse:
            wanted = options.get("response_format")
            return ChatResponse.from_updates(updates, output_format_type=wanted)

        return made

    async def _whole(self, said: Any, options: Any) -> ChatResponse:
        if self._waits:
            await asyncio.Event().wait()
        contents = [piece for pieces in said for piece in contents_of(pieces)]
        return ChatResponse(
            messages=[Message("assistant", contents)],
            response_id="r",
            usage_details=used(),
            response_format=options.get("response_format"),
            finish_reason="stop",
        )


def used() -> Any:
    return {"input_token_count": 5, "output_token_count": 7, "total_token_count": 12}


def contents_of(said: Any) -> list[Content]:
    if isinstance(said, str):
        return [Content.from_text(said)]
    kind, *rest = said
    if kind == "think":
        return [Content.from_text_reasoning(text=rest[0])]
    return [Content.from_function_call(kind, rest[0], arguments=rest[1])]


async def pieces(said: Any) -> AsyncIterator[ChatResponseUpdate]:
    for piece in said[:-2]:
        yield update(contents_of(piece))
    yield update([one for piece in said[-2:] for one in contents_of(piece)])
    yield update([Content.from_usage(used())])


def update(contents: list[Content]) -> ChatResponseUpdate:
    return ChatResponseUpdate(
        role="assistant", contents=contents, response_id="r", message_id="m", raw_representation=7
    )


@tool(approval_mode="never_require")
async def look(name: str) -> str:
    """Look at a page."""
    return f"page of {name}"


class HearsTools(FunctionMiddleware):
    """Writes down what middleware of one's own hears of calls."""

    def __init__(self, heard: list[Any]) -> None:
        self._heard = heard

    async def process(self, context: Any, call_next: Any) -> None:
        self._heard.append((context.function.name, dict(context.arguments)))
        await call_next()
        self._heard.append([one.to_dict() for one in context.result])


class HearsModels(ChatMiddleware):
    """Writes down what middleware of one's own hears of requests."""

    def __init__(self, heard: list[Any]) -> None:
        self._heard = heard

    async def process(self, context: Any, call_next: Any) -> None:
        self._heard.append([plain(message) for message in context.messages])
        await call_next()
        self._heard.append(type(context.result).__name__)


def plain(told: Any) -> Any:
    """Data without what differs each time."""
    if hasattr(told, "to_dict"):
        return plain(told.to_dict())
    if isinstance(told, dict):
        return {name: plain(one) for name, one in told.items() if name not in HIDDEN}
    return [plain(one) for one in told] if isinstance(told, list) else told


HIDDEN = frozenset({"created_at", "raw_representation", "id", "message_id"})


@pytest.fixture(scope="module", autouse=True)
def watched() -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(provider)
    enable_instrumentation()


def spans() -> list[Any]:
    done = EXPORTER.get_finished_spans()
    names = {span.context.span_id: span.name for span in done}
    return [
        (
            span.name,
            names.get(span.parent.span_id) if span.parent else None,
            sorted(span.attributes or ()),
        )
        for span in done
    ]


def played(guard: bool, stream: bool, output: Any) -> dict[str, Any]:
    EXPORTER.clear()
    heard: list[Any] = []
    shield, journal = kept_shield()
    desk = Agent(client=Scripted([["it is ", "sorted"]]), name="desk")
    ask = desk.as_tool(
        approval_mode="never_require", stream_callback=lambda one: heard.append(plain(one))
    )
    first = [
        ("think", "where is it"), "I ", "will ", "look",
        ("c1", "look", '{"name": "bob"}'), ("c2", "desk", '{"task": "sort"}'),
    ]  # fmt: skip
    last = ['{"pages"', ": 2}"] if output is not None else ["it ", "is ", "done"]
    own = [HearsTools(heard), HearsModels(heard)]
    agent = Agent(
        client=Scripted([first, last]),
        name="helper",
        tools=[look, ask],
        middleware=[*(guarded(shield) if guard else []), *own],
    )

    async def play() -> dict[str, Any]:
        session = agent.create_session(session_id="s")
        options: Any = {"response_format": output} if output is not None else None
        if not stream:
            result = await agent.run("go", session=session, options=options)
            return {
                "result": plain(result),
                "value": result.value,
                "state": plain(session.to_dict()),
            }
        coming = agent.run("go", session=session, stream=True, options=options)
        updates = [(plain(one), one.raw_representation.raw_representation) async for one in coming]
        result = await coming.get_final_response()
        return {
            "updates": updates,
            "result": plain(result),
            "value": result.value,
            "state": plain(session.to_dict()),
        }

    came = asyncio.run(play())
    assert bool(journal.kept()) is guard
    return {**came, "heard": heard, "spans": spans()}


@pytest.mark.parametrize("output", [None, Found])
@pytest.mark.parametrize("stream", [False, True])
def test_all_is_the_same(stream: bool, output: Any) -> None:
    bare, guard = played(False, stream, output), played(True, stream, output)
    assert bare["value"] == (None if output is None else Found(pages=2))
    assert bare["heard"]
    assert bare["spans"]
    for name, came in bare.items():
        assert guard[name] == came, name


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_cancelled_ends_at_once(guard: bool) -> None:
    shield, _ = kept_shield()
    client = Scripted([["never"]], waits=True)
    agent = Agent(client=client, name="helper", middleware=guarded(shield) if guard else [])

    async def play() -> None:
        task = asyncio.ensure_future(agent.run("go"))
        while client.script:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
