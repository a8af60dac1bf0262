"""A store that spends fleet-wide counters in slices, in front of the store that has them."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, Expect, Reply, StoreLost
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.stores.leasing.carry import LeasedCarrying
from stanchion.stores.leasing.lease import TAGS
from stanchion.stores.leasing.slices import Flow, Lending, T
from stanchion.stores.protocol import Store, is_lasting
from stanchion.stores.wrapped import Wrapped

# What is known of records that the whole fleet shares: batches of tenants do not ask for it anew
# each time.

GOOD_FOR_S: Final = 1.0
"""How long it is taken to be as it was last seen: as long as a run that has nothing to send takes
the gates to be."""

MOST_KNOWN: Final = 4_096


class Knowing:
    """Which expectations of shared records were found true lately."""

    def __init__(self) -> None:
        self._confirmed: dict[Expect, float] = {}
        self._met: set[str] = set()
        self._prefix = os.urandom(8).hex()
        self._numbers = itertools.count()

    def part(self, batch: Batch) -> tuple[Batch, Batch | None]:
        """A tenant's batch without what it expects of the fleet, and a batch that asks for that
        first, where nobody has lately."""
        if batch.tenant == FLEET or not batch.expects:
            return batch, None
        shared = [expect for expect in batch.expects if expect[0].startswith(TAGS)]
        if not shared:
            return batch, None
        own = tuple([expect for expect in batch.expects if not expect[0].startswith(TAGS)])
        rest = msgspec.structs.replace(batch, expects=own)
        now = time.monotonic()
        met = batch.tenant in self._met
        if met and all(now < self._confirmed.get(expect, 0.0) for expect in shared):
            return rest, None
        self._meet(batch.tenant)
        return rest, Batch(
            f"fleet-{self._prefix}-{next(self._numbers)}", FLEET, expects=tuple(shared)
        )

    def _meet(self, tenant: str) -> None:
        """Note a tenant: what is known of the fleet is good for those alone of whom this process
        has seen something in the store, by which it notices in every batch that it was lost."""
        if len(self._met) >= MOST_KNOWN:
            self._met.clear()
        self._met.add(tenant)

    def confirm(self, asked: Batch) -> None:
        """Remember that what was asked is true."""
        if len(self._confirmed) >= MOST_KNOWN:
            self._confirmed.clear()
        until = time.monotonic() + GOOD_FOR_S
        for expect in asked.expects:
            self._confirmed[expect] = until


KEEP_S: Final = 1.0
"""How long a process keeps what it does not spend; as often it says that it is alive."""


class LeasingStore(Wrapped):
    """Keeps the counters of the whole fleet out of the batches of its tenants.

    A line whose counter all tenants share is spent from a slice that this process holds on it, and
    the rest of its batch goes to `inner`. A slice is charged before it is spent, so that no limit
    is ever exceeded, however many processes spend; it doubles as long as it is used up soon, and
    shrinks near the end of the counter. What is not spent within `keep_s` goes back, and everything
    does at `close` or when the process ends. Of a process that is killed the slices stay charged
    until an operator releases them: all of them together hold at most a hundredth of the limit
    beyond what was asked for at once. What was not spent in time is not spent at all: a process
    that was stopped takes another slice. What a batch expects of records of the fleet is asked for
    once a second.

    Whoever looks into the store sees slices among its holds, and as spent in its counters; what a
    hold took of the fleet's counters is part of a slice, and not in it.
    """

    def __init__(self, inner: Store, *, keep_s: float = KEEP_S) -> None:
        super().__init__(inner)
        self.inner: Final = inner
        self._keep_s = keep_s
        self._closed = False
        self.forked()
        _open.add(self)
        tell_of_forks(self)

    def __repr__(self) -> str:
        return f"LeasingStore({self.inner!r})"

    @property
    def place(self) -> str:
        """Where the store is that has the counters."""
        return self.inner.place if is_lasting(self.inner) else ""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; it waits for a slice only where there is none left."""
        return _drive(self._flow(batch), self.inner.carry)

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        flow = self._flow(batch)
        try:
            need = flow.send(None)
            while True:
                try:
                    reply = await self.inner.acarry(need)
                except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                    need = flow.throw(error)
                else:
                    need = flow.send(reply)
        except StopIteration as done:
            answer: Reply = done.value
            return answer

    def _flow(self, batch: Batch) -> Flow[Reply]:
        batch, asks = self._knowing.part(batch)
        reply: Reply
        if asks is not None:
            reply = yield asks
            if reply.stale:
                return reply
            self._knowing.confirm(asks)
        if not self._carrying.concerns(batch):
            reply = yield batch
            return reply
        try:
            return (yield from self._carrying.carry(batch))
        finally:
            self._watch()

    @property
    def room(self) -> Any:
        """Where one waits for it; `None` where nobody does."""
        return getattr(self.inner, "room", None)

    def give_back(self) -> None:
        """Give back all that this process does not need at the moment; `StoreLost` where the store
        cannot take it."""
        _drive(self._lending.tidy(0.0), self.inner.carry)

    def close(self) -> None:
        """Give everything back, and close the store."""
        self._end()
        super().close()

    def forked(self) -> None:
        """Start with nothing; in a forked process too, because its parent goes on spending what it
        was lent."""
        self._lending = Lending()
        self._carrying = LeasedCarrying(self._lending)
        self._knowing = Knowing()
        self._timer: threading.Timer | None = None
        self._starting = Lock()

    def _watch(self) -> None:
        """Have what is not used given back by a thread of its own: this process may not carry out
        another batch."""
        if self._timer is not None or self._closed or self._lending.idle:
            return
        with self._starting, contextlib.suppress(RuntimeError):
            if self._timer is None:
                timer = threading.Timer(self._keep_s, self._tidy)
                timer.name, timer.daemon = "stanchion-leases", True
                timer.start()
                self._timer = timer

    def _tidy(self) -> None:
        with contextlib.suppress(StoreLost):
            _drive(self._lending.tidy(self._keep_s), self.inner.carry)
        self._timer = None
        self._watch()

    def _end(self) -> None:
        """Give everything back as far as the store can take it; what is reserved stays charged."""
        self._closed = True
        timer = self._timer
        if timer is not None:
            timer.cancel()
            timer.join()
        with contextlib.suppress(StoreLost):
            _drive(self._lending.end(), self.inner.carry)


def _drive(flow: Flow[T], carry: Callable[[Batch], Reply]) -> T:
    """Run a flow to its end in this thread. It needs nothing but batches, and a store knows no
    runtime whose drivers could run it."""
    try:
        need = flow.send(None)
        while True:
            try:
                reply = carry(need)
            except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                need = flow.throw(error)
            else:
                need = flow.send(reply)
    except StopIteration as done:
        result: T = done.value
        return result


_open: Final[weakref.WeakSet[LeasingStore]] = weakref.WeakSet()


def _at_exit() -> None:
    for store in list(_open):
        store._end()


atexit.register(_at_exit)
