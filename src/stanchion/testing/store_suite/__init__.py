"""The store suite: what every store must do, as named cases; a store that fails one is no store.

@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_my_store(case: Case) -> None:
    case.check(lambda clock: MyStore(clock))
"""

from __future__ import annotations

from typing import Final

from stanchion.testing.store_suite import cases, chance
from stanchion.testing.store_suite.desk import Case, Desk, Make, entered

CASES: Final[tuple[Case, ...]] = tuple(entered)
"""Every case; each of them runs on a new store."""


def check_store(make: Make) -> None:
    """Run the whole suite on the stores that `make` gives; raises at the first case that fails."""
    for case in CASES:
        case.check(make)


__all__ = [
    "CASES",
    "Case",
    "Desk",
    "Make",
    "cases",
    "chance",
    "check_store",
]
