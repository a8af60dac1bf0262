"""Overtaken calls: an operator has released one as dead, and then its outcome comes after all."""

from __future__ import annotations

from stanchion.kernel.events import Moment
from stanchion.kernel.state import CLOCK, Batch, Reply, StoreLost, key
from stanchion.kernel.units import NOTHING, Amounts
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.spend import book, start_of
from stanchion.runtime.driving.flow import Flow


def overtaken(desk: Desk, moment: Moment, reply: Reply) -> Flow[None]:
    """Count what calls really used beyond what they were released with: it is spent, whatever it
    exceeds."""
    for (call, used), word in zip(moment.settles, reply.settled, strict=True):
        if word != "again" or used is None:
            continue
        try:
            more = yield from _beyond(desk, call, used)
            if more != NOTHING:
                yield from book(desk, start_of(desk, moment.events[0]), more)
        except StoreLost:
            desk.tell("the store could not be reached: what a released call used is not counted")


def _beyond(desk: Desk, call: str, used: Amounts) -> Flow[Amounts]:
    """What a call used beyond what an operator said; nothing where no operator has released it."""
    cell = released_key(desk.info.tenant, call)
    reply: Reply = yield Batch(
        desk.new_id(), desk.info.tenant, False, ((cell, 0, 1), (CLOCK, 0, 1))
    )
    found = next((fresh for fresh in reply.fresh if fresh.key == cell), None)
    if found is None:
        return NOTHING
    said = found.value if found.value else NOTHING
    _, tokens, cost, api_calls, working_ms = [
        max(0, after - before) for after, before in zip(used, said, strict=True)
    ]
    return (0, tokens, cost, api_calls, working_ms)


def released_key(tenant: str, call: str) -> str:
    """The key of the record that says with what a call was released."""
    return key(tenant, "released", call)
