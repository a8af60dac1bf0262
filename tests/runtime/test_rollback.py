"""Rollback: what a run did is undone newest first, each call once, and each is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.runtime.deciding import undos as undoing
from stanchion.testing import shield_for
from tests.audit.written import of_kind, whole
from tests.runtime.guards import says

BARE: dict[str, Any] = {"name": "bare"}


class Desk:
    """Things that can be put down and taken away again."""

    def __init__(self, shield: Shield) -> None:
        self.there: list[str] = []
        self.undone: list[str] = []
        self.put = shield.tool(name="put", undo=self.take)(self._put)
        self.plain = shield.tool(name="plain")(self._put)

    def _put(self, thing: str) -> str:
        self.there.append(thing)
        return thing

    def take(self, thing: str) -> None:
        """Undo a put."""
        self.there.remove(thing)
        self.undone.append(thing)
        if thing.startswith("stuck"):
            raise OSError("stuck")


def test_the_newest_is_undone_first_and_only_what_can_be() -> None:
    """Calls of tools without an undo stay."""
    shield = shield_for(BARE)
    desk = Desk(shield)
    run = shield.run("a")
    for thing in ("a", "b", "c"):
        run.call(desk.put, thing)
    run.call(desk.plain, "stays")
    told = run.rollback()
    assert desk.undone == ["c", "b", "a"]
    assert desk.there == ["stays"]
    assert [(one.tool, one.error) for one in told] == [("put", "")] * 3


def test_an_undo_runs_once() -> None:
    """Rolling back again does nothing, nor does a call whose refused result was undone before."""
    shield = shield_for(
        BARE, guards=[says(Action.BLOCK, Stage.TOOL_RESULT, tools=frozenset({"refused"}))]
    )
    desk = Desk(shield)
    run = shield.run("a")
    refused = shield.tool(name="refused", undo=desk.take)(desk._put)
    run.call(desk.put, "a")
    with pytest.raises(Refused):
        run.call(refused, "b")
    assert desk.undone == ["b"]
    assert len(run.rollback()) == 1
    assert run.rollback() == ()
    assert desk.undone == ["b", "a"]


def test_an_undo_that_fails_does_not_keep_the_others_from_running() -> None:
    """The agent is told, and the caller gets both."""
    shield = shield_for(BARE)
    desk = Desk(shield)
    run = shield.run("a")
    for thing in ("a", "stuck", "c"):
        run.call(desk.put, thing)
    assert [one.error for one in run.rollback()] == ["", "OSError", ""]
    assert desk.undone == ["c", "stuck", "a"]
    assert run.notices() == ("`put` could not be undone: `OSError`",)


def test_a_call_that_failed_is_not_undone() -> None:
    """It said itself that it did not do its work."""
    shield = shield_for(BARE)
    undone: list[str] = []

    @shield.tool(undo=undone.append)
    def fails(thing: str) -> None:
        raise ValueError(thing)

    run = shield.run("a")
    with pytest.raises(ValueError, match="a"):
        run.call(fails, "a")
    assert run.rollback() == ()
    assert undone == []


def test_what_children_did_is_part_of_it_in_one_order() -> None:
    """A child's own rollback is its own; its parent's takes what is left."""
    shield = shield_for(BARE)
    desk = Desk(shield)
    run = shield.run("a")
    run.call(desk.put, "first")
    child, other = run.spawn("b"), run.spawn("c")
    child.call(desk.put, "child")
    run.call(desk.put, "second")
    other.call(desk.put, "other")
    assert len(child.rollback()) == 1
    run.rollback()
    assert desk.undone == ["child", "other", "second", "first"]
    assert other.rollback() == ()


def test_so_many_are_remembered_and_the_agent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest is forgotten first."""
    monkeypatch.setattr(undoing, "MAX_UNDO", 3)
    shield = shield_for(BARE)
    desk = Desk(shield)
    run = shield.run("a")
    for number in range(5):
        run.call(desk.put, str(number))
    assert run.notices() == (
        "more than 3 calls could be undone: from now on the oldest can no longer be undone",
    )
    run.rollback()
    assert desk.undone == ["4", "3", "2"]


def test_a_thousand_are_remembered() -> None:
    """As documented."""
    assert undoing.MAX_UNDO == 1_000


def test_async_tools_and_undos() -> None:
    """Awaited like any other."""
    shield = shield_for(BARE)
    undone: list[str] = []

    async def take(thing: str) -> None:
        await asyncio.sleep(0)
        undone.append(thing)

    @shield.tool(undo=take)
    async def put(thing: str) -> str:
        return thing

    async def main() -> None:
        async with shield.run("a") as run:
            await put("a")
            await put("b")
            assert [one.error for one in await run.arollback()] == ["", ""]

    asyncio.run(main())
    assert undone == ["b", "a"]


def test_a_generator_tool_is_undone_once_however_many_items_it_gave() -> None:
    """One call, one undo; with its first item."""
    shield = shield_for(BARE)
    undone: list[int] = []

    @shield.tool(undo=undone.append)
    def many(number: int) -> Iterator[int]:
        yield from range(number)

    run = shield.run("a")
    assert list(run.call(many, 3)) == [0, 1, 2]
    assert len(run.rollback()) == 1
    assert undone == [3]


UNDONE: list[str] = []


def take_back(thing: str) -> None:
    """An undo that a policy names."""
    UNDONE.append(thing)


def test_a_policy_s_undo_is_found_by_the_closest_entry() -> None:
    """A glob undoes for all of its tools, unless a closer entry says nothing of it."""
    UNDONE.clear()
    undo = f"{__name__}:take_back"
    shield = shield_for({"name": "p", "tools": {"put_*": {"undo": undo}, "put_c": {"risk": "low"}}})
    run = shield.run("a")
    for name in ("put_a", "put_b", "put_c"):
        run.call(shield.tool(name=name)(lambda thing: thing), thing=name)
    run.rollback()
    assert UNDONE == ["put_b", "put_a"]


def test_a_fatal_error_rolls_back_where_the_policy_says_so() -> None:
    """And the error is handed on."""
    shield = shield_for({"name": "p", "guards": [{"use": "recovery"}]})
    desk = Desk(shield)
    run = shield.run("a")
    run.call(desk.put, "a")
    run.call(desk.put, "b")

    def breaks() -> None:
        raise MemoryError("full")

    with pytest.raises(MemoryError):
        run.call(breaks)
    assert desk.undone == ["b", "a"]
    run.call(desk.put, "c")
    assert desk.there == ["c"], "the run goes on"


def test_a_rule_that_ends_the_run_can_roll_it_back() -> None:
    """Its effect says so; the run is over before anything is undone."""
    rule = {
        "use": "rule",
        "id": "no-more",
        "stages": ["tool_call"],
        "when": "action.tool_name == 'wipe'",
        "message": "nobody wipes",
        "action": "halt",
        "effects": ["rollback"],
    }
    shield = shield_for({"name": "p", "guards": [rule]})
    desk = Desk(shield)
    run = shield.run("a")
    run.call(desk.put, "a")
    assert run.check("wipe", {}).action == Action.HALT
    assert desk.undone == ["a"]
    with pytest.raises(Refused):
        run.call(desk.put, "b")


def test_a_refused_result_with_a_rollback_is_undone_with_the_rest_and_first() -> None:
    """Newest first holds for the call itself."""
    guard = says(Action.HALT, Stage.TOOL_RESULT, tools=frozenset({"last"}), effects=("rollback",))
    shield = shield_for(BARE, guards=[guard])
    desk = Desk(shield)
    run = shield.run("a")
    run.call(desk.put, "a")
    last = shield.tool(name="last", undo=desk.take)(desk._put)
    with pytest.raises(Refused):
        run.call(last, "b")
    assert desk.undone == ["b", "a"]


def test_every_undo_is_in_the_trail(tmp_path: Path) -> None:
    """What was undone, for which call, and what could not be."""
    shield = shield_for(BARE, journal=Trail(tmp_path / "trail", TrailOptions()))
    desk = Desk(shield)
    run = shield.run("a", id="r")
    for thing in ("stuck", "b"):
        run.call(desk.put, thing)
    told = run.rollback()
    shield.close()
    (records,) = whole(tmp_path / "trail").values()
    facts = [
        (one["what"], one["about"], one["run"], one["data"]) for one in of_kind(records, "fact")
    ]
    assert facts == [
        ("undo.done", "tool:put", "r", {"call": told[0].call}),
        ("undo.failed", "tool:put", "r", {"call": told[1].call, "error": "OSError"}),
    ]
