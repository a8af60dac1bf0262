"""Changing what stands before every chain: ending runs, isolating tools and agents, safe mode, halt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.kernel.engine import TRIES
from holdfast.kernel.gates import MAX_ISOLATED, Ending, Standing, ending_key, standing_key
from holdfast.kernel.state import ABSENT, CLOCK, Batch, Records, Reply, StoreLost, When
from holdfast.runtime.drivers import Flow

if TYPE_CHECKING:
    from holdfast.runtime.desk import Desk


def change(records: Records, batch_id: str, tenant: str, key: str, new: Callable[[Any, int], Any]) -> Flow[None]:
    """Write a record by compare-and-set: `new` gets the value and the store's time until nobody comes between.

    The first turn expects what cannot be, so that the second one knows the store's time and the record as it is.
    """
    now = 0
    for turn in range(TRIES):
        version, value = records.get(key, ABSENT)
        put = (key, new(value, now), When.JUDGED, 0, 0)
        expects = ((key, version, version + 1), *([] if now else [(CLOCK, 0, 1)]))
        reply: Reply = yield Batch(f"{batch_id}.{turn}", tenant, True, expects, (), (), puts=(put,))
        if not reply.stale:
            records[key] = (version + 1, put[1])
            return
        now = reply.now
        for fresh in reply.fresh:
            if fresh.key != CLOCK:
                records[fresh.key] = (fresh.number, fresh.value)
    raise StoreLost(f"`{key}` changed {TRIES} times meanwhile: try again")


def end_run(desk: Desk, code: str, why: str) -> Flow[None]:
    """End a run, here at once and for every other process; without the store it stays ended here."""
    desk.ended = Ending(code, why)
    desk.over(code, why)
    key = ending_key(desk.info.tenant, desk.info.id)
    ending = msgspec.to_builtins(desk.ended)
    try:
        yield from change(desk.shield.records, desk.new_id(), desk.info.tenant, key, lambda value, _: value or ending)
    except StoreLost:
        desk.tell("the store could not be reached: other processes do not know yet that this run has ended")


def isolate(desk: Desk, name: str, for_ms: int) -> Flow[None]:
    """Isolate a tool or an agent of the run's tenant for a time, by the store's clock."""

    def with_one_more(value: Any, now: int) -> Any:
        standing = Standing() if value is None else msgspec.convert(value, Standing)
        live = {other: until for other, until in standing.isolated.items() if until > now}
        if len(live) >= MAX_ISOLATED:
            del live[min(live, key=live.__getitem__)]
        isolated = {**live, name: now + for_ms}
        return msgspec.to_builtins(msgspec.structs.replace(standing, isolated=isolated))

    tenant = desk.info.tenant
    try:
        yield from change(desk.shield.records, desk.new_id(), tenant, standing_key(tenant), with_one_more)
    except StoreLost:
        desk.tell(f"the store could not be reached: `{name}` is refused, but not isolated")


def stand(records: Records, batch_id: str, tenant: str, state: str, why: str) -> Flow[None]:
    """Put a tenant's shield into a state; what is isolated stays isolated."""

    def changed(value: Any, _now: int) -> Any:
        standing = Standing() if value is None else msgspec.convert(value, Standing)
        return msgspec.to_builtins(msgspec.structs.replace(standing, state=state, why=why))

    yield from change(records, batch_id, tenant, standing_key(tenant), changed)
