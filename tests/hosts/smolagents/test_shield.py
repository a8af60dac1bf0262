"""A shield is enough: an agent is built once, and each of its runs has a run. Under a bare policy
it gives the same with the guard and without: steps in their order, callbacks, usage, output."""

from __future__ import annotations

import re
from threading import Event, Thread
from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import CodeAgent, ToolCallingAgent
from smolagents.memory import ActionStep, FinalAnswerStep, PlanningStep
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import TokenUsage
from smolagents.utils import AgentError

from stanchion import Ungoverned
from stanchion.hosts.smolagents import SMOLAGENTS, guarded
from stanchion.testing.host_suite import Call, Turn
from tests.hosts.smolagents.driver import QUIET, Plain, Scripted, texts
from tests.hosts.together import WRONG, all_in_threads, check_apart, kept_shield, requests, runs_of


def look(name: str) -> str:
    """Look at a page."""
    return f"text of {name}"


def read(asked: list[str]) -> Turn:
    """Look at what the task names, and answer with what was read."""
    last = asked[-1]
    if "text of" in last:
        return Turn("2", "text of " + last.rpartition("text of ")[2].strip())
    name = last.rpartition("New task:\n")[2].strip()
    return Turn("1", calls=(Call("c1", "look", {"name": name}),))


def reader(**options: Any) -> Any:
    given = {"tools": [Plain(look)], "model": Scripted(read), **QUIET, **options}
    return ToolCallingAgent(**given)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`smolagents` is given a .*give it the shield"):
        guarded(reader(), wrong)


@pytest.mark.parametrize("streams", [False, True])
def test_a_hundred_requests_at_once_through_one_agent(streams: bool) -> None:
    shield, journal = kept_shield()
    agent = guarded(reader(), shield)

    def ask(name: str) -> str:
        if streams:
            return str(list(agent.run(name, stream=True))[-1].output)
        return str(agent.run(name))

    assert all_in_threads(ask) == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


class Codes(Scripted):
    """A model that writes code: it looks at what the task names, and answers with that."""

    def generate(self, messages: list[Any], **_options: Any) -> Any:
        name = texts(messages)[-1].rpartition("New task:\n")[2].strip()
        code = f"page = look('{name}')\nfinal_answer(page)"
        return ChatMessage(MessageRole.ASSISTANT, f"<code>\n{code}\n</code>")


def test_a_hundred_pieces_of_code_at_once() -> None:
    shield, journal = kept_shield()
    agent = guarded(CodeAgent([Plain(look)], Codes(read), **QUIET), shield)
    came = all_in_threads(lambda name: str(agent.run(name)))
    assert came == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


def test_what_goes_on_with_a_memory_goes_on_in_its_run() -> None:
    shield, journal = kept_shield()
    plain = reader()
    agent = guarded(plain, shield, agent="helper", task="reading")
    agent.run("one")
    first = agent.run.__self__._last.hosted.run
    agent.run("two", reset=False)
    assert "text of one" in str(agent.memory.steps)
    assert agent.memory.steps is plain.memory.steps
    assert (len(runs_of(journal)), first.desk.ended) == (1, None)
    agent.run("three")
    assert "text of one" not in str(agent.memory.steps)
    assert (len(runs_of(journal)), first.desk.ended is None) == (2, False)
    assert {(r.agent, r.task) for all_of in runs_of(journal).values() for r in all_of} == {
        ("helper", "reading")
    }


def test_a_run_in_the_place_of_the_shield_is_what_everything_works_in() -> None:
    shield, journal = kept_shield()
    with shield.run("boss", can=SMOLAGENTS.can) as run:
        agent = guarded(reader(), run)
        for text in ("one", "two"):
            agent.run(text)
    assert [one[0].agent for one in runs_of(journal).values()] == ["boss"]


def test_an_agent_that_a_tool_runs_works_in_a_child() -> None:
    shield, journal = kept_shield()
    inner = guarded(reader(), shield, agent="desk")
    runs: list[Any] = []

    def look(name: str) -> str:
        """Have it looked at."""
        came = str(inner.run(name))
        runs.append(inner.run.__self__._last.hosted.run)
        return came

    assert guarded(reader(tools=[Plain(look)]), shield, agent="boss").run("page") == "text of page"
    boss, desk = runs_of(journal)
    assert (runs[0].id, runs[0].desk.info.parents) == (desk, (boss,))


def test_a_guarded_agent_works_in_its_runs_alone() -> None:
    agent = guarded(reader(), kept_shield()[0])
    for astray in (agent.step, agent.execute_tool_call, agent.provide_final_answer):
        with pytest.raises(Ungoverned, match="in its runs alone"):
            astray("look")


def test_an_agent_that_is_interrupted_stops() -> None:
    begun, go_on = Event(), Event()

    def look(name: str) -> str:
        """Wait."""
        begun.set()
        go_on.wait(10)
        return name

    agent = guarded(reader(tools=[Plain(look)]), kept_shield()[0])
    ended: list[Any] = []

    def work() -> None:
        try:
            agent.run("page")
        except AgentError as error:
            ended.append(str(error))

    thread = Thread(target=work)
    thread.start()
    assert begun.wait(10)
    agent.interrupt()
    go_on.set()
    thread.join(10)
    assert ended == ["Agent interrupted."]


def plain_step(step: Any) -> Any:
    """What a program sees of a step, without times."""
    shown = step
    if hasattr(step, "dict"):
        shown = {name: one for name, one in step.dict().items() if name != "timing"}
    words = re.sub(r"0x[0-9a-f]+", "", repr(shown))
    return type(step).__name__, re.sub(r"(start|end)_time=[0-9.]+|duration=[0-9.]+", "", words)


def played(guard: bool, kind: str, streams: bool) -> dict[str, Any]:
    heard: list[Any] = []
    turns = iter(
        [
            Turn("0", handoff="desk"),
            Turn("1", calls=(Call("c1", "look", {"name": "bob"}),)),
            Turn("2", "sorted"),
            Turn("3", "it is done"),
        ]
        if kind == "team"
        else [
            *([Turn("p", "a plan")] if kind == "plan" else []),
            *[Turn(one, calls=(Call(f"c-{one}", "look", {"name": one}),)) for one in ("a", "b")],
            Turn("2", "it is done"),
        ]
    )
    model, tools = Scripted(lambda _: next(turns)), [Plain(look)]

    def note(step: Any, agent: Any) -> None:
        heard.append((plain_step(step), agent.memory.steps[0].task))

    callbacks = dict.fromkeys((ActionStep, PlanningStep, FinalAnswerStep), note)
    desk = ToolCallingAgent(
        tools, model, name="desk", description="sorts", provide_run_summary=True, **QUIET
    )
    whole = ToolCallingAgent(
        tools,
        model,
        managed_agents=[desk] if kind == "team" else [],
        planning_interval=5 if kind == "plan" else None,
        step_callbacks=callbacks,
        stream_outputs=streams,
        final_answer_checks=[lambda answer, memory, agent: "done" in str(answer)],
        **QUIET,
    )
    shield, journal = kept_shield()
    agent = guarded(whole, shield) if guard else whole
    if streams:
        steps = [plain_step(one) for one in agent.run("go", stream=True)]
        result: Any = None
    else:
        steps, result = [], agent.run("go", return_full_result=True).dict()
        result = re.sub(r"[0-9]+\.[0-9]+(e-[0-9]+)?", "", repr(result))
    assert bool(journal.kept()) is guard
    return {
        "steps": steps,
        "result": result,
        "heard": heard,
        "used": agent.monitor.get_total_token_counts(),
        "memory": [plain_step(one) for one in agent.memory.steps],
        "desk": [plain_step(one) for one in desk.memory.steps],
    }


@pytest.mark.parametrize("kind", ["tools", "team", "plan"])
@pytest.mark.parametrize("streams", [False, True])
def test_all_is_the_same(kind: str, streams: bool) -> None:
    bare, ours = played(False, kind, streams), played(True, kind, streams)
    assert "it is done" in str(bare["heard"][-1])
    assert isinstance(bare["used"], TokenUsage)
    assert len(bare["steps"]) > 4 if streams else "it is done" in bare["result"]
    for name, came in bare.items():
        assert ours[name] == came, name
