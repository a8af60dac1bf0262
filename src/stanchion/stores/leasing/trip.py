"""A trip: a tenant's batch on its way to the store, with what was reserved for its shared lines
beforehand."""

from __future__ import annotations

from typing import NamedTuple

from stanchion.kernel.state import FOREVER, Batch, Line
from stanchion.kernel.units import Amounts
from stanchion.stores.leasing.lease import Lease


class Part(NamedTuple):
    """What is reserved of a lease."""

    lease: Lease
    amount: int


class Held(NamedTuple):
    """What a batch reserved that is still to be settled, and when that is late."""

    parts: list[Part]
    due: int


class Take(NamedTuple):
    """What one shared line reserved; `own` is what did not come from holds that the same batch
    settles."""

    at: int
    line: Line
    lease: Lease
    amount: int
    own: int


class Claim(NamedTuple):
    """A hold that a batch settles, the place of that among its settles, and the actual amounts.
    `doubt` is the trip that made the hold, where it is not known whether that arrived."""

    at: int
    id: str
    actual: Amounts | None
    held: Held
    doubt: Trip | None = None

    def used(self, part: Part) -> int:
        """What was really used of a part."""
        return 0 if self.actual is None else self.actual[part.lease.terms.unit]


class Trip:
    """What has to be undone if the batch turns out not to have been carried out."""

    __slots__ = ("batch", "claims", "credit", "extra", "takes", "values")

    def __init__(self, batch: Batch, claims: list[Claim]) -> None:
        self.batch = batch
        self.claims = claims
        self.takes: list[Take] = []
        self.extra: list[Part] = []
        self.values: dict[int, int] = {}
        self.credit: dict[Lease, int] = {}
        for claim in claims:
            for part in claim.held.parts if claim.doubt is None else ():
                freed = max(0, part.amount - claim.used(part))
                self.credit[part.lease] = self.credit.get(part.lease, 0) + freed

    @property
    def until(self) -> int:
        """The store's time until which what was reserved can be spent: the end of a window's
        bucket."""
        return min([take.lease.until for take in self.takes], default=FOREVER)

    def held(self) -> list[Part]:
        """What it holds if it was carried out and nothing was refused."""
        return [Part(take.lease, take.amount) for take in self.takes if take.line.hold_ms]

    def undo(self) -> None:
        """Let go of everything: it was not carried out."""
        for take in self.takes:
            take.lease.give(take.own)
        for lease, amount in self.extra:
            lease.give(amount)

    def write_off(self) -> None:
        """Leave everything charged: nobody will ever know."""
        for take in self.takes:
            take.lease.open -= take.own
        for lease, amount in self.extra:
            lease.open -= amount
        for claim in self.claims:
            if claim.doubt is not None:
                claim.doubt.write_off()
                continue
            for lease, amount in claim.held.parts:
                lease.open -= amount
