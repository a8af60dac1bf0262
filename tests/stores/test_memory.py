"""The memory store does what the model says, and passes the store suite."""

import pytest

from model.properties import check_script
from stanchion.stores.memory import MemoryStore
from stanchion.testing.store_suite import CASES, Case
from stanchion.testing.store_suite.cases import SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_model(name: str) -> None:
    check_script(SCRIPTS[name])


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_memory_store(case: Case) -> None:
    case.check(MemoryStore)
