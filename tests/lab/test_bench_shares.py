"""Where the time goes: parts of a call that was watched, by their names, and together the whole of
it."""

from pathlib import Path

import pytest

from stanchion_lab.bench.peers.ours import OURS
from stanchion_lab.bench.peers.repeated import repeated
from stanchion_lab.bench.peers.shares import Sampler, _rows, sampled
from stanchion_lab.bench.table import Effort
from stanchion_lab.measuring.rows import VARIABLE

LITTLE = Effort(1, 1, 1)


@pytest.fixture(autouse=True)
def _own_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "no corpora"))


def test_a_call_is_seen_in_the_parts_that_it_goes_through() -> None:
    took, sampler = sampled("guardian", "memory", repeated(LITTLE).sessions * 3)
    assert took["call"] > 0
    assert took["result"] > 0
    seen = sampler.seen["call"]
    assert {"kernel", "readings"} <= set(seen), "it is judged, and its arguments are compared"
    assert not [part for part in seen if part.startswith("stanchion_lab")]


@pytest.mark.parametrize("name", list(OURS))
def test_everybody_plays_all_sessions(name: str) -> None:
    took, _ = sampled(name, "memory", repeated(LITTLE).sessions[:3])
    assert took["call"] > 0


def test_the_rows_of_a_call_add_up_to_it() -> None:
    sampler = Sampler()
    sampler.seen["call"].update({"kernel": 500, "readings": 490, "stores": 6, "locks": 4})
    whole, *parts = _rows("guardian, memory, call", 100.0, sampler.seen["call"])
    assert whole.amount == 100.0
    told = {row.name.rpartition(": ")[2]: row.amount for row in parts}
    assert told == pytest.approx({"kernel": 50.0, "readings": 49.0, "else": 1.0})
    assert _rows("veronica, memory, result", 1.0, sampler.seen["result"]) == []
