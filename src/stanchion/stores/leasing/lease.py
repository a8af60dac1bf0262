"""A lease: what one process has taken of a fleet-wide counter, in slices, and what of it is not
spent yet."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.kernel.actions import Action
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import BUCKETS, FOREVER, IDLE_S, Batch, Line, Settle, When
from stanchion.kernel.units import Amounts, Unit
from stanchion.stores.leasing.leased import lender_key, pool_key
from stanchion.stores.leasing.parts import Terms

SHARE: Final = 8
"""A slice is at most this part of what is left of a counter, so that slices shrink near its end."""

POOL: Final = 100
"""All slices of a counter together hold at most this part of its limit beyond what is asked for at
once: so much is held back at the most when every process that has one is killed."""

PART: Final = 4
"""A slice takes at most this part of what is left in the pool."""

LEASE_MS: Final = 30_000
"""How long a slice can be spent, by the store's clock, after the last one that its process took."""

HOLD_MS: Final = 3_600_000
"""How long a slice is held; after that it stays charged until it is settled."""


class Back(NamedTuple):
    """A batch that gives back what is `free`, and what was `pooled`; `again` is what it takes anew,
    for reservations that are still open."""

    batch: Batch
    again: int
    free: int
    pooled: int


class Lease:
    """Slices of one counter on the same terms, in one bucket of its window if it has one.

    `holds` are the slices with their sizes, the oldest first. `free` is what nobody has reserved,
    `open` what is reserved and may yet come back; what the holds have beyond that is spent. Whoever
    uses it has a lock.
    """

    __slots__ = (
        "_again", "_asks", "_exactly", "_lender", "_pooled", "_size", "asked", "at", "back", "free",
        "holds", "limit", "lost", "open", "pool", "stuck", "terms", "until",
    )  # fmt: skip

    def __init__(self, terms: Terms, lender: str, size: int = 0) -> None:
        self.terms = terms
        self._lender = lender
        self.pool = terms.reach // POOL
        self.limit = min([limit for limit, _ in terms.bands], default=FOREVER)
        line = Line(
            terms.key,
            terms.bands,
            terms.unit,
            hold_ms=HOLD_MS,
            window_ms=terms.window_ms,
            idle_s=terms.idle_s,
        )
        beat = beating(lender, terms.unit)
        looks = Line(
            pool_key(terms.key),
            unit=_beside(terms.unit),
            when=When.LOOK,
            window_ms=_pool_window(terms),
        )
        takes = looks._replace(
            bands=((self.pool, Action.BLOCK),), when=When.PROCEED, hold_ms=HOLD_MS
        )
        self._asks = (line, takes, beat)
        self._exactly = (line, looks, beat)
        self._again = (line._replace(bands=()), beat)
        self._size = size
        self.free = 0
        self.open = 0
        self.holds: dict[str, int] = {}
        self._pooled: dict[str, int] = {}
        self.lost: set[str] = set()
        self.until = FOREVER
        self.at = 0.0
        self.back: Back | None = None
        self.stuck = False
        self.asked = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to give back and nothing to wait for."""
        return (
            not (self.free or self.open or self.holds or self.lost or self.asked)
            and self.back is None
        )

    @property
    def idle(self) -> bool:
        """Whether something is charged that nobody has reserved."""
        return self.free > 0 or bool(self.lost) or self.stuck

    @property
    def overflows(self) -> bool:
        """Whether more is free than it has of the pool: what calls did not use of their estimates
        came on top."""
        return self.free > sum(self._pooled.values())

    def crowds(self, lent: int) -> bool:
        """Whether slices that are reserved, and so cannot be closed, take more of the pool than is
        left in it: they are better taken anew, as no more than what is reserved."""
        if self.terms.window_ms or self.back is not None or self.free > self.open:
            return False
        return sum(self._pooled.values()) > self.pool - lent

    def take(self, amount: int) -> None:
        """Reserve what is free."""
        self.free -= amount
        self.open += amount

    def give(self, amount: int) -> None:
        """Let go of what was reserved."""
        self.open -= amount
        self.free += amount

    def asking(
        self, batch_id: str, need: int, total: int | None, lent: int, exactly: bool
    ) -> Batch:
        """The batch that takes another slice: twice as much as the last time if there is enough of
        it, and of what all processes may hold together, of which `lent` was taken when last seen.

        It also closes slices that are spent, and those of which it is not known whether they were
        taken.
        """
        room = 0 if total is None or exactly else (self.terms.reach - total) // SHARE
        settles: list[Settle] = [(hold, None) for hold in self.lost]
        spent = 0 if self.back is not None else sum(self.holds.values()) - self.free - self.open
        for hold, size in self.holds.items():
            if size > spent:
                break
            spent -= size
            settles.append((hold, self._vector(size)))
        more = max(0, min(min(self._size, room) - need, (self.pool - lent) // PART))
        self.asked += 1
        lines, amounts = self._asks if more else self._exactly, self._vector(need + more, more)
        return Batch(batch_id, FLEET, settles=tuple(settles), lines=lines, amounts=amounts)

    def answered(self, batch: Batch) -> None:
        """Enter that there was an answer: slices were closed, whether or not there was another
        one."""
        self.asked -= 1
        for hold, _ in batch.settles:
            self.holds.pop(hold, None)
            self._pooled.pop(hold, None)
            self.lost.discard(hold)

    def unanswered(self, batch: Batch, sent: bool) -> None:
        """Enter that it is not known whether a slice was taken; what was not even sent has taken
        none."""
        self.asked -= 1
        if sent:
            self.lost.add(batch.id)

    def enter(self, batch: Batch, now: int, at: float) -> None:
        """Enter another slice."""
        amount = batch.amounts[self.terms.unit]
        self.holds[batch.id] = amount
        self._pooled[batch.id] = batch.amounts[_beside(self.terms.unit)]
        self.free += amount
        self._size = 2 * amount
        self.at = at
        self.until = now + LEASE_MS
        if self.terms.window_ms:
            width = self.terms.window_ms // BUCKETS
            self.until = min(self.until, (now // width + 1) * width)

    def giving_back(self, batch_id: str, last: bool) -> Batch | None:
        """The batch that gives back what is free; `None` where there is nothing, or it is under
        way. One whose answer did not come is sent again as it was: it may have been carried out.

        `last`: what is reserved will not be settled here any more. A slice of a window cannot be
        taken anew for what is reserved, so it is kept until that is settled.
        """
        if self.back is not None and self.stuck:
            self.stuck = False
            return self.back.batch
        again = 0 if last else self.open
        if self.back is not None or (again and (self.terms.window_ms or not self.free)):
            return None
        if not self.holds and not self.lost:
            return None
        spent = sum(self.holds.values()) - self.free - again
        settles: list[Settle] = [(hold, None) for hold in self.lost]
        for hold, size in self.holds.items():
            settles.append((hold, self._vector(min(size, spent))))
            spent -= min(size, spent)
        lines = self._again if again else ()
        batch = Batch(
            batch_id, FLEET, settles=tuple(settles), lines=lines, amounts=self._vector(again)
        )
        self.back = Back(batch, again, self.free, sum(self._pooled.values()))
        self.free = 0
        self.holds, self._pooled = {}, {}
        self._size //= 2
        return batch

    def gave_back(self) -> None:
        """Enter that it was given back."""
        if self.back is not None:
            self.lost.difference_update([hold for hold, _ in self.back.batch.settles])
            if self.back.again:
                self.holds = {self.back.batch.id: self.back.again, **self.holds}
            self.back = None

    def next(self) -> Lease:
        """A lease for what comes after: the next bucket of the window, or the same without what may
        be gone."""
        return Lease(self.terms, self._lender, self._size)

    def _vector(self, amount: int, more: int = 0) -> Amounts:
        amounts = [0, 0, 0, 0, 0]
        amounts[self.terms.unit], amounts[_beside(self.terms.unit)] = amount, more
        one, tokens, cost, api_calls, working = amounts
        return (one, tokens, cost, api_calls, working)


def beating(lender: str, unit: int = Unit.ONE) -> Line:
    """The sign of life that a process gives with everything it asks for."""
    return Line(lender_key(lender), unit=unit, when=When.JUDGED)


def _beside(unit: int) -> Unit:
    """The place in a vector of amounts where a slice says what of it counts on the pool."""
    return Unit.TOKENS if unit == Unit.ONE else Unit.ONE


def _pool_window(terms: Terms) -> int:
    """A pool slides with its counter, and forgets after a week what nobody has settled or
    released."""
    return terms.window_ms if terms.window_ms else IDLE_S * 1000 // BUCKETS * BUCKETS
