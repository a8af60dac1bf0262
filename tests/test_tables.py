"""Every table in tests/tables holds: on every store, on both drivers, with the same outcomes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from stanchion.kernel.decision import Decision
from stanchion.stores.memory import MemoryStore
from stanchion.testing import Case, StoreFactory, read_table, run_case
from stanchion.testing.tables import Ran
from tests.told.shapes import shapes_in

FOLDER = Path(__file__).with_name("tables")
STORES: Final[dict[str, StoreFactory]] = {"memory": MemoryStore}


def cases() -> Iterator[object]:
    """Every case of every table, on every store."""
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in read_table(file).cases:
            for store in STORES:
                yield pytest.param(case, store, id=f"{file.stem}: {case.name} [{store}]")


def told(ran: Ran, said: str) -> list[str]:
    """What findings of a case say to the agent that it may not read."""
    decisions = [outcome for outcome in ran.outcomes if isinstance(outcome, Decision)]
    findings = [finding for one in decisions for finding in (*one.findings, *one.shadow)]
    return [what for one in findings for what in shapes_in(f"{one.message}; {one.advice}", said)]


@pytest.mark.parametrize(("case", "store"), list(cases()))
def test_case(case: Case, store: str) -> None:
    sync = run_case(case, STORES[store], "sync")
    assert not sync.complaints, "\n" + "\n".join(sync.complaints)
    assert told(sync, str(case)) == []
    assert run_case(case, STORES[store], "async") == sync


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_names_of_cases_are_unique(file: Path) -> None:
    names = [case.name for case in read_table(file).cases]
    assert len(names) == len(set(names))
