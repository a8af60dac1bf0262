"""Learning a store's epoch, raising its mark, and beginning another one."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.engine import TRIES
from stanchion.kernel.epoch import IDS, LOST, MARKS, Epoch, expectation
from stanchion.kernel.state import (
    ABSENT,
    CLOCK,
    EPOCH,
    Batch,
    Fresh,
    Line,
    Records,
    Reply,
    StoreLost,
    When,
)

_BEGIN: Final = (Line(EPOCH, when=When.JUDGED, idle_s=0),)


def learn(records: Records, batch_id: str, drawn: int) -> Generator[Batch, Reply, None]:
    """Learn a store's epoch, in one trip; where it has none, make one that begins at the store's
    time, in two. Of a store that somebody knows to have lost what it held, a number is learnt that
    it does not have: it is refused until an operator says to go on."""
    reply = yield _asking(batch_id)
    if all(fresh.key != EPOCH for fresh in reply.fresh):
        value = msgspec.to_builtins(Epoch(reply.now))
        reply = yield _begun(f"{batch_id}.1", 0, drawn, value)
        if not reply.stale:
            records[EPOCH] = (drawn * MARKS + 1, value)
    for fresh in reply.fresh:
        if fresh.key == EPOCH:
            lost = typed.convert(fresh.value, Epoch).how == LOST
            records[EPOCH] = (fresh.number + lost * MARKS, fresh.value)


def declare(number: int, at: int) -> Batch:
    """The batch by which a process that misses what the store held at that time tells everybody;
    `number` is what the store has for an epoch."""
    drawn = at % (IDS - 1) + 1
    drawn = drawn if drawn != number // MARKS else drawn % (IDS - 1) + 1
    value = msgspec.to_builtins(Epoch(at, LOST))
    return _begun(f"lost-{number}-{at}", number, drawn, value)


def mark(records: Records, batch_id: str, *, surely: bool = False) -> Generator[Batch, Reply, bool]:
    """Raise the number of the known epoch by one, or learn by how much others have raised it: one
    trip. Says whether the store still has that epoch; where not, nothing is changed, and the next
    decision says so. `surely` tries until it was raised after this was asked for, and says no where
    it never was."""
    for turn in range(TRIES if surely else 1):
        number, value = records[EPOCH]
        put = (EPOCH, value, When.JUDGED, 0, 0)
        reply = yield Batch(
            f"{batch_id}.{turn}", FLEET, True, ((EPOCH, number, number + 1),), puts=(put,)
        )
        if not reply.stale:
            records[EPOCH] = (number + 1, value)
            return True
        _, lowest, end = expectation(number)
        fresh = next(
            (fresh for fresh in reply.fresh if fresh.key == EPOCH and lowest <= fresh.number < end),
            None,
        )
        if fresh is None:
            return False
        records[EPOCH] = (fresh.number, fresh.value)
    return not surely


def begin(
    records: Records, batch_id: str, drawn: int, epoch: Epoch
) -> Generator[Batch, Reply, Epoch]:
    """Begin another epoch, whatever the store has, because an operator says so. Everything else
    that was known of the store is forgotten: it is asked for again."""
    known = records.get(EPOCH, ABSENT)
    reply = yield _asking(batch_id)
    for turn in range(1, TRIES + 1):
        now = next((fresh for fresh in reply.fresh if fresh.key == EPOCH), Fresh(EPOCH, 0))
        while drawn in (known[0] // MARKS, now.number // MARKS):
            drawn = drawn % (IDS - 1) + 1
        earlier = [
            typed.convert(value, Epoch).at for value in (known[1], now.value) if value is not None
        ]
        epoch = msgspec.structs.replace(epoch, at=max([reply.now, *[at + 1 for at in earlier]]))
        value = msgspec.to_builtins(epoch)
        reply = yield _begun(f"{batch_id}.{turn}", now.number, drawn, value)
        if not reply.stale:
            records.clear()
            records[EPOCH] = (drawn * MARKS + 1, value)
            return epoch
    raise StoreLost(f"the epoch of the store changed {TRIES} times in the meantime: try again")


def _asking(batch_id: str) -> Batch:
    """The batch that only asks for the record and the time: it expects what cannot be."""
    return Batch(f"{batch_id}.0", FLEET, False, ((EPOCH, 0, 1), (CLOCK, 0, 1)))


def _begun(batch_id: str, number: int, drawn: int, value: Any) -> Batch:
    """The batch that takes the record from a number to the first of an epoch."""
    amounts = (drawn * MARKS - number, 0, 0, 0, 0)
    expects = ((EPOCH, number, number + 1),)
    return Batch(
        batch_id, FLEET, True, expects, (), _BEGIN, amounts, ((EPOCH, value, When.JUDGED, 0, 0),)
    )
