"""What these tests share: a policy that asks before it pays, a tool that counts, a store that lets
somebody answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.findings import Finding, Wait
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold, SeenCell
from stanchion.testing import FakeClock


def policy(guard: dict[str, Any] | None = None, **escalation: Any) -> dict[str, Any]:
    """A policy under which paying waits for a person."""
    asks = {"use": "tool_denylist", "id": "ask-first", "tools": ["pay"], "action": "escalate"}
    return {"name": "p", "guards": [asks if guard is None else guard], "escalation": escalation}


class Paid:
    """Pays, and remembers what."""

    def __init__(self) -> None:
        self.amounts: list[int] = []

    def pay(self, amount: int, password: str = "", to: str = "") -> int:
        """Pay that much."""
        self.amounts.append(amount)
        return amount


class Meanwhile:
    """A store behind which something happens as soon as a ticket was opened, in a thread of its
    own; `at_once`: before whoever opened it knows."""

    def __init__(
        self, store: Store, happens: Callable[[str], object], at_once: bool = False
    ) -> None:
        self._store = store
        self._happens = happens
        self._at_once = at_once
        self.thread: threading.Thread | None = None

    @property
    def place(self) -> str:
        """Nowhere: the store behind it is in memory."""
        return ""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; the first ticket lets the rest begin."""
        reply = self._store.carry(batch)
        keys = [put[0] for put in batch.puts if "}ticket:" in put[0]]
        if keys and not reply.stale and self.thread is None:
            self.thread = threading.Thread(target=self._happens, args=(keys[0].rpartition(":")[2],))
            self.thread.start()
            if self._at_once:
                self.thread.join()
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        return self.carry(batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell."""
        return self._store.read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Cells."""
        return self._store.look(prefix)

    def holds(self) -> Iterator[Hold]:
        """Holds."""
        return self._store.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """A hold."""
        return self._store.held(tenant, hold_id)

    def close(self) -> None:
        """Close it when everything has happened."""
        if self.thread is not None:
            self.thread.join()
        self._store.close()


class Queue:
    """A guard that keeps a call waiting once, for a minute, as soon as it is told to."""

    id = "queue"
    kind = Kind.PURE
    stages = frozenset({Stage.TOOL_CALL})
    priority = 60
    category = Category.BUDGET
    mode = "enforce"

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.full = 0

    def judge(self, _reading: Any, /) -> Finding | None:
        """Wait when the second judgement after `full` was set to 2 comes, and let a minute pass."""
        self.full -= 1
        if self.full != 0:
            return None
        self._clock.advance(60_000)
        return Finding(Action.QUEUE, "test.queue", terms=Wait(pause_ms=1))
