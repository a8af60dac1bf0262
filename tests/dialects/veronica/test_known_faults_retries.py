"""Fault 8 of an earlier execution shield: retries of nested layers multiplied; each test fails
where Stanchion's do."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from stanchion import Run, Shield, current_run
from stanchion.testing import ScriptedTool, shield_for

SAFE = {"annotations": ["idempotent"]}
POLICY: dict[str, Any] = {
    "name": "layers",
    "tools": {"leaf": SAFE, "inner": SAFE, "middle": SAFE, "outer": SAFE},
    "guards": [{"use": "recovery", "max_retries": 3, "backoff_base_s": 0}],
}


def leaf() -> ScriptedTool:
    """A tool that never works."""
    return ScriptedTool(*[ConnectionError("down") for _ in range(100)], name="leaf")


def here() -> Run:
    """The run around the caller."""
    run = current_run()
    assert run is not None
    return run


def test_fault_08_three_retrying_layers_round_one_leaf_call_it_four_times() -> None:
    """As often as one layer would: once, and three times again. Not four times four times four."""
    shield, failing = shield_for(POLICY), leaf()

    def inner() -> Any:
        return here().call(failing)

    def outer() -> Any:
        return here().call(inner)

    with shield.run("a", id="r") as run, pytest.raises(ConnectionError):
        run.call(outer)
    assert failing.count == 4
    assert shield.store.read("{default}retry:run:r")[0] == 3


def test_fault_08_the_same_through_children_that_retry() -> None:
    """A layer that is another agent's run shares the same allowance."""
    shield, failing = shield_for(POLICY), leaf()

    def inner() -> Any:
        with here().spawn("worker") as run:
            return run.call(failing)

    def outer() -> Any:
        with here().spawn("lead") as run:
            return run.call(inner)

    with shield.run("a") as run, pytest.raises(ConnectionError):
        run.call(outer)
    assert failing.count == 4


def test_fault_08_the_same_on_an_event_loop_and_in_threads() -> None:
    """Async layers, a sync one that works in a thread, and one with a time limit of its own."""
    shield = Shield.load(
        {**POLICY, "tools": {**POLICY["tools"], "middle": {**SAFE, "timeout_s": 60}}},
        store="memory:",
    )
    failing = leaf()
    threads: set[int] = set()

    def inner() -> Any:
        threads.add(threading.get_ident())
        return here().call(failing)

    async def middle() -> Any:
        return await here().acall(inner)

    async def outer() -> Any:
        return await here().acall(middle)

    async def main() -> None:
        async with shield.run("a") as run:
            await run.acall(outer)

    with pytest.raises(ConnectionError):
        asyncio.run(main())
    assert failing.count == 4
    assert threading.get_ident() not in threads


def test_fault_08_a_layer_that_succeeds_after_its_leaf_did_not_adds_one_call() -> None:
    """Each retry is one more call of the leaf, whichever layer makes it."""
    shield = shield_for({**POLICY, "tools": {"outer": SAFE}})
    failing = ScriptedTool(ConnectionError("down"), ConnectionError("down"), "up", name="leaf")

    def outer() -> Any:
        return here().call(failing)

    with shield.run("a") as run:
        assert run.call(outer) == "up"
    assert failing.count == 3


def test_fault_08_another_call_of_the_same_run_has_retries_again() -> None:
    """The allowance ends with the outermost call; the run's own does not."""
    shield = shield_for({**POLICY, "guards": [{**POLICY["guards"][0], "per_run": 5}]})
    first, second = leaf(), leaf()
    run = shield.run("a")
    for failing in (first, second):
        with pytest.raises(ConnectionError):
            run.call(failing)
    assert (first.count, second.count) == (4, 3)
