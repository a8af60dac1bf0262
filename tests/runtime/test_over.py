"""What is over says so: a closed shield, and the children of a closed run."""

from __future__ import annotations

import asyncio

import pytest

from stanchion import Refused, Shield

BUDGET = {"name": "p", "guards": [{"use": "budget", "tokens": 1_000}]}


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_a_closed_shield_says_that_it_is_closed(store: str, tmp_path: object) -> None:
    url = store if store == "memory:" else f"sqlite:{tmp_path}/state.db"
    shield = Shield.load({"name": "p"}, store=url)
    run = shield.run("ann")
    was_closed = shield.is_closed
    assert run.call(lambda: 1) == 1
    shield.close()
    assert (was_closed, shield.is_closed) == (False, True)
    with pytest.raises(Refused, match="what judges this was closed") as refused:
        run.call(lambda: 1)
    assert refused.value.decision.code == "kernel.shield_closed"
    assert run.check("read", {}).code == "kernel.shield_closed"


def test_the_children_of_a_closed_run_are_over() -> None:
    with Shield.load({"name": "p"}) as shield:
        parent, other = shield.run("ann"), shield.run("bob")
        child = parent.spawn("eve")
        below, beside = child.spawn("mia"), other.spawn("tom")
        parent.close()
        for run in (child, below):
            assert run.check("read", {}).code == "kernel.ended"
        assert beside.check("read", {}).proceeds
        asyncio.run(other.aclose())
        assert beside.check("read", {}).code == "kernel.ended"


def test_what_was_carved_out_for_a_child_comes_back_with_its_parent() -> None:
    with Shield.load(BUDGET) as shield, shield.run("ann") as first:
        parent = first.spawn("bob", budget={"tokens": 800})
        child = parent.spawn("eve", budget={"tokens": 600})
        assert child.check("look", {}, tokens=100).proceeds
        assert not first.check("look", {}, tokens=500).proceeds
        parent.close()
        assert first.check("look", {}, tokens=900).proceeds


def test_a_child_outlives_a_parent_that_nobody_keeps() -> None:
    with Shield.load({"name": "p"}) as shield:
        assert shield.run("ann").spawn("bob").check("read", {}).proceeds
