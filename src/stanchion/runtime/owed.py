"""Owed: what a call has taken and nobody settles any more, holds and places, and how the store is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.kernel.chain import Permit
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import Event
from stanchion.kernel.state import ABSENT, CLOCK, Batch, Moved, Put, Records, Reply, Settle, When

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.drivers import Flow

UNKNOWN: Final = "unknown"
"""What a store says of a hold that it does not know."""


class Places(msgspec.Struct, frozen=True):
    """Places that calls may have in records of guards: where those are, and what is known of them."""

    calls: frozenset[str]
    permits: tuple[Permit, ...]
    tenant: str
    records: Records
    new_id: Callable[[], str]

    def vacated(self) -> Flow[bool]:
        """Take the calls out of every record; says whether that is done. A record that they are not in stays as it is.

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
    """What a store has yet to be told: batches, in their order, and then places that are free. All of it may be told
    more than once."""

    id: str
    batches: tuple[Batch, ...]
    places: Places | None = None

    def told(self) -> Flow[tuple[bool, bool]]:
        """Tell it; says whether all is done, and whether the store knew all of what it was told about."""
        heard = True
        for batch in self.batches:
            reply: Reply = yield batch
            heard = heard and UNKNOWN not in reply.settled
        return self.places is None or (yield from self.places.vacated()), heard


def owed(desk: Desk, event: Event, settles: tuple[Settle, ...], more: tuple[Permit, ...] = ()) -> Owed | None:
    """What an event, or the call that it is about, has taken: holds that `settles` closes, and places, with `more` of
    them; `None` where that is nothing."""
    return _owed(desk, event, settles, (*desk.plans.takes(event)[1], *more))


def closing(desk: Desk, settles: tuple[Settle, ...]) -> Owed | None:
    """Holds alone; `None` where there are none."""
    batch = Batch(desk.new_id(), desk.info.tenant, settles=settles)
    return Owed(batch.id, (batch,)) if settles else None


def places_of(desk: Desk, event: Event, guards: tuple[str, ...]) -> Owed | None:
    """The places that an event, or the call that it is about, has at those guards."""
    return _owed(desk, event, (), tuple([one for one in desk.plans.takes(event)[1] if one[2] in guards]))


def doubtful(desk: Desk, event: Event, more: tuple[Permit, ...] = ()) -> Owed | None:
    """What an event has taken of whose batch nobody knows whether it was carried out, or still will be.

    Another batch takes its id first: whichever of the two comes later changes nothing.
    """
    holds, permits = desk.plans.takes(event)
    fence = Batch(event.id, desk.info.tenant, False)
    return _owed(desk, event, ((event.id, None),) if holds else (), (*permits, *more), (fence,))


def _owed(
    desk: Desk, event: Event, settles: tuple[Settle, ...], permits: tuple[Permit, ...], first: tuple[Batch, ...] = ()
) -> Owed | None:
    if not permits and not settles:
        return None
    tenant = desk.info.tenant
    closes = (Batch(desk.new_id(), tenant, settles=settles),) if settles else ()
    calls = frozenset([name for name in (event.id, event.call) if name])
    places = Places(calls, permits, tenant, desk.shield.records, desk.new_id) if permits else None
    return Owed(desk.new_id(), (*first, *closes), places)
