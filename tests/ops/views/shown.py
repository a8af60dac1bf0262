"""A store in which something is of every kind that views show; in memory, and in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stanchion import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for

START = 4_102_473_600_000
KINDS = ("memory", "sqlite")

POLICY: dict[str, Any] = {
    "name": "shown",
    "guards": [
        {
            "use": "budget",
            "id": "spend",
            "tokens": 1000,
            "cost_usd": 2,
            "reserve_tokens": 1,
            "reserve_cost_usd": 0.01,
        },
        {
            "use": "budget",
            "id": "hourly",
            "per": "agent",
            "cost_usd": 50,
            "window_s": 3600,
            "reserve_cost_usd": 0.01,
        },
        {"use": "step_limit", "id": "steps", "max_steps": 40},
        {"use": "breaker", "failure_threshold": 2},
        {"use": "error_rate", "per": ["tool"]},
        {"use": "health"},
        {"use": "time_limit", "max_s": 3600},
        {"use": "loops"},
        {"use": "tool_denylist", "id": "ask", "tools": ["pay"], "action": "escalate"},
    ],
}


@contextmanager
def stored(kind: str, folder: Path, clock: FakeClock) -> Iterator[Store]:
    """A store of that kind, empty."""
    store: Store = (
        MemoryStore(clock) if kind == "memory" else SqliteStore(folder / "state.db", clock)
    )
    try:
        yield store
    finally:
        store.close()


def work(store: Store, clock: FakeClock) -> Shield:
    """One run that spends, fails and asks; another whose call nobody has settled. Gives the
    shield."""
    shield = shield_for(POLICY, clock=clock, store=store)
    with shield.run("ann", "fix", id="first") as run:
        for number in range(3):
            call = run.check("search", {"q": number}, tokens=100, cost_usd=0.5)
            run.result("search", {"q": number}, "x", call=call.id, tokens=80, cost_usd=0.4)
        for _ in range(2):
            run.error("fetch", TimeoutError())
        run.check("pay", {"to": "ACME", "amount": 120})
    clock.advance(5_000)
    shield.run("bob", "docs", id="second").check("write", {"path": "a"}, tokens=300, cost_usd=0.125)
    shield.run("bob", "slow", id="third").cancel("it takes too long")
    shield.quarantine("tool:leak", 600, "it leaks")
    return shield
