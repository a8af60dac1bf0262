"""A shield is enough: an agent is built once, and each session has a run. Under a bare policy it
gives the same with the guard and without: events in their order, hooks, usage, output."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

pytest.importorskip("agno")

from tests.hosts.agno.driver import Scripted  # first: it sends no telemetry

from agno.agent import Agent  # isort: skip
from agno.db.in_memory import InMemoryDb  # isort: skip
from agno.models.response import ModelResponse  # isort: skip
from agno.team import Team  # isort: skip
from pydantic import BaseModel  # isort: skip

from stanchion import Ungoverned
from stanchion.hosts.agno import AGNO, guarded
from stanchion.testing.host_suite import Call, Turn
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)


class Found(BaseModel):
    """What was found."""

    pages: int


def look(name: str) -> str:
    """Look at a page."""
    return f"text of {name}"


class Reads(Scripted):
    """A model that looks at what the user names, and says what it has read."""

    def _asked(self, messages: list[Any]) -> Turn:
        last = messages[-1]
        if last.role == "tool":
            return Turn("2", str(last.content))
        return Turn("1", calls=(Call("c1", "look", {"name": str(last.content)}),))


def reader(**options: Any) -> Agent:
    return Agent(
        **{"name": "helper", "model": Reads(), "tools": [look], "telemetry": False, **options}
    )


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`agno` is given a .*give it the shield"):
        guarded(reader(), wrong)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("threads", [False, True])
def test_a_hundred_requests_at_once_through_one_agent(threads: bool, streams: bool) -> None:
    shield, journal = kept_shield()
    agent = guarded(reader(), shield)

    async def ask(name: str) -> str:
        if streams:
            return "".join(
                [one.content async for one in agent.arun(name, stream=True) if said(one)]
            )
        return str((await agent.arun(name)).content)

    def ask_sync(name: str) -> str:
        if streams:
            return "".join([one.content for one in agent.run(name, stream=True) if said(one)])
        return str(agent.run(name).content)

    came = all_in_threads(ask_sync) if threads else all_at_once(ask)
    assert came == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


def said(event: Any) -> bool:
    return event.event == "RunContent" and event.content is not None


def test_a_session_has_one_run_and_any_other_run_ends() -> None:
    shield, journal = kept_shield()
    agent = guarded(reader(), shield, task="reading")
    for text, session in (("one", "s"), ("two", "s"), ("three", "t")):
        agent.run(text, session_id=session)
    asyncio.run(agent.arun("four", session_id="t"))
    assert len(runs_of(journal)) == 2
    ended: list[Any] = []
    begin = agent.run.func.__self__.works.begin  # whoever runs the agent

    def noted(*args: Any) -> Any:
        work = begin(*args)
        ended.append(work.hosted.run)
        return work

    agent.run.func.__self__.works.begin = noted
    agent.run("five")
    events = agent.run("six", stream=True)
    next(events)
    assert [run.desk.ended is not None for run in ended] == [True, False]
    events.close()
    assert [run.desk.ended is not None for run in ended] == [True, True]
    assert {(r.agent, r.task) for all_of in runs_of(journal).values() for r in all_of} == {
        ("helper", "reading")
    }


def test_an_agent_that_remembers_keeps_its_session_as_agno_does() -> None:
    shield, journal = kept_shield()
    agent = guarded(reader(db=InMemoryDb(), add_history_to_context=True), shield)
    came = [agent.run(text) for text in ("one", "two")]
    assert came[0].session_id == came[1].session_id == agent.session_id
    assert len(runs_of(journal)) == 1
    assert "one" in str([message.content for message in came[1].messages])


def test_a_run_in_the_place_of_the_shield_is_what_everything_works_in() -> None:
    shield, journal = kept_shield()
    with shield.run("boss", can=AGNO.can) as run:
        agent = guarded(reader(), run)
        for text in ("one", "two"):
            agent.run(text, session_id=text)
    assert [one[0].agent for one in runs_of(journal).values()] == ["boss"]


def test_an_agent_that_a_tool_runs_works_in_a_child() -> None:
    shield, journal = kept_shield()
    inner = guarded(reader(name="desk"), shield)

    def look(name: str) -> str:
        """Have it looked at."""
        return str(inner.run(name).content)

    came = guarded(reader(name="boss", tools=[look]), shield).run("page")
    assert came.content == "text of page"
    assert [records[0].agent for records in runs_of(journal).values()] == ["boss", "desk"]


def test_the_model_of_a_guarded_agent_is_asked_in_its_runs_alone() -> None:
    agent = guarded(reader(), kept_shield()[0])
    with pytest.raises(Ungoverned, match="in its runs alone"):
        agent.model.invoke([])
    assert agent.deep_copy() is agent
    assert agent.deep_copy(update={"description": "x"}).run("p").content == "text of p"


FIRST = Turn(
    "1", "", calls=(Call("c1", "look", {"name": "bob"}), Call("c2", "look", {"name": "ann"}))
)
SAID = {None: Turn("2", "it is done"), Found: Turn("2", '{"pages": 2}')}


def plain(told: Any) -> Any:
    """What a program hears, without what differs each time."""
    if isinstance(told, dict):
        return {name: plain(one) for name, one in told.items() if name not in HIDDEN}
    if isinstance(told, list | tuple):
        return [plain(one) for one in told]
    if isinstance(told, str):
        return re.sub(r" completed in [0-9.]+s", " completed", told)
    return told if isinstance(told, int | float | bool | None) else repr(told)


HIDDEN = frozenset(
    {
        "created_at", "run_id", "session_id", "agent_id", "team_id", "member_id", "parent_run_id",
        "duration", "time_to_first_token", "id", "start_time", "end_time", "message_id",
        "child_run_id", "current_run_id", "current_session_id",
    }
)  # fmt: skip


def played(guard: bool, way: str, output: Any, as_team: bool) -> dict[str, Any]:
    """What a program sees of a run: each event, hook, figure and message."""
    hooked: list[Any] = []
    turns: Iterator[Turn]

    def around(function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
        hooked.append((function_name, dict(arguments)))
        return function_call(**arguments)

    def before(run_input: Any) -> None:
        hooked.append(run_input.input_content_string())

    def after(run_output: Any) -> None:
        hooked.append(str(run_output.content))

    hooks = {"tool_hooks": [around], "pre_hooks": [before], "post_hooks": [after]}
    last = SAID[output]
    if as_team:
        turns = iter([Turn("0", handoff="desk"), FIRST, SAID[None], last])
        model = Scripted(ask=lambda _: next(turns))
        desk = Agent(name="desk", model=model, tools=[look], telemetry=False)
        whole: Any = Team(name="boss", members=[desk], model=model, telemetry=False, **hooks)
        whole.output_schema, whole.stream_member_events = output, True
    else:
        turns = iter([FIRST, last])
        model = Scripted(ask=lambda _: next(turns))
        whole = reader(model=model, output_schema=output, **hooks)
    shield, journal = kept_shield()
    agent = guarded(whole, shield) if guard else whole
    options = {"stream": True, "stream_events": True, "yield_run_output": True}

    async def later() -> list[Any]:
        return [event async for event in agent.arun("go", **options)]

    events = asyncio.run(later()) if way == "async" else list(agent.run("go", **options))
    assert bool(journal.kept()) is guard
    done = events[-1]
    return {
        "events": [(type(one).__name__, plain(one.to_dict())) for one in events],
        "output": done.content,
        "used": (done.metrics.input_tokens, done.metrics.output_tokens),
        "hooks": hooked,
        "messages": [(one.role, str(one.content)) for one in done.messages],
    }


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("output", [None, Found])
@pytest.mark.parametrize("as_team", [False, True])
def test_all_is_the_same(way: str, output: Any, as_team: bool) -> None:
    bare, ours = played(False, way, output, as_team), played(True, way, output, as_team)
    assert bare["output"] == ("it is done" if output is None else Found(pages=2))
    assert len(bare["events"]) > 8
    assert [name for name, _ in ours["events"]] == [name for name, _ in bare["events"]]
    for name, came in bare.items():
        assert ours[name] == came, name


class Waits(Scripted):
    """A model that says a piece, and then nothing."""

    async def ainvoke_stream(self, messages: list[Any], **_options: Any) -> AsyncIterator[Any]:
        yield ModelResponse(content="one ")
        await asyncio.Event().wait()


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_cancelled_ends_at_once(guard: bool) -> None:
    plain_agent = reader(model=Waits())
    agent = guarded(plain_agent, kept_shield()[0]) if guard else plain_agent
    heard: list[str] = []

    async def consume() -> None:
        async for event in agent.arun("go", stream=True):
            heard.append(event.content)

    async def play() -> None:
        task = asyncio.create_task(consume())
        while not heard:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.done()

    asyncio.run(play())
    assert heard[0] == "one "
