"""A fleet-wide counter as one process knows it: what it held when last seen, and the leases that
this process has."""

from __future__ import annotations

from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import SKIPPED, Batch, Line, Reply, When
from stanchion.stores.leasing.lease import Lease
from stanchion.stores.leasing.parts import Terms


class Counter:
    """What is known of one counter. Whoever uses it has a lock."""

    __slots__ = ("_current", "_lender", "answers", "at", "leases", "lent", "total")

    def __init__(self, lender: str) -> None:
        self._lender = lender
        self.total: int | None = None
        self.lent = 0
        self.answers = 0
        self.at = 0.0
        self.leases: list[Lease] = []
        self._current: dict[Terms, Lease] = {}

    def lease(self, terms: Terms) -> Lease:
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
        self._saw(reply.values[0] + (batch.amounts[lease.terms.unit] if reply.go else 0), asked, at)
        if not reply.actions or reply.actions[1] != SKIPPED:
            self.lent = reply.values[1]
        return lease

    def looked(self, reply: Reply, asked: int, at: float) -> None:
        """Enter what was seen."""
        self._saw(reply.values[0], asked, at)

    def gave_back(self, lease: Lease) -> None:
        """Enter that what was free of a lease was given back."""
        if lease.back is not None:
            if self.total is not None:
                self.total -= lease.back.free
            self.lent = max(0, self.lent - lease.back.pooled)
            lease.gave_back()

    def _saw(self, total: int, asked: int, at: float) -> None:
        """Of answers that crossed each other nobody knows the order: the highest total is the safe
        one."""
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
