"""Changing one record by compare-and-set, on the store's own time."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, NamedTuple

from stanchion.kernel.engine import TRIES
from stanchion.kernel.state import ABSENT, CLOCK, Batch, Records, Reply, StoreLost, When

LEFT: Final = object()
"""What a record is to become where it is to stay as it is."""


class Changed(NamedTuple):
    """A record as it is now, its version, what it was before, the store's time, and whether it was written."""

    value: Any
    version: int
    before: Any
    now: int
    written: bool


def change(
    records: Records, batch_id: str, tenant: str, key: str, new: Callable[[Any, int], Any]
) -> Generator[Batch, Reply, Changed]:
    """Write a record: `new` gets its value and the store's time until nobody comes between, and may leave it (`LEFT`).

    One trip to the store, which expects what cannot be and so only tells the time and the record as it is, and one more
    where something is written.
    """
    version, _ = records.get(key, ABSENT)
    reply = yield Batch(f"{batch_id}.0", tenant, False, ((key, version, version + 1), (CLOCK, 0, 1)))
    for turn in range(1, TRIES + 1):
        for fresh in reply.fresh:
            if fresh.key == key:
                records[key] = (fresh.number, fresh.value)
        version, value = records.get(key, ABSENT)
        wanted = new(value, reply.now)
        if wanted is LEFT:
            return Changed(value, version, value, reply.now, False)
        put = (key, wanted, When.JUDGED, 0, 0)
        reply = yield Batch(f"{batch_id}.{turn}", tenant, True, ((key, version, version + 1),), puts=(put,))
        if not reply.stale:
            records[key] = (version + 1, wanted)
            return Changed(wanted, version + 1, value, reply.now, True)
    raise StoreLost(f"`{key}` changed {TRIES} times meanwhile: try again")
