"""A lease: what one process has taken of a fleet-wide counter, in slices, and what of it is not spent yet."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import BUCKETS, FOREVER, Batch, Line, Settle
from stanchion.kernel.units import Amounts
from stanchion.stores.leasing.parting import Terms

SHARE: Final = 8
"""A slice is at most this part of what is left of a counter, so that slices shrink near its end."""

HOLD_MS: Final = 3_600_000
"""How long a slice is held; after that it stays charged until it is settled."""


class Back(NamedTuple):
    """A batch that gives back what is free; `again` is what it takes anew, for reservations that are still open."""

    batch: Batch
    again: int
    free: int


class Lease:
    """Slices of one counter on the same terms, in one bucket of its window if it has one.

    `holds` are the slices with their sizes, the oldest first. `free` is what nobody has reserved, `open` what is
    reserved and may yet come back; what the holds have beyond that is spent. Whoever uses it has a lock.
    """

    __slots__ = (
        "_again", "_asks", "_size", "asked", "at", "back", "free", "holds", "limit", "lost", "open", "stuck", "terms",
        "until",
    )  # fmt: skip

    def __init__(self, terms: Terms, size: int = 0) -> None:
        self.terms = terms
        self.limit = min([limit for limit, _ in terms.bands], default=FOREVER)
        line = Line(
            terms.key,
            terms.bands,
            terms.unit,
            hold_ms=HOLD_MS,
            window_ms=terms.window_ms,
            idle_s=terms.idle_s,
        )
        self._asks = (line,)
        self._again = (line._replace(bands=()),)
        self._size = size
        self.free = 0
        self.open = 0
        self.holds: dict[str, int] = {}
        self.lost: set[str] = set()
        self.until = FOREVER
        self.at = 0.0
        self.back: Back | None = None
        self.stuck = False
        self.asked = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to give back and nothing to wait for."""
        return not (self.free or self.open or self.holds or self.lost or self.asked) and self.back is None

    @property
    def idle(self) -> bool:
        """Whether something is charged that nobody has reserved."""
        return self.free > 0 or bool(self.lost) or self.stuck

    def take(self, amount: int) -> None:
        """Reserve what is free."""
        self.free -= amount
        self.open += amount

    def give(self, amount: int) -> None:
        """Let go of what was reserved."""
        self.open -= amount
        self.free += amount

    def asking(self, batch_id: str, need: int, total: int | None, exactly: bool) -> Batch:
        """The batch that takes another slice: twice as much as the last time if there is enough of it.

        It also closes slices that are spent, and those of which it is not known whether they were taken.
        """
        room = 0 if total is None or exactly else (self.terms.reach - total) // SHARE
        settles: list[Settle] = [(hold, None) for hold in self.lost]
        spent = 0 if self.back is not None else sum(self.holds.values()) - self.free - self.open
        for hold, size in self.holds.items():
            if size > spent:
                break
            spent -= size
            settles.append((hold, self._vector(size)))
        amount = max(need, min(self._size, room))
        self.asked += 1
        return Batch(batch_id, FLEET, settles=tuple(settles), lines=self._asks, amounts=self._vector(amount))

    def answered(self, batch: Batch) -> None:
        """Enter that there was an answer: slices were closed, whether or not there was another one."""
        self.asked -= 1
        for hold, _ in batch.settles:
            self.holds.pop(hold, None)
            self.lost.discard(hold)

    def unanswered(self, batch: Batch, sent: bool) -> None:
        """Enter that it is not known whether a slice was taken; what was not even sent has taken none."""
        self.asked -= 1
        if sent:
            self.lost.add(batch.id)

    def enter(self, batch: Batch, now: int, at: float) -> None:
        """Enter another slice."""
        amount = batch.amounts[self.terms.unit]
        self.holds[batch.id] = amount
        self.free += amount
        self._size = 2 * amount
        self.at = at
        if self.terms.window_ms:
            width = self.terms.window_ms // BUCKETS
            self.until = (now // width + 1) * width

    def giving_back(self, batch_id: str, last: bool) -> Batch | None:
        """The batch that gives back what is free; `None` where there is nothing, or it is under way. One whose answer
        did not come is sent again as it was: it may have been carried out.

        `last`: what is reserved will not be settled here any more. A slice of a window cannot be taken anew for what
        is reserved, so it is kept until that is settled.
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
        batch = Batch(batch_id, FLEET, settles=tuple(settles), lines=lines, amounts=self._vector(again))
        self.back = Back(batch, again, self.free)
        self.free = 0
        self.holds = {}
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
        """A lease for the next bucket of the window."""
        return Lease(self.terms, self._size)

    def _vector(self, amount: int) -> Amounts:
        amounts = [0, 0, 0, 0, 0]
        amounts[self.terms.unit] = amount
        one, tokens, cost, api_calls, working = amounts
        return (one, tokens, cost, api_calls, working)
