"""Under a bare policy an app gives the same with the plugin and without: its events in their order,
what other plugins and callbacks hear, its usage, its output and its spans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from stanchion.hosts.google_adk import Guarded
from tests.hosts.together import kept_shield

USER = "ann"
CALLBACKS = (
    "on_user_message_callback", "before_run_callback", "on_event_callback", "after_run_callback",
    "before_agent_callback", "after_agent_callback", "before_model_callback",
    "after_model_callback", "before_tool_callback", "after_tool_callback",
)  # fmt: skip


class Found(BaseModel):
    """What was found."""

    pages: int


class Scripted(BaseLlm):
    """A model that says what a script says, in pieces where it is to stream."""

    model: str = "scripted"
    script: Any = ()
    waits: bool = False

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        said = self.script.pop(0)
        if self.waits:
            await asyncio.Event().wait()
        if isinstance(said, str):
            for piece in said.split("|") if stream else ():
                yield reply([types.Part(text=piece)], partial=True)
            yield reply([types.Part(text="thinking", thought=True), types.Part(text=said)])
        else:
            yield reply([types.Part.from_function_call(name=n, args=args) for n, args in said])


def reply(parts: list[Any], partial: bool | None = None) -> LlmResponse:
    used = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=5, candidates_token_count=7, total_token_count=12
    )
    content = types.Content(role="model", parts=parts)
    return LlmResponse(content=content, partial=partial, usage_metadata=None if partial else used)


class Hears(BasePlugin):
    """Writes down what a plugin hears."""

    def __init__(self, heard: list[Any]) -> None:
        super().__init__(name="hears")
        for name in CALLBACKS:
            setattr(self, name, self._hearing(name, heard))

    def _hearing(self, name: str, heard: list[Any]) -> Any:
        async def hear(**told: Any) -> None:
            shown = {part: plain(one) for part, one in told.items() if part in SHOWN}
            heard.append((name, shown))

        return hear


SHOWN = frozenset({"user_message", "llm_response", "tool_args", "result", "event"})


def plain(told: Any) -> Any:
    """Data without what differs each time."""
    if isinstance(told, BaseModel):
        return plain(told.model_dump(exclude_none=True, mode="json"))
    if isinstance(told, dict):
        return {name: plain(one) for name, one in told.items() if not hidden(name)}
    return [plain(one) for one in told] if isinstance(told, list) else told


def hidden(name: str) -> bool:
    return name in {"id", "invocation_id", "timestamp"} or name.startswith("adk_")


async def look(name: str) -> dict[str, Any]:
    """Look at a page."""
    return {"page": f"page of {name}", "size": 3}


def app_of(guard: list[Any], heard: list[Any]) -> App:
    def own(callback_context: Any, llm_request: Any) -> None:
        heard.append(("own", callback_context.agent_name, llm_request.model))

    desk = LlmAgent(name="desk", model=Scripted(script=["it is sorted"]))
    last = LlmAgent(
        name="last",
        model=Scripted(script=['{"pages": 2}']),
        output_schema=Found,
        output_key="found",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    turns = [
        [("look", {"name": "bob"}), ("desk", {"request": "sort it"})],
        "I |will |hand over",
        [("transfer_to_agent", {"agent_name": "last"})],
    ]
    boss = LlmAgent(
        name="boss",
        model=Scripted(script=turns),
        tools=[look, AgentTool(desk)],
        sub_agents=[last],
        before_model_callback=own,
    )
    return App(name="office", root_agent=boss, plugins=[*guard, Hears(heard)])


EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def watched() -> None:
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))


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


def played(guard: bool, mode: Any) -> dict[str, Any]:
    EXPORTER.clear()
    heard: list[Any] = []
    shield, journal = kept_shield()
    runner = InMemoryRunner(app=app_of([Guarded(shield)] if guard else [], heard))

    async def play() -> dict[str, Any]:
        session = await runner.session_service.create_session(app_name="office", user_id=USER)
        events = []
        for text in ("first", "second"):
            said = types.Content(role="user", parts=[types.Part(text=text)])
            coming = runner.run_async(
                user_id=USER,
                session_id=session.id,
                new_message=said,
                run_config=RunConfig(streaming_mode=mode),
            )
            events += [event async for event in coming]
        kept = await runner.session_service.get_session(
            app_name="office", user_id=USER, session_id=session.id
        )
        return {"events": plain(events), "kept": plain(kept.events), "state": dict(kept.state)}

    came = asyncio.run(play())
    assert bool(journal.kept()) is guard
    return {**came, "heard": heard, "spans": spans()}


@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE])
def test_all_is_the_same(mode: Any) -> None:
    bare, guarded = played(False, mode), played(True, mode)
    assert bare["state"] == {"found": {"pages": 2}}
    assert bare["spans"]
    assert {name for name, *_ in bare["heard"]} == {*CALLBACKS, "own"}
    for name, came in bare.items():
        assert guarded[name] == came, name


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_cancelled_ends_at_once(guard: bool) -> None:
    shield, _ = kept_shield()
    model = Scripted(script=["never"], waits=True)
    agent = LlmAgent(name="helper", model=model)
    plugins: list[Any] = [Guarded(shield)] if guard else []
    runner = InMemoryRunner(app=App(name="office", root_agent=agent, plugins=plugins))

    async def play() -> None:
        session = await runner.session_service.create_session(app_name="office", user_id=USER)
        said = types.Content(role="user", parts=[types.Part(text="go")])

        async def run() -> None:
            async for _ in runner.run_async(user_id=USER, session_id=session.id, new_message=said):
                pass

        task = asyncio.create_task(run())
        while model.script:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
