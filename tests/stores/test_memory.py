"""The memory store does what the model says, and passes the store suite."""

import msgspec
import pytest

from model.store import StoreModel
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from stanchion.testing.store_suite import CASES, Case
from stanchion.testing.store_suite.cases import SCRIPTS
from stanchion.testing.store_suite.desk import shown


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_model(name: str) -> None:
    """Every other store is compared with this one."""
    clock, model = FakeClock(), StoreModel()
    store = MemoryStore(clock)
    for number, step in enumerate(SCRIPTS[name]):
        if isinstance(step, int):
            clock.advance(step)
            continue
        batch = step if step.id else msgspec.structs.replace(step, id=f"batch-{number}")
        assert shown(store.carry(batch)) == shown(model.carry(batch, clock()))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_memory_store(case: Case) -> None:
    case.check(MemoryStore)
