"""LangChain and LangGraph under the adapter."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import AgentState, create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from stanchion import Refused, ToolFailed
from stanchion.hosts.langchain import LANGCHAIN, Guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Scene, check, check_probes
from stanchion.testing.host_suite.scene import script
from tests.hosts.langchain.driver import DRIVER, THREAD, Scripted
from tests.rules import rule


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


SECRETS: dict[str, Any] = {"name": "s", "guards": [{"use": "secrets"}]}
ASKS: dict[str, Any] = {
    "name": "a",
    "guards": [{"id": "ask", "use": "tool_denylist", "tools": ["send"], "action": "escalate"}],
}


def scene_of(policy: dict[str, Any], *said: Any, **options: Any) -> Scene:
    """A scene on a shield of its own."""
    return Scene(shield_for(policy), script(*said), "sync", Path(), **options)


def invoked(scene: Scene, *tools: Any, saver: Any = None, **options: Any) -> Any:
    """What the scene's agent gives, with other tools."""
    with LANGCHAIN.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        given: Any = {"middleware": [Guarded(hosted)], "checkpointer": saver, **options}
        agent = create_agent(Scripted(scene=scene), list(tools), **given)
        return agent.invoke(
            {"messages": [HumanMessage(scene.prompt)]}, THREAD if saver is not None else None
        )


def decided(scene: Scene) -> list[tuple[str, str]]:
    """The decisions of a scene."""
    kept = [one.read() for one in scene.shield.journal.kept()]
    return [(one.stage, one.action) for one in kept]


class Listener(BaseCallbackHandler):
    """Hears what LangChain tells those who listen to models."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_llm_new_token(self, token: Any, **options: Any) -> None:
        self.heard.append(str(token))

    def on_llm_end(self, response: Any, **options: Any) -> None:
        self.heard.append(str(response))

    def on_chain_end(self, outputs: Any, **options: Any) -> None:
        self.heard.append(str(outputs))


def streamed(agent: Any, mode: str) -> str:
    """All that comes out of an agent that is streamed in some way, as text."""
    asked: Any = {"messages": [HumanMessage("go")]}
    match mode:
        case "v3":
            run = agent.stream_events(asked, version="v3")
            return "".join(["".join(message.text) for message in run.messages])
        case "v2":

            async def events() -> list[Any]:
                return [event async for event in agent.astream_events(asked, version="v2")]

            return str(asyncio.run(events()))
        case "messages":
            pieces = agent.stream(asked, stream_mode=mode)
            return "".join([message.text for message, _ in pieces if message.type != "human"])
        case _:
            return str(list(agent.stream(asked, stream_mode=mode)))


MODES = ["messages", "values", "updates", "debug", "v2"]
if not CompiledStateGraph.stream_events.__qualname__.startswith("Runnable"):
    MODES.append("v3")


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("mode", MODES)
def test_no_way_to_stream_shows_what_was_not_judged(mode: str) -> None:
    scene = scene_of(SECRETS, f"the key is {KEY}, keep it")
    with LANGCHAIN.run(scene.shield, agent="helper") as hosted:
        said = streamed(create_agent(Scripted(scene=scene), [], middleware=[Guarded(hosted)]), mode)
    assert KEY not in said
    assert KEY[:20] not in said
    assert "the key is [redacted:github-pat], keep it" in said


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
def test_without_the_adapter_the_same_streams_show_it() -> None:
    """What the test above would find if nobody judged the pieces."""
    said = f"the key is {KEY}, keep it"
    for mode in {"messages", "v2", "v3"} & {*MODES}:
        assert KEY[:8] in streamed(create_agent(Scripted(scene=scene_of(SECRETS, said)), []), mode)


def test_who_listens_to_models_hears_nothing_unjudged() -> None:
    scene, listener = scene_of(SECRETS, f"the key is {KEY}"), Listener()
    with LANGCHAIN.run(scene.shield) as hosted:
        agent = create_agent(Scripted(scene=scene), [], middleware=[Guarded(hosted)])
        agent.invoke({"messages": [HumanMessage("go")]}, {"callbacks": [listener]})
    assert listener.heard
    assert KEY not in str(listener.heard)


def test_a_prompt_is_judged_and_redacted_in_its_place() -> None:
    scene = scene_of({"name": "p", "guards": [{"use": "secrets", "stages": ["prompt"]}]}, "done")
    scene.prompt = f"use {KEY}"  # type: ignore[misc] # a scene's prompt is the same for all drivers
    said = invoked(scene)["messages"]
    assert [message.type for message in said] == ["human", "ai"]
    assert KEY not in str(said) + str(scene.asked)


def test_a_refused_prompt_is_answered_and_no_model_is_asked() -> None:
    no = rule("no", "prompt", when="event.text.contains('please')", action="block")
    scene = scene_of({"name": "p", "guards": [no]}, "never said")
    said = invoked(scene)["messages"]
    assert said[-1].text.startswith("a rule of the policy forbids this")
    assert scene.asked == []


def test_what_ends_the_run_is_raised() -> None:
    stop = {"id": "stop", "use": "tool_denylist", "tools": ["look"], "action": "halt"}
    scene = scene_of({"name": "h", "guards": [stop]}, ("look", {"name": "bob"}), "never said")
    with pytest.raises(Refused) as refused:
        invoked(scene, *scene.tools)
    assert refused.value.ended
    assert scene.ran == []


@pytest.mark.parametrize("config", [None, THREAD], ids=["bare", "with a thread"])
def test_a_call_that_waits_is_said_where_the_graph_cannot_stand_still(config: Any) -> None:
    scene = scene_of(ASKS, ("send", {"to": "bob"}), "later")
    with LANGCHAIN.run(scene.shield) as hosted:
        agent: Any = create_agent(Scripted(scene=scene), scene.tools, middleware=[Guarded(hosted)])
        said = agent.invoke({"messages": [HumanMessage("go")]}, config)["messages"]
    assert "a person has been asked about this" in said[2].content
    assert (said[2].status, said[-1].text) == ("error", "later")


def test_one_who_goes_on_too_early_stands_still_again_and_a_no_is_read() -> None:
    saver = InMemorySaver()
    scene = scene_of(ASKS, ("send", {"to": "bob"}), "then not")
    with LANGCHAIN.run(scene.shield, agent="helper", task="suite") as hosted:
        agent: Any = create_agent(
            Scripted(scene=scene), scene.tools, middleware=[Guarded(hosted)], checkpointer=saver
        )
        (paused,) = agent.invoke({"messages": [HumanMessage("go")]}, THREAD)["__interrupt__"]
        (ticket,) = scene.shield.tickets()
        assert paused.value["ticket"] == ticket.id
        assert "__interrupt__" in agent.invoke(Command(resume=True), THREAD)
        scene.shield.deny(ticket.id, by="ann", comment="bob has moved")
        said = agent.invoke(Command(resume=True), THREAD)["messages"]
    assert "bob has moved" in said[2].content
    assert (scene.ran, said[-1].text, len(scene.asked)) == ([], "then not", 2)


def test_a_tool_that_interrupts_by_itself_has_not_failed() -> None:
    @tool
    def ask_back(about: str) -> str:
        """Ask the user."""
        return f"they said {interrupt(about)} and {KEY}"

    scene = scene_of(SECRETS, ("ask_back", {"about": "colour"}), "done")
    with LANGCHAIN.run(scene.shield) as hosted:
        agent: Any = create_agent(
            Scripted(scene=scene),
            [ask_back],
            middleware=[Guarded(hosted)],
            checkpointer=InMemorySaver(),
        )
        assert (
            agent.invoke({"messages": [HumanMessage("go")]}, THREAD)["__interrupt__"][0].value
            == "colour"
        )
        said = agent.invoke(Command(resume="red"), THREAD)["messages"]
    assert said[2].content == "they said red and [redacted:github-pat]"
    assert "error" not in [stage for stage, _ in decided(scene)]


def test_what_only_code_would_see_of_a_redacted_result_goes() -> None:
    @tool(response_format="content_and_artifact")
    def read(name: str) -> tuple[str, Any]:
        """Read a page."""
        return f"{name}: {KEY if name == 'ann' else 'nothing'}", {"raw": name}

    calls = [("read", {"name": "ann"}), ("read", {"name": "bob"})]
    said = invoked(scene_of(SECRETS, calls, "done"), read)["messages"]
    assert [(one.content, one.artifact) for one in said[2:4]] == [
        ("ann: [redacted:github-pat]", None),
        ("bob: nothing", {"raw": "bob"}),
    ]


def test_what_a_command_writes_into_the_state_is_redacted() -> None:
    @tool
    def note(runtime: ToolRuntime) -> Command:  # type: ignore[type-arg] # the tool's schema is made from it
        """Write a note."""
        said = ToolMessage(f"noted {KEY}", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [said], "jotted": f"with {KEY}"})

    class State(AgentState[Any]):
        jotted: str

    scene = scene_of(SECRETS, ("note", {}), "done")
    came = invoked(scene, note, state_schema=State)
    assert came["messages"][2].content == "noted [redacted:github-pat]"
    assert came["jotted"] == "with [redacted:github-pat]"


def test_a_failure_that_comes_as_a_message_is_an_error() -> None:
    @tool
    def read(name: str) -> str:
        """Read a page."""
        raise ToolException("no such page")

    read.handle_tool_error = True
    scene = scene_of(SECRETS, ("read", {"name": "x"}), "done")
    said = invoked(scene, read)["messages"]
    assert (said[2].content, said[2].status) == ("no such page", "error")
    assert ("error", "ALLOW") in decided(scene)


def test_a_failure_that_is_raised_does_not_hold_what_was_redacted() -> None:
    @tool
    def read(name: str) -> str:
        """Read a page."""
        raise ValueError(f"no page for {KEY}")

    with pytest.raises(ToolFailed, match="no page for") as raised:
        invoked(scene_of(SECRETS, ("read", {"name": "x"}), "done"), read)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
