"""Agno: the behaviour suite, and what only this host has: hooks that it skips or whose errors it
swallows, tools that give generators, teams whose leader delegates to all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agno")

from tests.hosts.agno.driver import (
    DRIVER,
    Scripted,
    agent_of,
)  # first, so that it sends no telemetry

from agno.agent import Agent  # isort: skip
from agno.exceptions import StopAgentRun  # isort: skip
from agno.run.base import RunStatus  # isort: skip
from agno.team import Team  # isort: skip
from agno.tools.function import Function, ToolResult  # isort: skip

from stanchion import Action, Finding, Patch
from stanchion.hosts import Hosted
from stanchion.hosts.agno import AGNO, ALL, guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Call, Scene, Turn, check, check_probes
from tests.hosts.office import called_with
from tests.rules import rule

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("root"),
        called_with("end", "halt"),
        rule("bad", "prompt", when="event.text.matches('bad')", action="block"),
        rule("vault", "handoff", when="event.to == 'vault'", action="block"),
        {"use": "secrets"},
    ],
}
WAYS = pytest.mark.parametrize("way", ["sync", "async"])


@WAYS
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


def scene_of(tmp_path: Path, way: str, *turns: Turn, **options: Any) -> Scene:
    """A scene under the rules of this file."""
    return Scene(shield_for(RULES, **options), turns, way, tmp_path)


def ran(scene: Scene, agent: Any = None, prompt: str = "do it") -> Any:
    """What Agno gives for a run of a guarded agent."""
    made = agent_of(scene) if agent is None else agent

    async def later() -> Any:
        async with AGNO.run(scene.shield, scene.agent, scene.task) as hosted:
            return await guarded(made, hosted).arun(prompt)

    if scene.is_async:
        return asyncio.run(later())
    with AGNO.run(scene.shield, scene.agent, scene.task) as hosted:
        return guarded(made, hosted).run(prompt)


def with_tools(scene: Scene, *tools: Any, **options: Any) -> Any:
    """An agent with other tools."""
    return Agent(
        name="helper", model=Scripted(ask=scene.ask), tools=list(tools), telemetry=False, **options
    )


@WAYS
def test_the_end_of_a_run_ends_the_agent_and_it_is_not_tried_again(
    way: str, tmp_path: Path
) -> None:
    scene = scene_of(tmp_path, way, calling(("look", {"name": "end"})), Turn("2", "never said"))
    came = ran(scene, agent_of(scene, retries=2))
    assert came.status == RunStatus.error
    assert "the run has ended" in came.content
    assert (scene.ran, len(scene.asked)) == ([], 1)


@WAYS
def test_what_the_user_asks_for_is_judged(way: str, tmp_path: Path) -> None:
    scene = scene_of(tmp_path, way, Turn("1", "done"))
    assert ran(scene, prompt=f"use {KEY}").content == "done"
    assert scene.asked[0][-1] == "use [redacted:github-pat]"
    came = ran(scene, prompt="a bad thing")
    assert (came.status, len(scene.asked)) == (RunStatus.error, 1)
    assert "a rule of the policy forbids this" in came.content


@WAYS
def test_agno_does_not_go_on_where_our_own_guardrail_fails(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Hosted, stage: Any, **fields: Any) -> Any:
        raise RuntimeError("the adapter is broken")

    monkeypatch.setattr(Hosted, "report", broken)
    monkeypatch.setattr(Hosted, "areport", broken)
    scene = scene_of(tmp_path, way, Turn("1", "done"))
    came = ran(scene)
    assert (came.status, came.content) == (RunStatus.error, "the input could not be judged")
    assert not scene.asked


@WAYS
def test_a_result_with_metadata_is_redacted_in_its_own_type(way: str, tmp_path: Path) -> None:
    seen: list[Any] = []

    def find(name: str) -> ToolResult:
        """Find."""
        return ToolResult(content=f"{name}: {KEY}", metadata={"raw": KEY})

    def watching(function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
        seen.append(arguments)
        return function_call(**arguments)

    scene = scene_of(tmp_path, way, calling(("find", {"name": "ann"})), Turn("2", "done"))
    assert ran(scene, with_tools(scene, find, tool_hooks=[watching])).content == "done"
    assert seen == [{"name": "ann"}]
    assert scene.asked[-1][-1] == "ann: [redacted:github-pat]"


@WAYS
def test_the_pieces_that_a_tool_gives_are_judged(way: str, tmp_path: Path) -> None:
    def pages(name: str) -> Iterator[str]:
        """Read pages."""
        yield f"{name}: "
        yield f"key {KEY} "
        yield "end"

    scene = scene_of(tmp_path, way, calling(("pages", {"name": "ann"})), Turn("2", "done"))
    assert ran(scene, with_tools(scene, pages)).content == "done"
    assert scene.asked[-1][-1] == "ann: key [redacted:github-pat] end"


@WAYS
def test_a_tool_that_stops_its_agent_still_does(way: str, tmp_path: Path) -> None:
    def stops(name: str) -> str:
        """Stop."""
        raise StopAgentRun("enough")

    scene = scene_of(tmp_path, way, calling(("stops", {"name": "x"})), Turn("2", "never said"))
    ran(scene, with_tools(scene, stops))
    assert len(scene.asked) == 1
    kept = [one.read() for one in scene.shield.journal.kept()]
    assert [one.stage for one in kept if one.tool] == ["tool_call", "error"]


@WAYS
@pytest.mark.parametrize("names", [("desk", "shop"), ("desk", "vault")])
def test_delegating_to_all_is_a_handoff_to_each(
    names: tuple[str, str], way: str, tmp_path: Path
) -> None:
    turns = [calling((ALL, {"task": "look"})), *[Turn(str(at), "done") for at in range(3)]]
    scene = scene_of(tmp_path, way, *turns)
    members = [Agent(name=name, model=Scripted(ask=scene.ask), telemetry=False) for name in names]
    options = {"delegate_to_all_members": True, "telemetry": False}
    ran(scene, Team(name="helper", members=members, model=Scripted(ask=scene.ask), **options))
    kept = [one.read() for one in scene.shield.journal.kept()]
    told = [(one.beside["to"], one.action) for one in kept if one.stage == "handoff"]
    is_refused = "vault" in names
    assert told == [(names[0], "ALLOW"), (names[1], "BLOCK" if is_refused else "ALLOW")]
    assert len(scene.asked) == (2 if is_refused else 4)
    assert {one.agent for one in kept if one.stage == "model_call"} == (
        {"helper"} if is_refused else {"helper", *names}
    )


def test_a_cheaper_model_is_asked_where_that_is_decided(tmp_path: Path) -> None:
    asked: list[Any] = []

    class Noted(Scripted):
        max_tokens = 900

        def invoke(self, messages: list[Any], **options: Any) -> Any:
            asked.append((self.id, self.max_tokens))
            return super().invoke(messages, **options)

    scene = scene_of(tmp_path, "sync", Turn("1", "done"), guards=[cheaper])
    model = Noted(ask=scene.ask)
    assert ran(scene, Agent(name="helper", model=model, telemetry=False)).content == "done"
    assert asked == [("small", 100)]
    assert model.id == "scripted"


def cheaper(event: Any) -> Any:
    """Have a smaller model asked for less."""
    patches = (Patch(("model",), "small"), Patch(("params", "max_tokens"), 100))
    return Finding(Action.DEGRADE, "mine.cheaper", text="it is cheaper", patches=patches)


cheaper.stages = ("model_call",)  # type: ignore[attr-defined] # how a function says it


def test_every_model_of_an_agent_is_guarded(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "sync", Turn("1", "done"), Turn("2", f"it is {KEY}"))
    agent = Agent(
        name="helper",
        model=Scripted(ask=scene.ask),
        output_model=Scripted(ask=scene.ask),
        telemetry=False,
    )
    assert ran(scene, agent).content == "it is [redacted:github-pat]"


def test_a_reply_that_an_unguarded_agent_has_cached_is_not_used(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "sync", Turn("1", f"it is {KEY}"), Turn("2", f"it is {KEY}"))
    model = Scripted(ask=scene.ask, cache_response=True, cache_dir=str(tmp_path))
    agent = Agent(name="helper", model=model, telemetry=False)
    assert KEY in agent.run("do it").content
    assert KEY in agent.run("do it").content
    assert len(scene.asked) == 1
    assert ran(scene, agent).content == "it is [redacted:github-pat]"
    assert len(scene.asked) == 2


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda model: Agent(name="a"), "agent `a` has no model of its own"),
        (
            lambda model: Team(name="t", members=[], model=model, mode="tasks"),
            "team `t` finds its members",
        ),
        (lambda model: Team(name="t", members=list, model=model), "team `t` finds its members"),
        (
            lambda model: Agent(
                name="a",
                model=model,
                tools=[Function(name="f", entrypoint=len, tool_hooks=[print])],
            ),
            "the tool `f` has hooks",
        ),
    ],
)
def test_what_could_not_be_guarded_is_refused(make: Any, said: str, tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "sync")
    with AGNO.run(scene.shield, "helper") as hosted, pytest.raises(ValueError, match=f"^{said}"):
        guarded(make(Scripted(ask=scene.ask)), hosted)


def test_the_agent_itself_stays_as_it_was(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "sync", Turn("1", "done"))
    agent = agent_of(scene)
    before, model = dict(vars(agent)), dict(vars(agent.model))
    ran(scene, agent)
    assert {
        name: vars(agent)[name]
        for name in before
        if name in ("model", "tools", "tool_hooks", "pre_hooks")
    } == {name: before[name] for name in ("model", "tools", "tool_hooks", "pre_hooks")}
    assert vars(agent.model) == model
