"""Owed: what a call has taken and nobody settles any more, holds and places, and how the store is
told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from stanchion.kernel.chain import Permit
from stanchion.kernel.engine import TRIES
from stanchion.kernel.state import ABSENT, CLOCK, Batch, Moved, Put, Records, Reply, When
from stanchion.runtime.driving.flow import Flow

UNKNOWN: Final = "unknown"
"""What a store says of a hold that it does not know."""


class Places(msgspec.Struct, frozen=True):
    """Places that calls may have in records of guards: where those are, and what is known of
    them."""

    calls: frozenset[str]
    permits: tuple[Permit, ...]
    tenant: str
    records: Records
    new_id: Callable[[], str]

    def vacated(self) -> Flow[bool]:
        """Take the calls out of every record; says whether that is done. A record that they are not
        in stays as it is.

        Each batch has an id of its own: whatever was carried out before, this looks again.
        """
        done = True
        for name, vacate, _ in self.permits:
            done = (yield from self._vacated(name, vacate)) and done
        return done

    def _vacated(self, name: str, vacate: Callable[..., object]) -> Flow[bool]:
        for turn in range(TRIES):
            version, value = self.records.get(name, ABSENT)
            left = vacate(value, self.calls)
            puts: tuple[Put, ...] = () if left is None else ((name, left, When.JUDGED, 0, 0),)
            expects = ((name, version, version + 1),)
            reply: Reply = yield Batch(self.new_id(), self.tenant, True, expects, puts=puts)
            if not reply.stale:
                if puts:
                    self.records[name] = (version + 1, left)
                return True
            for fresh in reply.fresh:
                if fresh.key != CLOCK:
                    self.records[fresh.key] = (fresh.number, fresh.value)
            if turn:  # the first time it may only be that nothing was known of it
                yield Moved(name)
        return False


class Owed(msgspec.Struct, frozen=True):
    """What a store has yet to be told: batches, in their order, and then places that are free. All
    of it may be told more than once. `about` says what it is, where it is nothing that was
    taken."""

    id: str
    batches: tuple[Batch, ...]
    places: Places | None = None
    about: str = ""

    def told(self) -> Flow[tuple[bool, bool]]:
        """Tell it; says whether all is done, and whether the store knew all of what it was told
        about."""
        heard = True
        for batch in self.batches:
            reply: Reply = yield batch
            heard = heard and UNKNOWN not in reply.settled
        return self.places is None or (yield from self.places.vacated()), heard
