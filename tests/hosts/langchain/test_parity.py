"""Under a bare policy nothing is lost: who streams, listens, traces or counts gets what they get
without the middleware, in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain.tools import tool
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tracers.base import BaseTracer
from pydantic import BaseModel

from stanchion import Refused
from stanchion.hosts.langchain import Guarded
from tests.hosts.langchain.clerk import USED, Clerk, Recorder, look, plain
from tests.hosts.together import kept_shield
from tests.rules import rule

ASKED: Any = {"messages": [HumanMessage("page-1")]}
WAYS = ("invoke", "ainvoke", "messages", "amessages", "updates", "events")


class Finding(BaseModel):
    """What was found."""

    name: str


def text_and_kind(message: Any) -> tuple[str, str]:
    return (message.text, type(message).__name__)


def played(agent: Any, way: str, config: Any) -> list[Any]:
    """What comes out of an agent that is used in some way."""

    async def astreamed() -> list[Any]:
        return [text_and_kind(one) async for one, _ in agent.astream(ASKED, config, **MESSAGES)]

    async def events() -> list[Any]:
        found = [one async for one in agent.astream_events(ASKED, config, version="v2")]
        ours = [one for one in found if "model" in one["event"] or "tool" in one["event"]]
        return [(one["event"], one["name"], plain(one["data"])) for one in ours]

    match way:
        case "invoke":
            return list(map(text_and_kind, agent.invoke(ASKED, config)["messages"]))
        case "ainvoke":
            return list(map(text_and_kind, asyncio.run(agent.ainvoke(ASKED, config))["messages"]))
        case "messages":
            return [text_and_kind(one) for one, _ in agent.stream(ASKED, config, **MESSAGES)]
        case "amessages":
            return asyncio.run(astreamed())
        case "updates":
            steps = agent.stream(ASKED, config, stream_mode="updates")
            return [plain(one) for one in steps if not any("Guarded" in name for name in one)]
    return asyncio.run(events())


MESSAGES: Any = {"stream_mode": "messages"}


def both(way: str, make: Any, **options: Any) -> list[Any]:
    """What comes of an agent without the middleware, and with it."""
    found = []
    for middleware in ([], [Guarded(kept_shield()[0])]):
        handler = make()
        agent = create_agent(Clerk(), [look], middleware=middleware, name="helper", **options)
        found.append((played(agent, way, {"callbacks": [handler]}), handler.events))
    return found


class Tracer(BaseTracer):
    """Keeps the tree of runs, as LangSmith's and OpenInference's tracers make their spans of it."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self.events.append(self._seen(run))

    def _seen(self, run: Any) -> Any:
        inner = [self._seen(one) for one in run.child_runs if not one.name.startswith("Guarded")]
        kinds = [event["name"] for event in run.events]
        about = {
            name: one
            for name, one in run.extra.get("metadata", {}).items()
            if name.startswith("ls_")
        }
        return (run.name, run.run_type, kinds, plain(run.outputs), plain(run.error), about, inner)


class AsyncRecorder(AsyncCallbackHandler):
    """Hears events as async handlers do."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.events.append(("start", plain(messages), plain(more["invocation_params"])))

    async def on_llm_new_token(self, token: Any, **more: Any) -> None:
        self.events.append(("token", plain(token)))

    async def on_llm_end(self, response: Any, **more: Any) -> None:
        self.events.append(("end", plain(response.generations)))

    async def on_tool_end(self, output: Any, **more: Any) -> None:
        self.events.append(("tool", plain(output)))


@pytest.mark.parametrize("make", [Recorder, Tracer, AsyncRecorder])
@pytest.mark.parametrize("way", WAYS)
def test_who_streams_and_who_listens_gets_the_same(way: str, make: Any) -> None:
    without, under = both(way, make)
    assert without[1]
    assert under == without


@pytest.mark.parametrize("way", WAYS)
def test_structured_output_is_the_same(way: str) -> None:
    without, under = both(way, Recorder, response_format=ToolStrategy(Finding))
    assert under == without
    assert "Finding" in str(under)


def test_usage_and_what_was_parsed_come_with_the_result() -> None:
    shield, _ = kept_shield()
    agent: Any = create_agent(
        Clerk(), [look], middleware=[Guarded(shield)], response_format=ToolStrategy(Finding)
    )
    came = agent.invoke(ASKED)
    assert came["structured_response"] == Finding(name="fine")
    assert [one.usage_metadata for one in came["messages"] if one.type == "ai"] == [USED, USED]


def test_a_refused_reply_is_not_parsed() -> None:
    no = rule("no", "model_reply", when="event.text.contains('order')", action="block")
    shield, _ = kept_shield({"name": "n", "guards": [no]})
    for response_format in (ToolStrategy(Finding), ProviderStrategy(Finding)):
        agent: Any = create_agent(
            Clerk(), [look], middleware=[Guarded(shield)], response_format=response_format
        )
        came = agent.invoke(ASKED)
        assert "a rule of the policy forbids this" in came["messages"][-1].text
        assert came.get("structured_response") is None


@pytest.mark.parametrize("policy", ["bare", "secrets"])
def test_tokens_arrive_within_two_pieces(policy: str) -> None:
    guards = [{"use": "secrets"}] if policy == "secrets" else []
    shield, _ = kept_shield({"name": policy, "guards": guards})
    listens = Listens()
    agent: Any = create_agent(
        Clerk(tool="", heard=listens.sent.append), [], middleware=[Guarded(shield)]
    )
    words = [f"word{number}" for number in range(40)]
    asked = {"messages": [AIMessage(" ".join(words))]}
    pieces = list(agent.stream(asked, {"callbacks": [listens]}, stream_mode="messages"))
    assert "".join([piece.text for piece, _ in pieces]).split() == words
    assert "".join(listens.came).split() == words
    assert max(listens.late) <= 2


class Listens(BaseCallbackHandler):
    """Counts how many pieces were sent before each word came."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.came: list[str] = []
        self.late: list[int] = []

    def on_llm_new_token(self, token: Any, **more: Any) -> None:
        self.came.append(token)
        self.late.append(len(self.sent) - len("".join(self.came).split()))


def test_a_reply_that_is_refused_on_its_way_calls_nothing() -> None:
    no = rule("no", "model_reply", when="event.text.contains('look')", action="block")
    shield, _ = kept_shield({"name": "n", "guards": [no]})
    agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(shield)])
    pieces = [one for one, _ in agent.stream(ASKED, stream_mode="messages")]
    assert not any(getattr(one, "tool_call_chunks", None) for one in pieces)
    assert "forbids this" in "".join([one.text for one in pieces])
    said = agent.invoke(ASKED, {"callbacks": []})["messages"]
    assert (len(said), said[-1].tool_calls) == (2, [])


def test_what_ends_the_run_is_raised_and_who_listens_hears_of_it() -> None:
    stop = rule("stop", "model_call", when="size(event.messages) > 0", action="halt")
    shield, _ = kept_shield({"name": "h", "guards": [stop]})
    recorder = Recorder()
    agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(shield)])
    with pytest.raises(Refused):
        agent.invoke(ASKED, {"callbacks": [recorder]})
    assert "model_error" in [one[0] for one in recorder.events]


class Waits(Clerk):
    """A model that never ends; `ended` says that it was let go."""

    ended: Any = None

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        try:
            yield ChatGenerationChunk(message=AIMessageChunk(content="so "))
            await asyncio.Event().wait()
        finally:
            self.ended.append(True)


@pytest.mark.parametrize("guards", [False, True])
def test_whoever_is_cut_off_leaves_nothing_open(guards: bool) -> None:
    shield, _ = kept_shield()
    ended: list[bool] = []
    guard = Guarded(shield)
    agent: Any = create_agent(Waits(ended=ended), [look], middleware=[guard] if guards else [])

    async def cut_off() -> None:
        begun = asyncio.Event()

        async def play() -> None:
            async for piece, _ in agent.astream(ASKED, stream_mode="messages"):
                if piece.text:
                    begun.set()

        task = asyncio.create_task(play())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut_off())
    assert ended == [True]
    runs = [work.hosted.run for work in guard._works._tied.values()]
    assert [run.open_calls() for run in runs] == [() for _ in runs]


def test_agents_within_agents_tell_the_same() -> None:
    found = []
    for guarded in (False, True):
        shield, _ = kept_shield()

        def made(
            model: Any, tools: list[Any], name: str, on: Any = guarded, by: Any = shield
        ) -> Any:
            middleware = [Guarded(by)] if on else []
            return create_agent(model, tools, middleware=middleware, name=name)

        desk = made(Clerk(), [look], "desk")

        @tool
        def ask(name: str, desk: Any = desk) -> str:
            """Ask the desk."""
            said: str = desk.invoke({"messages": [HumanMessage(name)]})["messages"][-1].text
            return said

        recorder = Recorder()
        played(made(Clerk(tool="ask"), [ask], "boss"), "messages", {"callbacks": [recorder]})
        found.append(recorder.events)
    assert found[0] == found[1]
    assert any(one[2] == "ask" for one in found[0])
