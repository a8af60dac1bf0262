"""What has happened that a store was not told: each is told once more, when the store is back."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.kernel.chain import Permit
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import Event
from stanchion.kernel.state import (
    ABSENT,
    CLOCK,
    Batch,
    Moved,
    Put,
    Records,
    Reply,
    Settle,
    StoreLost,
    When,
)
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.driving.turns import Turns

UNKNOWN: Final = "unknown"
"""What a store says of a hold that it does not know."""


class HeldPlaces(msgspec.Struct, frozen=True):
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
    places: HeldPlaces | None = None
    about: str = ""

    def told(self) -> Flow[tuple[bool, bool]]:
        """Tell it; says whether all is done, and whether the store knew all of what it was told
        about."""
        heard = True
        for batch in self.batches:
            reply: Reply = yield batch
            heard = heard and UNKNOWN not in reply.settled
        return self.places is None or (yield from self.places.vacated()), heard


MOST: Final = 10_000
"""How many of them wait; the oldest is given up first."""
AGAIN: Final = 256
"""How many of the newest are sent once more at the end, because the store had not heard of what
they close."""
AT_ONCE: Final = 16
"""How many of them one decision carries out besides its own."""


class Unsettled:
    """What a process has yet to tell its store: holds to close, places to give back, costs to
    count, what came of effects.

    A batch is sent again under its own id, so that one which was carried out, and whose answer was
    lost, counts once. Nothing leaves before the store has answered: whoever is cut off leaves it to
    the next one.
    """

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, Owed] = OrderedDict()
        """What waits, oldest first. It is asked on every decision, and mostly empty."""
        self._unheard_of: deque[Owed] = deque(maxlen=AGAIN)
        """What gives back something that the store has not heard of: whoever took it may have been
        interrupted while it was on its way. It is sent once more, when the shield is closed."""
        self._lock = Lock()
        self.is_lost = False
        """Whether the store did not answer when it was last told something."""

    def last_call(self) -> None:
        """Have everything sent once more that the store had not heard of."""
        with self._lock:
            for one in self._unheard_of:
                self.waiting[one.id] = one
            self._unheard_of.clear()

    def keep(self, batch: Batch) -> None:
        """Keep a batch until the store is back."""
        self.owe(Owed(batch.id, (batch,)))

    def owe(self, one: Owed | None) -> None:
        """Keep what was taken and is not used until the store is told; nothing where that is
        nothing."""
        if one is None:
            return
        given_up: Owed | None = None
        with self._lock:
            self.waiting[one.id] = one
            if len(self.waiting) > MOST:
                given_up = self.waiting.popitem(last=False)[1]
        if given_up is not None:
            _give_up(given_up, StoreLost(f"more than {MOST:,} batches wait for the store"))

    def send(self, batch: Batch) -> Flow[Any]:
        """Carry a batch out, or have it wait until the store is back; gives the reply, `None` where
        there is none.

        It waits before it is sent: whoever is interrupted meanwhile leaves it to the next trip.
        """
        self.keep(batch)
        try:
            reply = yield batch
        except StoreLost:
            self.is_lost = True
            return None
        self.is_lost = False
        self.waiting.pop(batch.id, None)
        return reply

    def tell(self, one: Owed | None) -> Flow[bool]:
        """Have the store told of something now, or when it is back; says whether it was."""
        if one is None:
            return True
        self.owe(one)
        try:
            done, heard = yield from one.told()
        except StoreLost:
            self.is_lost = True
            return False
        self.is_lost = False
        self._told(one, done, heard)
        return True

    def carry(self, most: int = AT_ONCE) -> Flow[None]:
        """Carry out what waits, oldest first, as far as the store takes it."""
        for _ in range(min(most, len(self.waiting))):
            with self._lock:
                one = next(iter(self.waiting.values()), None)
                if one is None:
                    return
                self.waiting.move_to_end(
                    one.id
                )  # whoever carries out more meanwhile takes the next
            try:
                done, heard = yield from one.told()
            except StoreLost:
                self.is_lost = True
                return
            self.is_lost = False
            self._told(one, done, heard)

    def catch_up(self) -> Flow[None]:
        """Carry out what waits, unless the store did not answer when it was last asked."""
        if self.waiting and not self.is_lost:
            yield from self.carry()

    def _told(self, one: Owed, done: bool, heard: bool) -> None:
        """Let go of what the store was told; it stays where there is more to do."""
        if not done:
            return
        if not heard:
            # Under other ids, because the answers to these stand.
            again = tuple(
                [msgspec.structs.replace(batch, id=f"{batch.id}.again") for batch in one.batches]
            )
            self._unheard_of.append(Owed(f"{one.id}.again", again, one.places, one.about))
        self.waiting.pop(one.id, None)

    def close(self, store: Any) -> None:
        """Carry out what still can be, and tell operators of the rest."""
        self.last_call()
        for one in list(self.waiting.values()):
            try:
                drive(one.told(), _Alone(store))
            except Exception as error:  # noqa: BLE001 - whatever a store raises, the others have their turn
                for other in self.waiting.values():
                    _give_up(other, error)
                self.waiting.clear()
                return
            self.waiting.pop(one.id, None)


class _Alone:
    """The world of somebody who closes: a store, and nobody else in line."""

    def __init__(self, store: Any) -> None:
        self.store, self.turns, self.answering = store, Turns(), None


def _give_up(one: Owed, why: Exception) -> None:
    held = ", ".join([f"`{hold}`" for batch in one.batches for hold, _ in batch.settles])
    if one.about:
        aside(f"{one.about} was not kept", why)
        return
    if held:
        aside(f"what {held} reserved stays charged", why)
    elif one.places is None:
        aside(f"batch `{one.id}` was not carried out", why)
    if one.places is not None:
        calls = ", ".join([f"`{call}`" for call in sorted(one.places.calls)])
        aside(f"a slot of {calls} stays taken until it expires", why)


def owed(
    desk: Desk, event: Event, settles: tuple[Settle, ...], more: tuple[Permit, ...] = ()
) -> Owed | None:
    """What an event, or the call that it is about, has taken: holds that `settles` closes, and
    places, with `more` of them; `None` where that is nothing."""
    return _owed(desk, event, settles, (*desk.plans.takes(event)[1], *more))


def closing(desk: Desk, settles: tuple[Settle, ...]) -> Owed | None:
    """Holds alone; `None` where there are none."""
    batch = Batch(desk.new_id(), desk.info.tenant, settles=settles)
    return Owed(batch.id, (batch,)) if settles else None


def places_of(desk: Desk, event: Event, guards: tuple[str, ...]) -> Owed | None:
    """The places that an event, or the call that it is about, has at those guards."""
    return _owed(
        desk, event, (), tuple([one for one in desk.plans.takes(event)[1] if one[2] in guards])
    )


def doubtful(desk: Desk, event: Event, more: tuple[Permit, ...] = ()) -> Owed | None:
    """What an event has taken of whose batch nobody knows whether it was carried out, or still will
    be.

    Another batch takes its id first: whichever of the two comes later changes nothing.
    """
    holds, permits = desk.plans.takes(event)
    fence = Batch(event.id, desk.info.tenant, False)
    return _owed(desk, event, ((event.id, None),) if holds else (), (*permits, *more), (fence,))


def kept_for_run(desk: Desk) -> Owed | None:
    """What guards keep for the run itself, as far as this process knows of it; `None` where that is
    nothing."""
    info, records = desk.info, desk.shield.records
    runs, permits = frozenset({info.id}), []
    for placed in desk.shield.policy.ends_with_runs:
        name = ("~" if placed.shadow else "") + placed.guard.run_key(info)
        if placed.guard.ended(records.get(name, ABSENT)[1], runs) is not None:
            permits.append((name, placed.guard.ended, placed.id))
    places = HeldPlaces(runs, tuple(permits), info.tenant, records, desk.new_id)
    return Owed(desk.new_id(), (), places) if permits else None


def _owed(
    desk: Desk,
    event: Event,
    settles: tuple[Settle, ...],
    permits: tuple[Permit, ...],
    first: tuple[Batch, ...] = (),
) -> Owed | None:
    if not permits and not settles:
        return None
    tenant = desk.info.tenant
    closes = (Batch(desk.new_id(), tenant, settles=settles),) if settles else ()
    calls = frozenset([name for name in (event.id, event.call) if name])
    places = (
        HeldPlaces(calls, permits, tenant, desk.shield.records, desk.new_id) if permits else None
    )
    return Owed(desk.new_id(), (*first, *closes), places)
