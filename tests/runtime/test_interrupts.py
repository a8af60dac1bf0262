"""A call that is cut off between any two steps leaves the shield usable, and its budget exact."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.shields import shield_for
from tests.interrupts import Cut, CutByTimer, everywhere, files
from tests.runtime.working import POLICY, Working

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:coroutine:RuntimeWarning"
    ),  # one that is cut off before it is awaited
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # files of who is cut off before it closes them
]


@pytest.fixture(params=["memory", "sqlite"])
def shield(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shield]:
    store: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.db")
    with shield_for(POLICY, store=store) as made:
        yield made


WITHIN = files("stores", "kernel", "locks", "runtime", "audit")


@pytest.mark.parametrize("error", [Cut, CutByTimer, KeyboardInterrupt])
def test_a_call_that_is_cut_off_anywhere(shield: Shield, error: type[BaseException]) -> None:
    working = Working(shield)
    assert everywhere(working.call, working.check, WITHIN, error=error, every=199, seed=1) > 20


@pytest.mark.parametrize("error", [Cut, KeyboardInterrupt])
def test_a_call_on_an_event_loop_that_is_cut_off_anywhere(
    shield: Shield, error: type[BaseException]
) -> None:
    working = Working(shield)
    assert (
        everywhere(working.acall_alone, working.check, WITHIN, error=error, every=199, seed=2) > 20
    )
