"""What every framework reports, as it was recorded, gets the decisions that it got when it was
recorded."""

from __future__ import annotations

import msgspec
import pytest

from tests.hosts.results import adapters, kept as results_of
from tests.hosts.traffic import REPLAYED, judged_again, kept, steady


@pytest.mark.parametrize("adapter", adapters())
def test_recorded_traffic_gets_the_same_decisions(adapter: str) -> None:
    for traffic in kept(adapter):
        assert judged_again(traffic) == [(one.stage, one.action, one.code) for one in traffic.heard]


@pytest.mark.parametrize("adapter", adapters())
def test_the_traffic_of_all_behaviours_is_recorded(adapter: str) -> None:
    beyond = {name for name, cell in results_of(adapter).cells.items() if cell.probe}
    assert {traffic.behaviour for traffic in kept(adapter)} == set(REPLAYED) - beyond
    stages = {one.stage for traffic in kept(adapter) for one in traffic.heard}
    assert {"tool_call", "tool_result"} <= stages


def test_another_decision_is_noticed() -> None:
    (adapter, *_) = adapters()
    (block,) = [traffic for traffic in kept(adapter) if traffic.behaviour == "block"]
    lax = msgspec.structs.replace(block, policy={"name": "lax"})
    assert judged_again(lax) != [(one.stage, one.action, one.code) for one in block.heard]


def test_ids_that_were_drawn_are_numbered() -> None:
    one, other = "3f2b8c1e-0d4a-4e6b-9a77-5c1d2e3f4a5b", "aaaaaaaa-0d4a-4e6b-9a77-5c1d2e3f4a5b"
    assert steady(f"{other} {one} {other} call-1") == " ".join(
        [f"00000000-0000-0000-0000-{number:012}" for number in (0, 1, 0)] + ["call-1"]
    )
