"""Seals: another call than the judged one does not begin, and what a tool runs by itself is its own
affair."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from stanchion import Ungoverned
from stanchion.hosts.contract.sealing import opened, put_round, seal_of, sealed, unbroken

ARGS: dict[str, Any] = {"amount": 1, "to": {"name": "ann"}}
ADVICE = "put it before"


@pytest.mark.parametrize(
    ("tool", "args", "call"),
    [
        ("wipe", ARGS, "1"),
        ("pay", {**ARGS, "amount": 2}, "1"),
        ("pay", {"amount": 1}, "1"),
        ("pay", {**ARGS, "more": None}, "1"),
        ("pay", {**ARGS, "amount": "1"}, "1"),
        ("pay", ARGS, "2"),
    ],
)
def test_another_call_is_stopped(tool: str, args: dict[str, Any], call: str) -> None:
    said = r"the call of `pay` was changed after it was judged: put it before"
    with (
        sealed("pay", ARGS, "1"),
        pytest.raises(Ungoverned, match=said),
        opened(tool, args, ADVICE, call),
    ):
        raise AssertionError("it has begun")


def test_arguments_that_are_changed_in_place_are_others() -> None:
    args = copy.deepcopy(ARGS)
    seal = seal_of("pay", args)
    seal.check("pay", args, ADVICE)
    args["to"]["name"] = "eve"
    with pytest.raises(Ungoverned):
        seal.check("pay", args, ADVICE)


def test_the_judged_call_begins_as_often_as_it_is_made_and_nothing_after_it() -> None:
    with sealed("pay", ARGS):
        for _ in range(2):
            with opened("pay", copy.deepcopy(ARGS), ADVICE):
                pass
        with pytest.raises(Ungoverned), opened("wipe", {}, ADVICE):
            raise AssertionError("it has begun")
    with pytest.raises(Ungoverned, match="the call of `pay` was not judged: put it before"):
        unbroken("pay", ARGS, ADVICE)


def test_what_a_tool_runs_by_itself_is_its_own_affair_and_what_is_judged_there_is_sealed() -> None:
    with sealed("pay", ARGS), opened("pay", ARGS, ADVICE):
        unbroken("note", {"amount": 7}, ADVICE)
        with sealed("look", {}), pytest.raises(Ungoverned):
            unbroken("note", {"amount": 7}, ADVICE)


class Kind:
    """A tool of a framework."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, amount: int) -> str:
        return f"{self.name} {amount}"


async def doubled(run: Any, tool: Kind, amount: int) -> Any:
    return f"round {tool.name}: {await run(2 * amount)}"


def test_what_is_put_round_a_tool_is_put_once_and_stays_with_its_copies() -> None:
    tool, other = Kind("pay"), Kind("look")
    put_round(tool, "run", doubled)
    put_round(tool, "run", doubled)
    copied = copy.copy(tool)
    copied.name = "send"
    assert [asyncio.run(one.run(1)) for one in (tool, copied)] == [
        "round pay: pay 2",
        "round send: send 2",
    ]
    assert asyncio.run(other.run(1)) == "look 1"
    assert (type(tool).__name__, isinstance(tool, Kind)) == ("Kind", True)
