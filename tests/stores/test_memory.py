"""The memory store passes the store suite."""

import pytest

from stanchion.stores.memory import MemoryStore
from stanchion.testing.store_suite import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_memory_store(case: Case) -> None:
    case.check(MemoryStore)
