"""Every table in tests/tables holds: on both drivers, and on every store with the same outcomes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest

from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import Case, FakeClock, StoreFactory, read_table, run_case
from stanchion.testing.tables import Ran
from tests.runtime.told.shapes import shapes_in
from tests.stores import redis_server
from tests.stores.servers import Empty, new_place

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
FOLDER: Final = Path(__file__).with_name("tables")
FILES: Final = sorted(FOLDER.glob("*.yaml"))


def cases() -> Iterator[object]:
    """Every case of every table."""
    for file in FILES:
        for case in read_table(file).cases:
            yield pytest.param(case, id=f"{file.stem}: {case.name}")


def told(ran: Ran, said: str) -> list[str]:
    """What findings of a case say to the agent that it may not read."""
    decisions = [outcome for outcome in ran.outcomes if isinstance(outcome, Decision)]
    findings = [finding for one in decisions for finding in (*one.findings, *one.shadow)]
    return [what for one in findings for what in shapes_in(f"{one.message}; {one.advice}", said)]


class Noting(MemoryStore):
    """A memory store that knows whether anything was counted or kept on it."""

    keeps = False

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        self.keeps |= bool(batch.lines or batch.puts)
        return super().carry(batch)


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> StoreFactory:
    """A new file for each store."""
    folder, numbers = tmp_path_factory.mktemp("stores"), count()
    return lambda clock: SqliteStore(folder / f"{next(numbers)}.db", clock)


@pytest.fixture(scope="module")
def redis() -> StoreFactory:
    """The server of this process, emptied for each store."""
    return redis_server.make(redis_server.shared())


@pytest.fixture(scope="module")
def postgres() -> Iterator[StoreFactory]:
    """One schema, emptied for each store."""
    with new_place() as place:
        yield Empty(place).store


EVERY: Final = {"sqlite": 3, "redis": 9, "postgres": 9}
"""Of how many cases one is played on the store, if it keeps something; in a soak all are, and those
that keep nothing.
"""
KEEPING: Final = {"breaker", "budget", "loops", "step_limit", "time_limit"}
"""Tables that would be of no use here if nothing were kept."""


def chosen(case: Case, store: str) -> bool:
    """Whether a case is played on a store, if it keeps something."""
    return SOAK or crc32(f"{store} {case.name}".encode()) % EVERY[store] == 0


def played(case: Case) -> tuple[Ran, bool]:
    """What comes of a case in memory, and whether it keeps anything."""
    made: list[Noting] = []

    def noted(clock: FakeClock) -> Noting:
        made.append(Noting(clock))
        return made[-1]

    ran = run_case(case, noted)
    return ran, any(one.keeps for one in made)


@pytest.mark.parametrize("case", list(cases()))
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    ran, keeps = played(case)
    assert not ran.complaints, "\n" + "\n".join(ran.complaints)
    assert told(ran, str(case)) == []
    assert run_case(case, MemoryStore, "async") == ran
    for name in EVERY:
        if chosen(case, name) and (keeps or SOAK):
            assert run_case(case, request.getfixturevalue(name)) == ran, f"on {name}"


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.stem in KEEPING], ids=lambda file: file.stem
)
def test_some_case_that_keeps_something_is_played_on_every_store(file: Path) -> None:
    for name in EVERY:
        assert any(played(case)[1] for case in read_table(file).cases if chosen(case, name)), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_names_of_cases_are_unique(file: Path) -> None:
    names = [case.name for case in read_table(file).cases]
    assert len(names) == len(set(names))
