"""What a call of a run has taken, as what is owed to the store where nobody settles it any more."""

from __future__ import annotations

from stanchion.kernel.chain import Permit
from stanchion.kernel.events import Event
from stanchion.kernel.state import ABSENT, Batch, Settle
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.owed import Owed, Places


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
    places = Places(runs, tuple(permits), info.tenant, records, desk.new_id)
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
    places = Places(calls, permits, tenant, desk.shield.records, desk.new_id) if permits else None
    return Owed(desk.new_id(), (*first, *closes), places)
