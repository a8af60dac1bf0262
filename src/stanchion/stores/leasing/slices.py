"""Lending: slices of fleet-wide counters, asked for when they are needed and given back when they
are not.

Everything here is a generator that yields batches for the store and is sent their replies, so that
threads and event loops share it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import SKIPPED, Batch, Crowded, Line, Reply, StoreLost, When
from stanchion.locks import Lock
from stanchion.stores.leasing.lease import Lease, LeaseTerms, beating, slice_prefix

# A fleet-wide counter as one process knows it: what it held when last seen, and the leases that
# this process has.


class LentCounter:
    """What is known of one counter. Whoever uses it has a lock."""

    def __init__(self, lender: str) -> None:
        self._lender = lender
        self.total: int | None = None
        self.lent = 0
        self.answers = 0
        self.at = 0.0
        self.leases: list[Lease] = []
        self._current: dict[LeaseTerms, Lease] = {}

    def lease(self, terms: LeaseTerms) -> Lease:
        """The lease on those terms that can be spent from."""
        lease = self._current.get(terms)
        return self._enter(Lease(terms, self._lender)) if lease is None else lease

    def pass_on(self, lease: Lease) -> Lease:
        """Spend from a lease no longer, because its bucket of the window is over; gives the one
        that follows."""
        current = self._current.get(lease.terms)
        return self._enter(lease.next()) if current is None or current is lease else current

    def value(self, credit: dict[Lease, int]) -> int | None:
        """What is used or reserved as far as this process knows: its own slices count by what was
        taken from them, less the `credit` of holds that are about to be settled."""
        if self.total is None:
            return None
        return self.total - sum([lease.free + credit.get(lease, 0) for lease in self.leases])

    def answered(self, lease: Lease, batch: Batch, reply: Reply, asked: int, at: float) -> Lease:
        """Enter what came of asking for a slice; `asked` is how many answers there were when it was
        asked for. Gives the lease it belongs to."""
        lease.answered(batch)
        if reply.now >= lease.until:
            lease = self.pass_on(lease)
        if reply.go:
            lease.enter(batch, reply.now, at)
        self.saw(reply.values[0] + (batch.amounts[lease.terms.unit] if reply.go else 0), asked, at)
        if not reply.actions or reply.actions[1] != SKIPPED:
            self.lent = reply.values[1]
        return lease

    def gave_back(self, lease: Lease) -> None:
        """Enter that what was free of a lease was given back."""
        if lease.back is not None:
            if self.total is not None:
                self.total -= lease.back.free
            self.lent = max(0, self.lent - lease.back.pooled)
            lease.gave_back()

    def saw(self, total: int, asked: int, at: float) -> None:
        """Enter what was seen. Of answers that crossed each other nobody knows the order: the
        highest total is the safe one."""
        self.total = (
            total if self.total is None or asked == self.answers else max(self.total, total)
        )
        self.answers += 1
        self.at = at

    def forget(self, since: float) -> bool:
        """Drop leases that are empty; says whether the counter itself can be dropped."""
        for lease in [one for one in self.leases if one.empty and one.at <= since]:
            self.leases.remove(lease)
            if self._current.get(lease.terms) is lease:
                del self._current[lease.terms]
        return not self.leases and self.at <= since

    def _enter(self, lease: Lease) -> Lease:
        self.leases.append(lease)
        self._current[lease.terms] = lease
        return lease


def looking(batch_id: str, line: Line) -> Batch:
    """The batch that only looks at a line's counter."""
    return Batch(batch_id, FLEET, lines=(Line(line.key, when=When.LOOK, window_ms=line.window_ms),))


TRIES: Final = 8
"""How often a slice is asked for because somebody else came first; then the batch is refused."""

T = TypeVar("T")
Flow = Generator[Batch, Any, T]
"""A flow yields batches for the store that has the counters, is sent their replies, and returns its
result."""


class Lending:
    """The leases of one process. The lock is never kept while a batch is under way."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.lock: Final = Lock()
        self._monotonic = monotonic
        self._counters: dict[str, LentCounter] = {}
        self._lender = os.urandom(8).hex()
        self._prefix = slice_prefix(self._lender)
        self._beat = (beating(self._lender),)
        self._count = itertools.count(1)

    @property
    def idle(self) -> bool:
        """Whether nothing is lent and nothing is known."""
        return not self._counters

    def known(self, line: Line, credit: dict[Lease, int]) -> Flow[int]:
        """What a counter holds as far as this process knows; the store is asked where it knows
        nothing."""
        with self.lock:
            counter = self._counter(line.key)
            value, asked = counter.value(credit), counter.answers
            request = looking(self._new_id(), line)
        if value is not None:
            return value
        reply: Reply = yield request
        with self.lock:
            counter.saw(reply.values[0], asked, self._monotonic())
        return reply.values[0]

    def reserve(
        self, terms: LeaseTerms, amount: int, credit: dict[Lease, int]
    ) -> Flow[tuple[Lease | None, int, int]]:
        """Reserve an amount, of this batch's own `credit` first, then of what is free, then of
        another slice.

        Gives the lease, the value before and what came from the credit. No lease: it is refused,
        because what is left of the counter, with all that this process could give back, is not
        enough.
        """
        exactly = emptied = False
        for turn in range(TRIES):
            with self.lock:
                counter = self._counter(terms.key)
                lease = counter.lease(terms)
                crowded = not turn and lease.free < amount and lease.crowds(counter.lent)
            if crowded:
                yield from self.give_back(counter, lease)
            with self.lock:
                lease = counter.lease(terms)
                drawn = min(amount, credit.get(lease, 0))
                own = amount - drawn
                known = counter.value(credit)
                # Where others have taken it further than this lease may go, only the store knows
                # what is left.
                if known is not None and known + amount <= lease.limit:
                    if lease.free >= own:
                        return self._taken(known, lease, amount, drawn, credit)
                    counts = lease.free if turn < TRIES // 2 else 0
                else:
                    counts = 0
                need = own - counts
                request = lease.asking(self._new_id(), need, counter.total, counter.lent, exactly)
                asked = counter.answers
            try:
                reply: Reply = yield request
            except BaseException as error:
                with self.lock:
                    lease.unanswered(request, sent=not isinstance(error, Crowded))
                raise
            with self.lock:
                then = counter.answered(lease, request, reply, asked, self._monotonic())
                if reply.go and then is lease and lease.free >= own:
                    return self._taken(counter.value(credit), lease, amount, drawn, credit)
                refused = not reply.go and reply.values[0] + need > lease.limit
                value = (
                    reply.values[0] - counts - sum([credit.get(one, 0) for one in counter.leases])
                )
                spare = [
                    one
                    for one in counter.leases
                    if one.idle and (one is not lease or one.stuck or not counts)
                ]
            if refused and (emptied or not spare):
                return None, max(value, lease.limit - amount + 1), 0
            for one in spare if refused else ():
                yield from self.give_back(counter, one)
            exactly, emptied = not reply.go, refused
        raise StoreLost(
            f"`{terms.key}` was taken by other processes {TRIES} times in the meantime: try again"
        )

    def _taken(
        self, known: int | None, lease: Lease, amount: int, drawn: int, credit: dict[Lease, int]
    ) -> tuple[Lease, int, int]:
        lease.take(amount - drawn)
        if drawn:
            credit[lease] -= drawn
        return lease, 0 if known is None else min(known, lease.limit - amount), drawn

    def give_back(self, counter: LentCounter, lease: Lease, last: bool = False) -> Flow[None]:
        """Give back what is free of a lease."""
        with self.lock:
            request = lease.giving_back(self._new_id(), last)
        if request is None:
            return
        try:
            yield request
        except BaseException:
            with self.lock:
                lease.stuck = True
            raise
        with self.lock:
            counter.gave_back(lease)

    def returned(self, lease: Lease) -> Flow[None]:
        """Give back at once what is free beyond the pool, so that nobody's death holds it back.
        Where the store cannot take it, it goes back later."""
        with self.lock:
            counter = self._counter(lease.terms.key)
        with contextlib.suppress(StoreLost):
            yield from self.give_back(counter, lease)

    def tidy(self, keep_s: float) -> Flow[None]:
        """Give back what was not used for so long, and forget what nobody asks for."""
        since = self._monotonic() - keep_s
        for counter, lease in self._leases():
            if lease.at <= since:
                yield from self.give_back(counter, lease)
        if any(lease.holds for _, lease in self._leases()):
            yield Batch(self._new_id(), FLEET, lines=self._beat)
        with self.lock:
            for name in [name for name, counter in self._counters.items() if counter.forget(since)]:
                del self._counters[name]

    def end(self) -> Flow[None]:
        """Give back everything that is not reserved; what is reserved stays charged."""
        for counter, lease in self._leases():
            yield from self.give_back(counter, lease, last=True)
            yield from self.give_back(counter, lease, last=True)

    def pass_on(self, lease: Lease) -> None:
        """Spend from a lease no longer; whoever calls has the lock."""
        self._counter(lease.terms.key).pass_on(lease)

    def _leases(self) -> list[tuple[LentCounter, Lease]]:
        """All leases that there are, each with its counter."""
        with self.lock:
            return [
                (counter, lease) for counter in self._counters.values() for lease in counter.leases
            ]

    def _counter(self, name: str) -> LentCounter:
        counter = self._counters.get(name)
        if counter is None:
            counter = self._counters[name] = LentCounter(self._lender)
        return counter

    def _new_id(self) -> str:
        return self._prefix + str(next(self._count))
