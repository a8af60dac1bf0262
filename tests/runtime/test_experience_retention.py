"""Old incidents leave; an archive has them first, wherever it is interrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion.experience.incident import DAY_MS, Incident, new_id
from stanchion.experience.shelf import PORTION
from stanchion.runtime.learning import shelves
from stanchion.runtime.learning.shelves import Archive, IncidentRetention, LeftIncidents, prune
from stanchion.stores.experience.memory import MemoryShelf
from stanchion.stores.experience.sqlite import SqliteShelf

NOW = 1_790_000_000_000


def incident(number: int, days: int = 0) -> Incident:
    at_ms = NOW - days * DAY_MS + number
    return Incident(
        new_id(at_ms, number.to_bytes(10, "big")), "acme", "r", "pay", f"f{number}", True, at_ms
    )


def archived(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()]


def test_what_is_too_old_leaves_and_counters_stay() -> None:
    shelf = MemoryShelf()
    shelf.write([*[incident(number, 100) for number in range(PORTION + 3)], incident(9_999)])
    assert prune(shelf, IncidentRetention(90, 10_000), NOW) == LeftIncidents(
        PORTION + 3, PORTION + 3
    )
    assert shelf.count() == 1
    assert shelf.known("acme", "pay", NOW // DAY_MS).tally.successes == PORTION + 4


def test_what_is_too_many_leaves_the_oldest_first() -> None:
    shelf = MemoryShelf()
    shelf.write([incident(number) for number in range(20)])
    assert prune(shelf, IncidentRetention(90, 15), NOW).incidents == 5
    assert [one.fingerprint for one in shelf.oldest(NOW * 2, 1)] == ["f5"]


def test_an_archive_has_all_columns_of_what_left(tmp_path: Path) -> None:
    shelf = MemoryShelf()
    shelf.write([incident(1, 100), incident(2)])
    prune(shelf, IncidentRetention(90, 100), NOW, tmp_path / "a.jsonl")
    (line,) = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {
        "id": incident(1, 100).id, "tenant": "acme", "session_id": "r", "tool_name": "pay",
        "fingerprint": "f1", "success": True, "timestamp": (NOW - 100 * DAY_MS + 1) / 1000,
        "error_reason": "", "context_hint": "", "call_data": {},
    }  # fmt: skip
    assert (tmp_path / "a.jsonl").stat().st_mode & 0o777 == 0o600


class Cut(Exception):
    """Somebody pulls the plug."""


def cutting(fn: Callable[..., Any], at: int, after: bool) -> Callable[..., Any]:
    """A function that is cut off at one of its calls, before or after it has done its work."""
    calls = 0

    def cut(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise Cut
        answer = fn(*args)
        if calls == at:
            raise Cut
        return answer

    return cut


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("step", ["write", "fsync", "forget"])
def test_nothing_is_lost_and_nothing_is_twice_in_the_archive_wherever_it_is_cut(
    step: str, at: int, after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelves, "PORTION", 10)
    every = [incident(number, 100) for number in range(35)]
    shelf = SqliteShelf(tmp_path / "x")
    shelf.write(every)
    file = tmp_path / "a.jsonl"
    with monkeypatch.context() as patch:
        owner: Any = shelf if step == "forget" else os
        patch.setattr(owner, step, cutting(getattr(owner, step), at, after))
        with pytest.raises(Cut):
            prune(shelf, IncidentRetention(90, 1_000), NOW, file)
    kept = {one.id for one in shelf.oldest(NOW, 100)}
    assert kept | set(archived(file)) == {one.id for one in every}
    prune(shelf, IncidentRetention(90, 1_000), NOW, file)
    assert archived(file) == [one.id for one in every]
    assert shelf.count() == 0
    shelf.close()


def test_a_torn_line_is_taken_away_before_more_is_added(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with Archive(file) as archive:
        archive.save([incident(1)])
    with file.open("ab") as torn:
        torn.write(b'{"id": "to')
    with Archive(file) as archive:
        archive.save([incident(1), incident(2)])
    assert archived(file) == [incident(1).id, incident(2).id]
