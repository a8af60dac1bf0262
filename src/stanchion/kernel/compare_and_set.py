"""Changing records by compare-and-set, on the store's own time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

from stanchion.kernel.engine import TRIES
from stanchion.kernel.state import ABSENT, CLOCK, Batch, Line, Records, Reply, StoreLost, When
from stanchion.kernel.tuples import NamedTuple

LEFT: Final = object()
"""What a record is to become where it is to stay as it is."""


class ChangedRecord(NamedTuple):
    """A record as it is now, its version, what it was before, the store's time, and whether it was
    written."""

    value: Any
    version: int
    before: Any
    now: int
    written: bool


def change(
    records: Records, batch_id: str, tenant: str, key: str, new: Callable[[Any, int], Any]
) -> Generator[Batch, Reply, ChangedRecord]:
    """Write a record: `new` gets its value and the store's time until nobody comes between, and may
    leave it (`LEFT`).

    One trip to the store, which expects what cannot be and so only tells the time and the record as
    it is, and one more where something is written.
    """
    version, _ = records.get(key, ABSENT)
    reply = yield Batch(
        f"{batch_id}.0", tenant, False, ((key, version, version + 1), (CLOCK, 0, 1))
    )
    for turn in range(1, TRIES + 1):
        for fresh in reply.fresh:
            if fresh.key == key:
                records[key] = (fresh.number, fresh.value)
        version, value = records.get(key, ABSENT)
        wanted = new(value, reply.now)
        if wanted is LEFT:
            return ChangedRecord(value, version, value, reply.now, False)
        put = (key, wanted, When.JUDGED, 0, 0)
        reply = yield Batch(
            f"{batch_id}.{turn}", tenant, True, ((key, version, version + 1),), puts=(put,)
        )
        if not reply.stale:
            records[key] = (version + 1, wanted)
            return ChangedRecord(wanted, version + 1, value, reply.now, True)
    raise StoreLost(f"`{key}` changed {TRIES} times in the meantime: try again")


class Together(NamedTuple):
    """What came of changing several records: the store's last reply, and whether they were
    written."""

    reply: Reply
    written: bool


def change_together(
    records: Records,
    batch_id: str,
    tenant: str,
    keys: Callable[[], tuple[str, ...]],
    new: Callable[[int], Mapping[str, Any]],
    lines: Callable[[], tuple[Line, ...]] = tuple,
) -> Generator[Batch, Reply, Together]:
    """Write several records of a tenant at once, or none. `keys` says which ones are looked at, by
    what is known of them; `new` gets the store's time and gives those that are to change, or `LEFT`
    for one where more has to be looked at first. `lines` are counted where they are written; one
    that stops leaves all of them as they are.

    All of them read `records`, where everything that `keys` names is as the store had it.
    """
    looked: set[str] = set()
    reply, wanted = Reply(0), keys()
    for turn in range(2 * TRIES):
        wanted = keys()
        expects = tuple(
            [(key, records.get(key, ABSENT)[0], records.get(key, ABSENT)[0] + 1) for key in wanted]
        )
        if not looked.issuperset(wanted):
            reply = yield Batch(f"{batch_id}.{turn}", tenant, False, (*expects, (CLOCK, 0, 1)))
            looked.update(wanted)
            _refresh(records, reply)
            continue
        changed = new(reply.now)
        if not changed:
            return Together(reply, False)
        if any(value is LEFT for value in changed.values()):
            continue
        puts = tuple([(key, value, When.PROCEED, 0, 0) for key, value in changed.items()])
        reply = yield Batch(f"{batch_id}.{turn}", tenant, True, expects, lines=lines(), puts=puts)
        if not reply.stale:
            if reply.go:
                records.update(
                    {
                        key: (records.get(key, ABSENT)[0] + 1, value)
                        for key, value in changed.items()
                    }
                )
            return Together(reply, reply.go)
        _refresh(records, reply)
    raise StoreLost(f"`{wanted[0]}` changed {TRIES} times in the meantime: try again")


def _refresh(records: Records, reply: Reply) -> None:
    for fresh in reply.fresh:
        if fresh.key != CLOCK:
            records[fresh.key] = (fresh.number, fresh.value)
