"""What an agent, a guard and an operator are told where too many wait for the store."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.state import Batch, Crowded, Reply, StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for

HOST: Final = "redis://state.internal/0"
OPEN: Final = {"name": "open", "guards": [{"use": "step_limit", "max_steps": 9, "fail_open": True}]}


class Refusing(MemoryStore):
    """A store that refuses while it is told to."""

    error: StoreLost | None = None

    def carry(self, batch: Batch) -> Reply:
        if self.error is not None:
            raise self.error
        return super().carry(batch)

    @contextmanager
    def with_(self, error: StoreLost) -> Iterator[None]:
        """Refuse for a while."""
        self.error = error
        yield
        self.error = None


def a_crowd() -> Crowded:
    return Crowded(f"4,812 other calls in this process wait for `{HOST}`", 4_812, 2_040)


def opened(policy: dict[str, Any]) -> tuple[Refusing, Shield]:
    clock = FakeClock()
    store = Refusing(clock)
    return store, shield_for(policy, clock=clock, store=store)


def test_the_agent_reads_how_many_wait_and_not_where() -> None:
    store, shield = opened({"name": "few", "guards": [{"use": "step_limit", "max_steps": 9}]})
    run = shield.run("ann")
    done: list[int] = []
    assert run.call(done.append, 1) is None
    with store.with_(a_crowd()), pytest.raises(Refused) as refused:
        run.call(done.append, 2)
    decision = refused.value.decision
    assert decision.code == "kernel.crowded"
    assert decision.message.startswith(
        "4,812 others wait for the state store, and this has waited 2.04 s, so the "
    )
    assert decision.advice == "try again in a moment"
    assert HOST not in str(refused.value)
    assert HOST in decision.inputs.lost
    assert decision.errors == decision.findings
    assert run.call(done.append, 3) is None
    assert done == [1, 3]


def test_a_flood_opens_nothing() -> None:
    """A guard that lets actions pass while the store is lost does not do so for whoever floods
    it."""
    store, shield = opened(OPEN)
    run = shield.run("ann")
    assert run.check("read", {}).proceeds
    with store.with_(StoreLost("gone")):
        assert run.check("read", {}).proceeds
    with store.with_(a_crowd()):
        decision = run.check("read", {})
    assert (decision.proceeds, decision.code) == (False, "kernel.crowded")
