"""A shield is enough: a crew that is guarded once works for many requests, each in a run of its
own, and its events, usage and answers are those of a crew without the guard."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("crewai")

from tests.hosts.crewai import driver  # first, so that it sends no telemetry

from crewai import Agent, BaseLLM, Crew, Task  # isort: skip
from crewai.events.event_bus import crewai_event_bus  # isort: skip
from crewai.events.types.agent_events import (  # isort: skip
    AgentExecutionCompletedEvent,
    AgentExecutionStartedEvent,
)
from crewai.events.types.crew_events import (  # isort: skip
    CrewKickoffCompletedEvent,
    CrewKickoffStartedEvent,
)
from crewai.events.types.task_events import TaskCompletedEvent, TaskStartedEvent  # isort: skip
from crewai.events.types.tool_usage_events import (  # isort: skip
    ToolUsageFinishedEvent,
    ToolUsageStartedEvent,
)
from crewai.tools import tool as as_tool  # isort: skip
from pydantic import BaseModel, Field  # isort: skip

from stanchion.hosts.crewai import CREWAI, guarded
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

EVENTS: tuple[Any, ...] = (
    CrewKickoffStartedEvent,
    CrewKickoffCompletedEvent,
    TaskStartedEvent,
    TaskCompletedEvent,
    AgentExecutionStartedEvent,
    AgentExecutionCompletedEvent,
    ToolUsageStartedEvent,
    ToolUsageFinishedEvent,
)


class Page(BaseModel):
    """A page."""

    text: str


class Reads(BaseLLM):
    """A model that calls a tool with the last word of its task, and says what came of it."""

    tool: str = "read_page"
    more: dict[str, str] = Field(default_factory=dict)
    argument: str = "name"
    as_json: bool = False

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, tools: Any = None, **options: Any) -> Any:
        self._track_token_usage_internal(
            {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        )
        read = [one["content"] for one in messages if one["role"] == "tool"]
        if read:
            return json.dumps({"text": read[-1]}) if self.as_json else read[-1]
        asked = next(str(one["content"]) for one in messages if one["role"] == "user")
        name = next(word for word in asked.split() if word.startswith("page-"))
        args = json.dumps({self.argument: name, **self.more})
        return [{"id": "1", "type": "function", "function": {"name": self.tool, "arguments": args}}]

    async def acall(self, messages: Any, tools: Any = None, **options: Any) -> Any:
        await asyncio.sleep(0)
        return self.call(messages, tools, **options)


@as_tool("read_page")
def read_page(name: str) -> str:
    """Read a page."""
    return f"text of {name}"


def agent_of(role: str = "helper", **options: Any) -> Agent:
    about = {"goal": "help", "backstory": "a helper", "llm": Reads(model="reads"), **options}
    return Agent(role=role, **{"tools": [read_page], **about})


def crew_of(agents: list[Agent], **options: Any) -> Crew:
    task = Task(description="read {name}", expected_output="it", agent=agents[0], **options)
    return Crew(agents=agents, tasks=[task])


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_crew_is_guarded(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`crewai` is given a .*give it the shield"):
        guarded(crew_of([agent_of()]), wrong)


def test_what_is_no_crew_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a `Crew` or an `Agent`, not a `str`"):
        guarded("crew", kept_shield()[0])


@pytest.mark.parametrize("way", ["akickoff", "kickoff", "kickoff_async"])
@pytest.mark.parametrize("alone", [False, True])
def test_a_hundred_requests_at_once(way: str, alone: bool) -> None:
    shield, journal = kept_shield()
    made = agent_of() if alone else crew_of([agent_of()])
    crew = guarded(made, shield, task="reading")

    def begin(name: str) -> Any:
        kickoff = getattr(crew, way)
        return kickoff(f"read {name}") if alone else kickoff(inputs={"name": name})

    async def ask(name: str) -> str:
        return str((await begin(name)).raw)

    if way == "kickoff":
        said = [str(one.raw) for one in all_in_threads(begin)]
    else:
        said = all_at_once(ask)
    assert said == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())
    assert {(r.agent, r.task) for records in runs_of(journal).values() for r in records} == {
        ("helper", "reading")
    }


def test_each_of_many_inputs_has_a_run() -> None:
    shield, journal = kept_shield()
    crew = guarded(crew_of([agent_of()]), shield)
    inputs = [{"name": f"page-{at}"} for at in range(3)]
    assert [one.raw for one in crew.kickoff_for_each(inputs)] == [
        "text of page-0",
        "text of page-1",
        "text of page-2",
    ]
    came = asyncio.run(crew.kickoff_for_each_async(inputs))
    assert [one.raw for one in came] == ["text of page-0", "text of page-1", "text of page-2"]
    assert len(runs_of(journal)) == 6


def test_a_run_that_is_given_works_for_all() -> None:
    shield, journal = kept_shield()
    with CREWAI.run(shield, "helper") as hosted:
        for given in (hosted, hosted.run):
            guarded(crew_of([agent_of()]), given).kickoff(inputs={"name": "page-1"})
    assert len(runs_of(journal)) == 1


def test_a_crew_in_a_tool_works_in_a_child_run() -> None:
    shield, journal = kept_shield()
    inner = guarded(crew_of([agent_of("desk")]), shield)

    @as_tool("ask_desk")
    def ask_desk(name: str) -> str:
        """Ask the desk."""
        return str(inner.kickoff(inputs={"name": name}).raw)

    outer = agent_of("boss", tools=[ask_desk], llm=Reads(model="asks", tool="ask_desk"))
    crew = guarded(crew_of([outer]), shield)
    assert crew.kickoff(inputs={"name": "page-1"}).raw == "text of page-1"
    boss, desk = runs_of(journal).values()
    assert [boss[0].agent, desk[0].agent] == ["boss", "desk"]


@pytest.mark.parametrize("name", ["replay", "execute_task", "aexecute_task"])
def test_what_would_pass_by_is_refused(name: str) -> None:
    one = guarded(agent_of(), kept_shield()[0])
    with pytest.raises(TypeError, match=f"`{name}` is not guarded: guard the crew"):
        one.__dict__[name]("1")


def test_a_checkpoint_of_another_crew_is_refused() -> None:
    class Checkpoint:
        restore_from = "kept.json"

    crew = guarded(crew_of([agent_of()]), kept_shield()[0])
    for way in (crew.kickoff, lambda **given: asyncio.run(crew.akickoff(**given))):
        with pytest.raises(TypeError, match="restore it, and guard that one"):
            way(from_checkpoint=Checkpoint())


def delegating() -> list[Agent]:
    """An agent that gives its work to another."""
    given = {"task": "read page-9", "context": "all"}
    tool = "delegate_work_to_coworker"
    llm = Reads(model="gives", tool=tool, argument="note", more={**given, "coworker": "desk"})
    return [agent_of("boss", llm=llm, allow_delegation=True), agent_of("desk")]


def heard(play: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """What comes of a kickoff, and the events of it in their order."""
    events: list[Any] = []
    with crewai_event_bus.scoped_handlers():
        for kind in EVENTS:
            crewai_event_bus.on(kind)(lambda _source, event: events.append(event))
        came = play()
        crewai_event_bus.flush()
    events.sort(key=lambda one: one.emission_sequence)
    return came, [
        (one.type, getattr(one, "tool_name", ""), str(getattr(one, "output", ""))) for one in events
    ]


@pytest.mark.parametrize("agents", [lambda: [agent_of()], delegating], ids=["one", "two"])
@pytest.mark.parametrize("way", ["kickoff", "akickoff"])
def test_all_is_the_same(agents: Callable[[], list[Agent]], way: str) -> None:
    def played(guard: bool) -> Any:
        shield, journal = kept_shield()
        called: list[str] = []
        crew = crew_of(agents())
        crew.step_callback = lambda step: called.append(type(step).__name__)
        crew.task_callback = lambda output: called.append(output.raw)
        crew.before_kickoff_callbacks = [lambda given: {**given, "more": "1"}]
        crew = guarded(crew, shield) if guard else crew

        def play() -> Any:
            came = getattr(crew, way)(inputs={"name": "page-1"})
            return asyncio.run(came) if way == "akickoff" else came

        came, events = heard(play)
        assert bool(journal.kept()) is guard
        outputs = [(one.raw, one.agent) for one in came.tasks_output]
        return {
            "events": events,
            "called": called,
            "usage": came.token_usage.model_dump(),
            "raw": came.raw,
            "outputs": outputs,
        }

    bare, held = played(False), played(True)
    assert len(bare["events"]) >= 6
    assert bare["usage"]["total_tokens"] > 0
    for name, said in bare.items():
        assert held[name] == said, name


@pytest.mark.parametrize("guard", [False, True])
def test_structured_output_is_that_of_the_crew(guard: bool) -> None:
    shield, _ = kept_shield()
    llm = Reads(model="reads", as_json=True)
    made = crew_of([agent_of(llm=llm)], output_pydantic=Page)
    crew = guarded(made, shield) if guard else made
    came = crew.kickoff(inputs={"name": "page-1"})
    assert came.pydantic == Page(text="text of page-1")


def test_the_model_of_a_guardrail_is_judged() -> None:
    shield, journal = kept_shield()
    made = crew_of([agent_of()], guardrail="says what the page says")
    crew = guarded(made, shield)
    copies = crew.copy()
    judge = copies.tasks[0]._guardrail
    assert judge.llm is copies.agents[0].llm
    assert judge.llm is not made.agents[0].llm
    assert not journal.kept()


@pytest.mark.parametrize("guard", [False, True])
def test_a_kickoff_that_is_cancelled_ends_at_once(guard: bool) -> None:
    shield, _ = kept_shield()
    release = threading.Event()

    async def play() -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        class Waits(Reads):
            def call(self, messages: Any, tools: Any = None, **options: Any) -> Any:
                loop.call_soon_threadsafe(begun.set)
                release.wait(5)
                return "late"

        made = crew_of([agent_of(llm=Waits(model="waits"))])
        crew = guarded(made, shield) if guard else made
        task = asyncio.create_task(crew.kickoff_async(inputs={"name": "page-1"}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not release.is_set()
        release.set()

    asyncio.run(play())


def test_the_crew_that_was_given_is_as_it_was() -> None:
    made = crew_of([agent_of()])
    before = [dict(vars(one)) for one in (made, made.agents[0], made.tasks[0], read_page)]
    guarded(made, kept_shield()[0]).kickoff(inputs={"name": "page-1"})
    assert [dict(vars(one)) for one in (made, made.agents[0], made.tasks[0], read_page)] == before
    assert made.agents[0].llm.get_token_usage_summary().total_tokens == 0
    assert driver.DRIVER.name == "crewai"
