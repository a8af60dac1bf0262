"""Runs inside runs, processes, and what is written down of all of them."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import MemoryJournal
from stanchion.audit.reader import TrailReader, WantedRecords
from stanchion.hosts import Part, survey
from stanchion.ops.views.coverage import coverage
from stanchion.ops.views.trails import chosen
from stanchion.runtime.coverage import hook
from stanchion.runtime.coverage.sightings import MOST
from stanchion.runtime.errors import Ungoverned
from tests.runtime.coverage.doing import BARE, facts, in_thread, named, watching, write


def test_a_run_that_begins_inside_another_is_its_child() -> None:
    shield, _ = watching()
    with shield.run(agent="top", deadline_s=60) as top, shield.run(agent="sub") as sub:
        assert sub.desk.info.parents == (top.id,)
        assert sub.desk.deadline_at_ms == top.desk.deadline_at_ms
        top.cancel()
        assert sub.check("anything", {}).code == "kernel.cancelled"


def test_without_coverage_it_is_a_run_of_its_own() -> None:
    shield = Shield.load(BARE, store="memory:", journal="memory:")
    with shield.run(), shield.run() as beside:
        assert beside.desk.info.parents == ()


@pytest.mark.parametrize("spawned", [False, True])
def test_what_a_sub_agent_does_beside_its_calls_is_named_for_it(
    tmp_path: Path, spawned: bool
) -> None:
    shield, journal = watching()
    ids: list[str] = []

    def delegate() -> str:
        with top.spawn(agent="sub") if spawned else shield.run(agent="sub") as sub:
            ids.append(sub.id)
            sub.call(write, tmp_path / "guarded")
            return write(tmp_path / "open")

    with shield.run(agent="top") as top:
        top.call(delegate)
    assert [(fact.run, fact.data["target"]) for fact in facts(journal)] == [
        (ids[0], str(tmp_path / "open"))
    ]


def test_a_forked_process_is_watched_on(tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with (
        Shield.load(BARE, store="memory:", journal=trail, coverage="observe") as shield,
        shield.run(agent="ann") as run,
    ):
        write(tmp_path / "parent")
        child = multiprocessing.get_context("fork").Process(
            target=write, args=(tmp_path / "child",)
        )
        child.start()
        child.join()
    found = coverage(chosen(TrailReader(trail), WantedRecords()), run.id)
    assert {one.target for one in found.escaped if one.kind == "file"} == {
        str(tmp_path / "parent"),
        str(tmp_path / "child"),
    }


def test_nothing_is_heard_where_nobody_asks() -> None:
    code = """
import sys
def never(hook): raise AssertionError("a hook was installed")
sys.addaudithook = never
from stanchion import Shield
with Shield.load({"name": "bare", "guards": []}, store="memory:", journal="memory:").run() as run:
    run.call(lambda: None)
    run.model(lambda messages: "hello", [])
assert not [name for name in sys.modules if name.startswith("stanchion.runtime.coverage.hook")]
"""
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_the_same_is_written_once_and_counted(tmp_path: Path) -> None:
    shield, journal = watching()
    with shield.run() as run:
        for _ in range(5):
            write(tmp_path / "file")
        run.call(lambda: None)
    assert len(facts(journal)) == 1
    assert facts(journal, "coverage.watched")[0].data == {
        "mode": "observe",
        "escaped": 5,
        "different": 1,
    }


def test_what_is_written_is_bounded(tmp_path: Path) -> None:
    shield, journal = watching()
    with shield.run():
        for number in range(MOST + 3):
            write(tmp_path / str(number))
    assert len(facts(journal)) == MOST
    assert facts(journal, "coverage.watched")[0].data["left_out"] == 3


def test_a_finaliser_that_strikes_while_a_lock_is_held_is_no_deadlock(tmp_path: Path) -> None:
    class Finalised:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            write(tmp_path / "file")

    class Collecting(MemoryJournal):
        def write(self, *given: Any, **more: Any) -> int:
            with self._lock:
                gc.collect()
            return super().write(*given, **more)

    shield = Shield.load(BARE, store="memory:", journal=Collecting(), coverage="observe")
    with shield.run() as run:
        gc.disable()
        try:
            Finalised()
            run.check("anything", {})
        finally:
            gc.enable()
    assert (tmp_path / "file").exists()


def test_what_the_trail_does_not_take_is_written_at_the_end(tmp_path: Path) -> None:
    shield, journal = watching()
    told, lost = journal.tell, [True]

    def tell(fact: Any) -> None:
        if lost:
            raise AuditLost("the disk is full")
        told(fact)

    journal.tell = tell  # type: ignore[method-assign]
    with shield.run():
        write(tmp_path / "file")
        assert named(journal) == []
        lost.clear()
    assert named(journal) == [("tool", "write")]


def test_a_run_that_did_nothing_says_nothing() -> None:
    shield, journal = watching()
    with shield.run():
        pass
    assert facts(journal, "coverage.watched") == []


@pytest.mark.parametrize("mode", ["observe", "refuse"])
def test_what_an_adapter_finds_unguarded_is_named(mode: str) -> None:
    shield, journal = watching(mode)
    parts = [
        Part("tool", "search", True),
        Part("tool", "shell", False, "agent `writer`"),
        Part("agent", "sub", False),
    ]
    with shield.run() as run:
        if mode == "refuse":
            with pytest.raises(
                Ungoverned, match="nothing guards the tool `shell`, the agent `sub`"
            ):
                survey(run, parts)
        else:
            assert survey(run, parts) == tuple(parts[1:])
    assert [(fact.about, fact.data["place"]) for fact in facts(journal, "coverage.unguarded")] == [
        ("tool:shell", "agent `writer`"),
        ("agent:sub", ""),
    ]


def test_a_survey_without_coverage_only_gives_what_is_open() -> None:
    with Shield.load(BARE, store="memory:", journal="memory:").run() as run:
        assert survey(run, [Part("tool", "shell", False)]) == (Part("tool", "shell", False),)


def test_two_runs_at_once_keep_what_is_theirs(tmp_path: Path) -> None:
    shield, journal = watching()

    def work(name: str) -> None:
        with shield.run(id=name) as run:
            run.call(write, tmp_path / f"{name}-guarded")
            write(tmp_path / name)

    for name in ("one", "two"):
        in_thread(lambda name=name: work(name))  # type: ignore[misc]
    assert [(fact.run, Path(fact.data["target"]).name) for fact in facts(journal)] == [
        ("one", "one"),
        ("two", "two"),
    ]


@pytest.mark.parametrize("mode", ["observe", "refuse"])
def test_what_cannot_be_checked_is_stopped_only_where_the_shield_refuses(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a stack that nobody understands")

    shield, _ = watching(mode)
    with shield.run(), monkeypatch.context() as patched:
        patched.setattr(hook, "look", broken)
        if mode == "refuse":
            with pytest.raises(Ungoverned, match="could not be checked"):
                write(tmp_path / "file")
        else:
            write(tmp_path / "file")
    assert (tmp_path / "file").exists() == (mode == "observe")


def test_operators_hear_of_it_once(tmp_path: Path) -> None:
    shield, _ = watching()
    heard: list[Any] = []
    shield.occurrences.subscribe(heard.append, each=True)
    with shield.run(agent="ann", id="r"):
        for _ in range(3):
            write(tmp_path / "file")
    (one,) = [one for one in heard if one.kind == "coverage.escaped"]
    assert (one.run, one.text.startswith("`tool:write` passed by: `open` of ")) == ("r", True)


def test_a_mode_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="write `observe` or `refuse`"):
        watching("watch")
