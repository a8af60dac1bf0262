"""Open calls: what a run has reserved and not settled, also in a process of it that is gone."""

from __future__ import annotations

import msgspec

from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.events import Moment
from stanchion.kernel.state import CLOCK, Batch, Reply, StoreLost, key
from stanchion.kernel.units import MICRO, NOTHING, Amounts, Unit
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.spend import book, start_of
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold


class OpenCall(msgspec.Struct, frozen=True):
    """A call whose outcome nobody has reported: which, since when by the store's clock, and what it
    has reserved."""

    call: str
    run: str
    since_ms: int
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    api_calls: int = 0
    duration_s: float = 0.0


def run_of(call: str) -> str:
    """The run that a call belongs to; empty where that is no call of a run."""
    run, nonce, number = ("", "", "") if call.count(".") < 2 else call.rsplit(".", 2)
    return run if nonce and number.isdigit() else ""


def reserved_by(hold: Hold) -> Amounts:
    """What a hold has reserved, by unit: the most that it took of any counter."""
    took = [
        max([part.amount for part in hold.took if part.keeps and part.unit == unit], default=0)
        for unit in Unit
    ]
    one, tokens, cost, api_calls, working_ms = took
    return (one, tokens, cost, api_calls, working_ms)


def open_call(hold: Hold) -> OpenCall:
    """A hold as the call that took it."""
    one, tokens, cost, api_calls, working_ms = reserved_by(hold)
    run = run_of(hold.id)
    return OpenCall(
        hold.id, run, hold.since_ms, one, tokens, cost / MICRO, api_calls, working_ms / 1000
    )


def spends(hold: Hold) -> bool:
    """Whether a hold has something of a budget: what only holds permits comes back by itself."""
    return any(part.keeps for part in hold.took)


def tenant_has(hold: Hold, tenant: str) -> bool:
    """Whether a hold is a tenant's."""
    tags = (key(tenant), "~" + key(tenant))
    return any(part.key.startswith(tags) for part in hold.took)


def open_calls(store: Store, tenant: str, run: str) -> tuple[OpenCall, ...]:
    """The open calls of a run, the oldest first, whichever process made them."""
    found = [
        hold
        for hold in store.holds()
        if run_of(hold.id) == run and spends(hold) and tenant_has(hold, tenant)
    ]
    return tuple(
        sorted([open_call(hold) for hold in found], key=lambda one: (one.since_ms, one.call))
    )


def listed(desk: Desk) -> Flow[tuple[OpenCall, ...]]:
    """The open calls of a run, looked for without holding up an event loop."""
    found: tuple[OpenCall, ...] = yield Invoke(
        open_calls, (desk.store, desk.info.tenant, desk.info.id)
    )
    return found


def adopt(desk: Desk, call: str) -> Flow[None]:
    """Have an outcome settle a call that another process of this run has made: it is found by its
    id."""
    if desk.is_open(call) or desk.made(call) or run_of(call) != desk.info.id:
        return
    try:
        hold: Hold | None = yield Invoke(desk.store.held, (desk.info.tenant, call))
    except StoreLost:
        desk.tell(
            "the store could not be reached: what an earlier call reserved stays charged until it "
            "is reported again"
        )
        return
    if hold is not None and (tenant_has(hold, desk.info.tenant) or tenant_has(hold, FLEET)):
        desk.adopted(call, reserved_by(hold))


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
