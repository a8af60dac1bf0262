"""Every table in tests/tables holds: on both drivers, and on every store with the same outcomes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import Case, FakeClock, StoreFactory, read_table, run_case
from stanchion.testing.tables import Ran
from tests.stores import redis_server
from tests.stores.servers import Empty, new_place
from tests.told.shapes import shapes_in

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


@pytest.mark.parametrize("case", list(cases()))
def test_case(case: Case) -> None:
    sync = run_case(case, MemoryStore, "sync")
    assert not sync.complaints, "\n" + "\n".join(sync.complaints)
    assert told(sync, str(case)) == []
    assert run_case(case, MemoryStore, "async") == sync


class Noting(MemoryStore):
    """A memory store that knows whether anything was counted or kept on it."""

    keeps = False

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        self.keeps |= bool(batch.lines or batch.puts)
        return super().carry(batch)


@contextmanager
def sqlite(folder: Path) -> Iterator[StoreFactory]:
    """A new file for each store."""
    numbers = count()
    yield lambda clock: SqliteStore(folder / f"{next(numbers)}.db", clock)


@contextmanager
def redis(_: Path) -> Iterator[StoreFactory]:
    """The server of this process, emptied for each store."""
    yield redis_server.make(redis_server.shared())


@contextmanager
def postgres(_: Path) -> Iterator[StoreFactory]:
    """One schema, emptied for each store."""
    with new_place() as place:
        yield Empty(place).store


STORES: Final = {"sqlite": sqlite, "redis": redis, "postgres": postgres}
EVERY: Final = {"sqlite": 4, "redis": 9, "postgres": 9}
"""Of how many cases that keep something one is played; in a soak all are, and those that keep nothing."""
KEEPING: Final = {"breaker", "budget", "loops", "step_limit", "time_limit"}
"""Tables that would be of no use here if nothing were kept."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_store_gives_the_same(file: Path, tmp_path: Path) -> None:
    kept = 0
    with ExitStack() as opened:
        makes = {name: opened.enter_context(store(tmp_path)) for name, store in STORES.items()}
        for case in read_table(file).cases:
            made: list[Noting] = []
            expected = run_case(case, partial(_noted, made))
            keeps = any(one.keeps for one in made)
            kept += keeps
            for name, make in makes.items():
                if SOAK or (keeps and kept % EVERY[name] == 1 % EVERY[name]):
                    assert run_case(case, make) == expected, f"{case.name}, on {name}"
    assert kept or file.stem not in KEEPING


def _noted(made: list[Noting], clock: FakeClock) -> Noting:
    made.append(Noting(clock))
    return made[-1]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_names_of_cases_are_unique(file: Path) -> None:
    names = [case.name for case in read_table(file).cases]
    assert len(names) == len(set(names))
