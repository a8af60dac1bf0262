"""What a store holds is shown as what it means: amounts in their unit, outcomes as numbers, records
in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from stanchion.kernel.state import Batch, Line, When, key
from stanchion.ops.views.names import name_of
from stanchion.ops.views.record_says import KINDS as WORDED, says
from stanchion.ops.views.stored import (
    CellView,
    CounterCell,
    OutcomesCell,
    RecordCell,
    RunCell,
    ShieldCell,
    by_tenant,
    cells,
    holds,
)
from stanchion.ops.views.veiled import json_line
from stanchion.stores.protocol import Store
from stanchion.testing import FakeClock
from tests.ops.views.shown import KINDS, START, stored, work


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, FakeClock]]:
    """A store in which something happened, and its clock."""
    clock = FakeClock(START)
    with stored(request.param, tmp_path, clock) as kept:
        work(kept, clock)
        yield kept, clock


def by_name(store: Store, clock: FakeClock, prefix: str = "") -> dict[str, CellView]:
    """Cells by their names."""
    return {cell.name: cell for cell in cells(store, prefix, clock())}


def test_amounts_say_what_they_measure(store: tuple[Store, FakeClock]) -> None:
    found = by_name(*store)
    spent = found["budget / spend / cost / run / first"]
    assert isinstance(spent, CounterCell)
    assert (spent.total, spent.measure, spent.window_ms) == (
        1_200_000,
        "cost_microusd",
        msgspec.UNSET,
    )
    hourly = found["budget / hourly / cost / agent / ann"]
    assert isinstance(hourly, CounterCell)
    assert (hourly.in_window, hourly.window_ms) == (1_200_000, 3_600_000)
    steps = found["steps / steps / run / first"]
    assert isinstance(steps, CounterCell)
    assert (steps.total, steps.measure) == (3, "")


def test_registers_are_shown_as_outcomes(store: tuple[Store, FakeClock]) -> None:
    found = by_name(*store)
    for name, expected in {
        "errors / tool / fetch": (2, 2, 2),
        "health / search": (3, 0, 0),
    }.items():
        cell = found[name]
        assert isinstance(cell, OutcomesCell)
        assert (cell.known, cell.failed, cell.failed_in_a_row) == expected


def test_records_are_shown_in_words(store: tuple[Store, FakeClock]) -> None:
    found = by_name(*store)
    said = {name: cell.says for name, cell in found.items() if isinstance(cell, RecordCell)}
    assert said["breaker / fetch / breaker"] == (
        "open until 2100-01-01 08:01:00Z, for 1 min, for run first alone"
    )
    assert said["time / run / first"] == "began 2100-01-01 08:00:00Z"
    assert said["loops / run / first"].startswith("4 calls seen, 0 of them in loops")
    assert [words for name, words in said.items() if name.startswith("ticket / ")] == [
        "open: pay, asked by ann"
    ]
    assert "" not in said.values(), said


def test_states_and_ends_are_told(store: tuple[Store, FakeClock]) -> None:
    found = by_name(*store)
    shield = found["shield"]
    assert isinstance(shield, ShieldCell)
    own, leak = shield.states
    assert (own.kind, own.state) == ("tenant", "normal")
    assert (leak.kind, leak.name, leak.state, leak.until_ms) == (
        "tool",
        "leak",
        "quarantine",
        START + 605_000,
    )
    end = found["run / third"]
    assert isinstance(end, RunCell)
    assert (end.run, end.code, end.why) == ("third", "kernel.cancelled", "it takes too long")


def test_a_state_that_has_ended_says_so(store: tuple[Store, FakeClock]) -> None:
    kept, clock = store
    clock.advance(10_000_000)
    shield = by_name(kept, clock)["shield"]
    assert isinstance(shield, ShieldCell)
    assert (shield.states[1].put, shield.states[1].state, shield.states[1].over) == (
        "quarantine",
        "normal",
        True,
    )


def test_a_hold_names_its_units(store: tuple[Store, FakeClock]) -> None:
    kept, _ = store
    (hold,) = holds(kept, "")
    took = {part.name: (part.amount, part.measure) for part in hold.took}
    assert took["budget / spend / tokens / run / second"] == (300, "tokens")
    assert took["budget / hourly / cost / agent / bob"] == (125_000, "cost_microusd")
    assert list(holds(kept, "nothing")) == []
    assert [one.id for one in holds(kept, "budget / spend / cost")] == [hold.id]


@pytest.mark.parametrize(
    "prefix",
    ["budget / spend / cost", "budget / spend / cost_microusd", "{default}budget:spend:cost"],
)
def test_a_prefix_is_a_name_in_words_or_as_it_is_kept(
    store: tuple[Store, FakeClock], prefix: str
) -> None:
    assert sorted(by_name(*store, prefix)) == [
        "budget / spend / cost / run / first",
        "budget / spend / cost / run / second",
    ]


def test_the_json_of_a_cell_has_its_kind(store: tuple[Store, FakeClock]) -> None:
    for cell in by_name(*store).values():
        data = msgspec.json.decode(json_line(cell))
        assert data["kind"] in {"shield", "run", "counter", "outcomes", "record"}
        assert {"key", "tenant", "parts", "shadow", "touched_ms", "name"} <= data.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_only_some_are_told_and_the_rest_is_counted(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored(kind, tmp_path, clock) as kept:
        for number in range(7):
            kept.carry(Batch(f"b{number}", lines=(Line(key("default", "steps", f"r{number}")),)))
        (one,) = by_tenant(cells(kept, "", clock()), most=5)
        assert (len(one.cells["counter"]), one.more) == (5, {"counter": 2})


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_in_a_name_is_hidden(kind: str, tmp_path: Path) -> None:
    clock, secret = FakeClock(START), "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with stored(kind, tmp_path, clock) as kept:
        put = (key("default", "own", secret), {"token": secret}, When.JUDGED, 0, 0)
        kept.carry(Batch("b", lines=(Line(key("default", "steps", secret)),), puts=(put,)))
        said = b"".join(json_line(cell) for cell in cells(kept, "", clock()))
    assert secret.encode() not in said
    assert said.count(b"own") >= 1


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], {}, {"began": "soon"}, [["a"]], {"running": 3}]
)
@pytest.mark.parametrize("kind", sorted(WORDED))
def test_a_record_that_is_not_as_it_should_be_is_no_trouble(kind: str, value: object) -> None:
    assert isinstance(says(name_of(key("default", kind, "x")), value, START), str)
