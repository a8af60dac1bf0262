"""Shields for tests: a fake clock, a store of their own, the same ids every time; and a store that
gets lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.wrapped import Wrapped
from stanchion.testing.clock import FakeClock


def shield_for(
    policy: str | Path | dict[str, Any],
    *,
    clock: FakeClock | None = None,
    store: Store | None = None,
    guards: Iterable[Any] = (),
    safe_mode: bool = False,
    **options: Any,
) -> Shield:
    """A shield that gives the same decisions, ids included, whenever a test repeats the same steps.

    Time stands still until `clock` is moved, state is in memory unless a `store` is given, and no
    environment variable is read. Shields on one store never give the same id twice. Other options
    are those of `Shield`.
    """
    time = FakeClock() if clock is None else clock
    kept = MemoryStore(time) if store is None else store
    given = {"nonces": stable_nonces(kept), **options}
    return Shield(
        load_policy(policy), store=kept, clock=time, guards=guards, safe_mode=safe_mode, **given
    )


_counts: WeakKeyDictionary[Any, Iterator[int]] = WeakKeyDictionary()


def stable_nonces(store: Store) -> Callable[[], str]:
    """Nonces that count up from one for each store, where a real shield draws them at random."""
    count = _counts.setdefault(store, itertools.count(1))
    return lambda: f"n{next(count)}"


class LostStore(Wrapped):
    """A store that is out of reach for chosen batches, and otherwise the store it was given.

    `on` numbers the batches that get lost, the first being 1 (a `range` loses many). With `applied`
    the batch is carried out and only its answer is lost, as when a connection breaks at the worst
    time.
    """

    def __init__(self, store: Store, on: Collection[int] = (), *, applied: bool = False) -> None:
        super().__init__(store)
        self._applied = applied
        self.on = on
        self.batches: list[Batch] = []

    @property
    def place(self) -> str:
        """Nowhere: whatever is behind it, it ends with its test."""
        return ""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, or raise `StoreLost`."""
        with self._losing(batch):
            return self._store.carry(batch)

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        with self._losing(batch):
            return await self._store.acarry(batch)

    @contextmanager
    def _losing(self, batch: Batch) -> Iterator[None]:
        self.batches.append(batch)
        number = len(self.batches)
        lost = number in self.on
        if lost and not self._applied:
            raise StoreLost(f"batch {number} is lost before it was carried out")
        yield
        if lost:
            raise StoreLost(f"the answer to batch {number} is lost")
