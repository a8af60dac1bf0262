"""Tools as a store knows them: how well they work, whether calls go through, whether a definition
has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.kernel.state import Batch, When
from stanchion.ops.views.standing import ChangedDefinition, changed_definition, tools
from stanchion.runtime.calling.pins import pins_key
from stanchion.testing import FakeClock
from tests.ops.views.shown import KINDS, START, stored, work

PINS: dict[str, Any] = {
    "tools": {
        "search": {"description": "a", "schema": "b"},
        "fetch": {"description": "a", "schema": "b"},
    },
    "seen": {"fetch": {"description": "z", "schema": "b"}},
    "written": START,
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_known_of_each(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored(kind, tmp_path, clock) as kept:
        work(kept, clock)
        found = {one.tool: one for one in tools(kept, clock())}
        assert (found["search"].health, found["search"].recent, found["search"].calls) == (
            100,
            3,
            3,
        )
        fetch = found["fetch"]
        assert (fetch.health, fetch.calls, fetch.failures) == (0, 2, 2)
        (breaker,) = fetch.breakers
        assert (breaker.guard, breaker.state, breaker.until, breaker.cooldown_s) == (
            "breaker",
            "open",
            START + 60_000,
            60,
        )
        assert (found["leak"].state, found["leak"].until) == ("in quarantine", START + 605_000)
        assert [one.tool for one in tools(kept, clock(), "search")] == ["search"]
        assert tools(kept, clock(), "", "acme") == []
        clock.advance(60_000)
        (breaker,) = {one.tool: one for one in tools(kept, clock())}["fetch"].breakers
        assert (breaker.state, breaker.words) == (
            "half_open",
            "half-open, the next call tries it, 0 succeeded, after 1 min, for run first alone",
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_definition_that_has_changed(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored(kind, tmp_path, clock) as kept:
        kept.carry(Batch("b", puts=((pins_key("default"), PINS, When.JUDGED, 0, 0),)))
        found = {one.tool: (one.pinned, one.changed) for one in tools(kept, clock())}
        assert found == {"search": (True, ""), "fetch": (True, "its description changed")}
        assert changed_definition(kept, "search", "default") is None
        changed = changed_definition(kept, "fetch", "default")
        assert changed == ChangedDefinition(PINS["seen"]["fetch"], "its description changed")
