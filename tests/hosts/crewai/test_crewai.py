"""CrewAI: the behaviour suite, and what only this host has: hooks whose exceptions it swallows,
caches, failures as texts, coworkers that it finds by a name that is only similar."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai")

from tests.hosts.crewai.driver import (
    DRIVER,
    Scripted,
    crew_of,
    tools_of,
)  # first, so that it sends no telemetry

from crewai import Agent, Crew, Task  # isort: skip
from crewai.hooks.dispatch import HookAborted, InterceptionPoint, scoped_hooks  # isort: skip
from crewai.tools import tool as as_tool  # isort: skip
from crewai.tools.tool_failure import ToolFailure  # isort: skip
from pydantic import BaseModel  # isort: skip

from stanchion import Refused
from stanchion.hosts import Hosted
from stanchion.hosts.crewai import CREWAI, WITHHELD, CrewRuns, guarded, guarding
from stanchion.testing import shield_for
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Call, Scene, Turn, check, check_probes
from tests.hosts.office import called_with
from tests.rules import rule

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning"
)  # the framework's own

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("root"),
        called_with("end", "halt"),
        rule("bad", "prompt", when="event.text.matches('bad')", action="block"),
        {"use": "secrets"},
    ],
}


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def calling(*calls: tuple[str, dict[str, Any]]) -> Turn:
    """A turn that calls tools."""
    return Turn(
        "1", calls=tuple([Call(f"c{at}", tool, args) for at, (tool, args) in enumerate(calls)])
    )


def scene_of(tmp_path: Path, *turns: Turn) -> Scene:
    """A scene under the rules of this file."""
    return Scene(shield_for(RULES), turns, "sync", tmp_path)


def kicked_off(scene: Scene, crew: Any = None) -> str:
    """What a guarded crew answers."""
    made = crew_of(scene) if crew is None else crew
    return str(guarded(made, scene.shield, agent=scene.agent, task=scene.task).kickoff().raw)


def decided(scene: Scene) -> list[Any]:
    """What was decided about tools."""
    kept = [one.read() for one in scene.shield.journal.kept()]
    return [(one.stage, one.action) for one in kept if one.tool]


def test_crewai_runs_a_tool_although_a_hook_before_it_has_raised(tmp_path: Path) -> None:
    """Why no hook of ours raises anything but `HookAborted`."""

    def broken(ctx: Any) -> None:
        raise RuntimeError("the guard is broken")

    scene = scene_of(tmp_path, calling(("look", {"name": "bob"})), Turn("2", "done"))
    with scoped_hooks({InterceptionPoint.PRE_TOOL_CALL: [broken]}):
        crew_of(scene).kickoff()
    assert scene.ran == [("look", {"name": "bob"})]


def test_no_tool_runs_where_our_own_hook_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Hosted.report

    def broken(self: Hosted, stage: Any, **fields: Any) -> Any:
        if stage == "tool_call":
            raise RuntimeError("the adapter is broken")
        return report(self, stage, **fields)

    monkeypatch.setattr(Hosted, "report", broken)
    scene = scene_of(tmp_path, calling(("look", {"name": "bob"})), Turn("2", "done"))
    assert kicked_off(scene) == "done"
    assert scene.ran == []
    assert "blocked" in scene.asked[-1][-1]


def test_a_result_is_withheld_where_our_own_hook_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Hosted.report

    def broken(self: Hosted, stage: Any, **fields: Any) -> Any:
        if stage == "tool_result":
            raise RuntimeError("the adapter is broken")
        return report(self, stage, **fields)

    monkeypatch.setattr(Hosted, "report", broken)
    scene = scene_of(tmp_path, calling(("look", {"name": "ann"})), Turn("2", "done"))
    assert kicked_off(scene) == "done"
    assert WITHHELD in scene.asked[-1]
    assert KEY not in str(scene.asked)


def test_hooks_of_a_scope_around_it_still_work_and_a_call_that_they_abort_does_not_run(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def aborts(ctx: Any) -> None:
        seen.append(ctx.tool_name)
        raise HookAborted("no")

    scene = scene_of(tmp_path, calling(("look", {"name": "ann"})), Turn("2", "done"))
    with scoped_hooks({InterceptionPoint.PRE_TOOL_CALL: [aborts]}):
        assert kicked_off(scene) == "done"
    assert (seen, scene.ran) == (["look"], [])
    assert "blocked by hook" in scene.asked[-1][-1]


def test_the_result_of_a_call_that_nobody_has_judged_is_withheld(tmp_path: Path) -> None:
    class Result:
        tool_input, tool_result, tool, agent = {}, KEY, None, None  # type: ignore[var-annotated]

    scene = scene_of(tmp_path)
    with CREWAI.run(scene.shield, "helper") as hosted:
        assert CrewRuns(hosted, []).after(Result()) == WITHHELD


def test_the_end_of_a_run_ends_the_crew_and_it_is_not_tried_again(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, calling(("look", {"name": "end"})), Turn("2", "never said"))
    with pytest.raises(HookAborted) as raised:
        kicked_off(scene)
    assert isinstance(raised.value.__cause__, Refused)
    assert raised.value.__cause__.ended
    assert (scene.ran, len(scene.asked)) == ([], 1)


def test_what_a_task_asks_for_is_judged_once(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, calling(("look", {"name": "bob"})), Turn("2", "done"))
    kicked_off(scene)
    kept = [one.read() for one in scene.shield.journal.kept()]
    assert [one.stage for one in kept].count("prompt") == 1
    crew = crew_of(scene)
    crew.tasks[0].description = "a bad task"
    with pytest.raises(HookAborted, match="a rule of the policy forbids this"):
        kicked_off(scene, crew)


REACT = "Thought: I look.\nAction: {}\nAction Input: {}"


def test_an_agent_that_writes_its_calls_as_text_is_guarding(tmp_path: Path) -> None:
    texts = [REACT.format("look", json.dumps({"name": name})) for name in ("root", "ann", "nobody")]
    turns = [
        *[Turn(str(at), text) for at, text in enumerate(texts)],
        Turn("9", "Thought: I know.\nFinal Answer: done"),
    ]
    scene = scene_of(tmp_path, *turns)
    assert (
        kicked_off(scene, crew_of(scene, Scripted(model="text", ask=scene.ask, native=False)))
        == "done"
    )
    assert scene.ran == [
        ("look", {"name": "ann"}),
        ("look", {"name": "nobody"}),
    ]  # and not six times
    said = ["\n".join(texts) for texts in scene.asked]
    assert "a rule of the policy forbids this" in said[1]
    assert "ann's key is [redacted" in said[2]
    assert "no page for nobody" in said[3]
    assert KEY not in str(scene.asked)
    assert ("error", "REDACT") in decided(scene)


def test_what_crewai_has_cached_is_redacted_again(tmp_path: Path) -> None:
    scene = scene_of(
        tmp_path,
        calling(("look", {"name": "ann"})),
        calling(("look", {"name": "ann"})),
        Turn("3", "done"),
    )
    assert kicked_off(scene, crew_of(scene, cache=True)) == "done"
    assert KEY not in str(scene.asked)
    assert "\n".join(scene.asked[-1]).count("ann's key is [redacted") == 2
    assert decided(scene) == [("tool_call", "ALLOW"), ("tool_result", "REDACT")] * 2


def test_a_failure_that_a_tool_reports_is_judged_as_one(tmp_path: Path) -> None:
    @as_tool("fails")
    def fails(name: str) -> Any:
        """Fail."""
        return ToolFailure(message=f"no {KEY}", code="not_found")

    scene = scene_of(tmp_path, calling(("fails", {"name": "x"})), Turn("2", "done"))
    assert kicked_off(scene, crew_of(scene, tools=[fails])) == "done"
    assert decided(scene) == [("tool_call", "ALLOW"), ("error", "REDACT")]
    assert "no [redacted" in str(scene.asked[-1])
    assert KEY not in str(scene.asked)


class Page(BaseModel):
    """A reply that is a model of data."""

    owner: str
    note: str


def test_replies_of_every_kind_are_redacted_in_their_own_type(tmp_path: Path) -> None:
    replies = iter(
        [f"it is {KEY}", Page(owner="ann", note=KEY), [{"id": "1", "function": {"arguments": KEY}}]]
    )

    class Says(Scripted):
        def call(self, messages: Any, tools: Any = None, **options: Any) -> Any:
            return next(replies)

    scene = scene_of(tmp_path)
    llm = Says(model="says", ask=scene.ask)
    crew = crew_of(scene, llm)
    with CREWAI.run(scene.shield, scene.agent, scene.task) as hosted, guarding(crew, hosted):
        assert llm.call("hello") == "it is [redacted:github-pat]"
        assert llm.call("hello", response_model=Page) == Page(
            owner="ann", note="[redacted:github-pat]"
        )
        assert llm.call("hello") == [
            {"id": "1", "function": {"arguments": "[redacted:github-pat]"}}
        ]


def test_functions_that_a_models_client_runs_by_itself_are_guarding(tmp_path: Path) -> None:
    class Runs(Scripted):
        def call(
            self, messages: Any, tools: Any = None, available_functions: Any = None, **options: Any
        ) -> Any:
            return available_functions["look"](name=messages[0]["content"])

    scene = scene_of(tmp_path)
    llm = Runs(model="runs", ask=scene.ask)
    functions = {"look": scene.tools[0]}
    with (
        CREWAI.run(scene.shield, scene.agent, scene.task) as hosted,
        guarding(crew_of(scene, llm), hosted),
    ):
        assert llm.call("root", None, callbacks=None, available_functions=functions).startswith(
            "a rule of the policy forbids this"
        )
        assert llm.call("bob", available_functions=functions) == "page of bob"
    assert scene.ran == [("look", {"name": "bob"})]


def test_each_agent_works_in_a_run_of_its_own(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, calling(("look", {"name": "bob"})), Turn("2", "done"))
    llm = Scripted(model="scripted", ask=scene.ask)
    about = {"goal": "help", "backstory": "a helper", "llm": llm, "tools": tools_of(scene)}
    agents = [Agent(role=role, **about) for role in ("helper", "writer")]
    tasks = [
        Task(description=f"be a {one.role}", expected_output="an answer", agent=one)
        for one in agents
    ]
    kicked_off(scene, Crew(agents=agents, tasks=tasks))
    kept = [one.read() for one in scene.shield.journal.kept()]
    assert [(one.stage, one.agent) for one in kept if one.stage in ("prompt", "tool_call")] == [
        ("prompt", "helper"),
        ("tool_call", "helper"),
        ("prompt", "writer"),
    ]


def test_an_agent_without_a_crew_is_guarding(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, calling(("look", {"name": "root"})), Turn("2", "root stays"))
    llm = Scripted(model="scripted", ask=scene.ask)
    agent = Agent(role="helper", goal="help", backstory="a helper", llm=llm, tools=tools_of(scene))
    said = guarded(agent, scene.shield).kickoff("read the page of root")
    assert said.raw == "root stays"
    assert scene.ran == []
    assert "a rule of the policy forbids this" in str(scene.asked[-1])
