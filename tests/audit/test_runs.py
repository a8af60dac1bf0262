"""Runs as a trail tells of them: how each stands, what it decided, and what it left without an
outcome."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield, Stage
from stanchion.audit.chain_lock import is_written
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.runs import NEWEST, RunStory, newest_runs, run_detail
from stanchion.audit.trail import Trail
from stanchion.testing import FakeClock, shield_for
from tests.live_folders import copy

POLICY = {
    "name": "p",
    "guards": [
        {"use": "tool_denylist", "id": "no", "tools": ["rm"]},
        {"use": "tool_denylist", "id": "stop", "tools": ["wipe"], "action": "halt"},
    ],
}


class World:
    """Processes that write one trail, one after the other or at the same time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock(1_000)
        self._pids = itertools.count(100)
        self._names = (f"{number:016x}" for number in itertools.count(1))
        self.trails: list[Trail] = []

    def process(self, policy: Any = POLICY, **options: Any) -> Shield:
        """A process with a shield."""
        pid = next(self._pids)
        self.trails.append(
            Trail(self.folder, TrailOptions(), self.clock, lambda: next(self._names), lambda: pid)
        )
        return shield_for(policy, clock=self.clock, journal=self.trails[-1], **options)

    def crash(self) -> None:
        """The process dies: what is there then is all there is, and nobody has it locked."""
        left = self.folder.with_name("left")
        copy(self.folder, left)
        self.trails.pop().close()
        self.folder = left

    def runs(self, most: int | None = None) -> dict[str, RunStory]:
        """The runs by their names."""
        return {story.run.id: story for story in newest_runs(TrailReader(self.folder), most)}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty trail."""
    return World(tmp_path / "trail")


def test_how_a_run_ended_is_told(world: World) -> None:
    shield = world.process(source="p.yaml", env="trial")
    with shield.run("ann", "t1", id="ended", role="r") as run:
        run.check("ls", {})
        run.check("rm", {})
        world.clock.advance(5_000)
    with shield.run(id="halted") as run:
        run.check("wipe", {})
    with shield.run(id="cancelled") as run:
        run.check("ls", {})
        run.cancel("too late")
    found = world.runs()
    assert {name: story.state for name, story in found.items()} == {name: name for name in found}
    ended = found["ended"]
    assert (ended.run.agent, ended.run.task, ended.run.role) == ("ann", "t1", "r")
    assert (ended.decided, ended.refused, ended.lasted_ms) == ({"ALLOW": 1, "BLOCK": 1}, 1, 5_000)
    assert (ended.source, ended.env, ended.policy) == ("p.yaml", "trial", shield.policy.hash)
    assert (found["cancelled"].code, found["cancelled"].why) == ("kernel.cancelled", "too late")
    shield.close()


def test_a_run_that_did_nothing_is_none(world: World) -> None:
    with world.process() as shield, shield.run(id="idle"):
        pass
    assert world.runs() == {}


def test_the_newest_come_first_and_no_more_than_asked_for(world: World) -> None:
    with world.process() as shield:
        for number in range(5):
            with shield.run(id=f"r{number}") as run:
                world.clock.advance(1)
                run.check("ls", {})
    assert list(world.runs()) == ["r4", "r3", "r2", "r1", "r0"]
    assert list(world.runs(2)) == ["r4", "r3"]


def test_a_run_is_open_while_its_process_lives(world: World) -> None:
    shield = world.process()
    run = shield.run(id="r")
    run.check("ls", {})
    run.check("rm", {})
    found = world.runs()["r"]
    assert (found.state, found.ended, found.decided) == ("open", None, {"ALLOW": 1, "BLOCK": 1})
    world.clock.advance(3_000)
    run.check("ls", {})
    assert (world.runs()["r"].lasted_ms, world.runs()["r"].decided["ALLOW"]) == (3_000, 2)
    shield.close()
    assert world.runs()["r"].state == "lost"


def lost_with_the_process(world: World) -> None:
    """The process dies, and nobody comes after it."""
    world.crash()


def lost_to_another(world: World) -> None:
    """The process dies, and another goes on with its chain and is alive."""
    world.crash()
    run = world.process().run(id="later")
    run.check("ls", {})


@pytest.mark.parametrize(
    "happens", [lost_with_the_process, lost_to_another], ids=lambda one: str(one.__doc__)
)
def test_a_run_whose_process_is_gone_is_lost(
    happens: Callable[[World], None], world: World
) -> None:
    shield = world.process()
    shield.run(id="r").check("ls", {})
    happens(world)
    found = world.runs()
    assert found["r"].state == "lost"
    assert {story.state for name, story in found.items() if name != "r"} <= {"open"}
    assert len({found.chain for found in TrailReader(world.folder).forwards()}) == 1
    for trail in world.trails:
        trail.close()


def test_asking_whether_a_chain_is_written_gets_in_nobodys_way(world: World) -> None:
    shield = world.process()
    shield.run(id="r").check("ls", {})
    folder = world.folder / world.trails[0].name
    assert is_written(folder)
    shield.run(id="r2").check("ls", {})
    shield.close()
    assert not is_written(folder)
    again = world.process()
    assert world.trails[-1].name == folder.name
    again.close()
    assert not is_written(world.folder / "none")


def test_a_name_that_is_used_again_is_another_run(world: World) -> None:
    with world.process() as shield:
        for tool, steps in (("ls", 3), ("rm", 1)):
            with shield.run(id="r") as run:
                for _ in range(steps):
                    run.check(tool, {})
    first, second = newest_runs(TrailReader(world.folder))
    assert [first.decided, second.decided] == [{"BLOCK": 1}, {"ALLOW": 3}]
    detail = run_detail(TrailReader(world.folder), "r")
    assert detail is not None
    assert [found.stub.tool for found in detail.newest] == ["rm"]


def test_a_run_that_went_on_under_another_policy_is_one(world: World, tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("name: one\n", encoding="utf-8")
    with world.process(file, source=file) as shield, shield.run(id="r") as run:
        run.check("ls", {})
        world.clock.advance(1_000)
        file.write_text("name: two\n", encoding="utf-8")
        shield.reload()
        run.check("ls", {})
        policy = shield.policy.hash
    (story,) = newest_runs(TrailReader(world.folder))
    assert (story.lasted_ms, story.policy, story.decided) == (1_000, policy, {"ALLOW": 2})


def ls() -> str:
    """A tool."""
    return "done"


def test_what_was_started_and_never_heard_of_again_is_told(world: World) -> None:
    with world.process() as shield, shield.run(id="r") as run:
        run.call(ls)
        lost = run.check("bash", {"command": "make"})
        with pytest.raises(Refused):
            run.call(shield.tool(name="rm")(ls))
        run.check("rm", {})
        asked = run.model_call([{"role": "user", "content": "hi"}])
        answered = run.model_call([{"role": "user", "content": "hi"}])
        run.model_reply("hello", call=answered.id)
        run.egress("https://example.org")
        run.error("bash", "OSError", call=run.check("bash", {}).id)
    detail = run_detail(TrailReader(world.folder), "r")
    assert detail is not None
    assert {found.stub.id for found in detail.unfinished} == {lost.id, asked.id}
    assert detail.unfinished_count == 2


def test_a_degraded_call_starts_once(world: World) -> None:
    def smaller(event: Any) -> Any:
        from stanchion import Action, Finding, Patch

        return (
            Finding(Action.DEGRADE, "x.y", text="-", patches=(Patch(("model",), "s"),))
            if event.model == "l"
            else None
        )

    smaller.stages = ["model_call"]  # type: ignore[attr-defined] # where it stands
    with world.process({"name": "p"}, guards=[smaller]) as shield, shield.run(id="r") as run:
        run.judge(Stage.MODEL_CALL, messages=[], model="l")
    detail = run_detail(TrailReader(world.folder), "r")
    assert detail is not None
    assert [found.stub.action for found in detail.newest] == ["ALLOW", "DEGRADE"]
    assert detail.unfinished_count == 1


def test_a_long_run_is_told_in_a_few_lines(world: World) -> None:
    with world.process() as shield, shield.run(id="r") as run:
        for number in range(NEWEST + 5):
            run.check("ls", {"number": number})
    detail = run_detail(TrailReader(world.folder), "r")
    assert detail is not None
    assert len(detail.newest) == len(detail.unfinished) == NEWEST
    assert detail.unfinished_count == NEWEST + 5
    assert detail.newest[0].entry().content == {"number": NEWEST + 4}


def test_what_a_run_produced_comes_with_its_end(world: World) -> None:
    with world.process() as shield, shield.run(id="r") as run:
        run.keep({"draft": 1})
        run.call(ls)
    detail = run_detail(TrailReader(world.folder), "r")
    assert detail is not None
    assert detail.story.produced == ({"draft": 1}, "done")


def test_there_is_no_run_of_another_name(world: World) -> None:
    with world.process() as shield, shield.run(id="r") as run:
        run.check("r2", {"run": "r2"})
    assert run_detail(TrailReader(world.folder), "r2") is None
