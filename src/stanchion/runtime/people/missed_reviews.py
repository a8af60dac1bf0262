"""Missed reviews: what went past a guardrail unanswered and nobody has reviewed in time is told of,
once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import msgspec

from stanchion.approvals.errors import TicketError
from stanchion.approvals.overrides import reviews_key, reviews_of, told_of
from stanchion.approvals.shelf import read
from stanchion.approvals.ticket import State, Ticket, key_of
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.state import ABSENT, Records, StoreLost
from stanchion.runtime.asides import aside
from stanchion.runtime.driving.sync import change_together_now
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

AT_ONCE: Final = 16
"""How many missed reviews are told of in one look; the rest in the next."""


def tell_missed(shield: Shield, tenant: str) -> tuple[str, ...]:
    """Tell of the reviews of a tenant that nobody has given in time; gives their tickets. Whoever
    looks first tells, and no process tells of one again. One that cannot be told of now is left to
    the next look."""
    try:
        watched = reviews_of(shield.store.read(reviews_key(tenant))[1])
        now = shield.clock()
        due = [one for one, at in sorted(watched.items(), key=lambda pair: pair[1]) if at <= now][
            :AT_ONCE
        ]
        missed = _taken(shield, tenant, due) if due else ()
        later = [at for at in watched.values() if at > now]
        if later:
            wake(shield, tenant, now, min(later))
    except (StoreLost, TicketError) as error:
        aside("nobody could look for missed reviews", error)
        return ()
    for one in missed:
        why = f"it went past `{one.guard}` in an emergency, and its review was due; review it now"
        fact = Fact(shield.clock(), "bypass.review_missed", one.id, tenant, one.run, one.agent, why)
        try:
            tell(shield, fact._replace(data=told_of(one)), one.tool)
        except AuditLost as lost:
            aside(f"that the review `{one.id}` was missed is not recorded", lost)
    return tuple([one.id for one in missed])


def wake(shield: Shield, tenant: str, now: int, due_at: int) -> None:
    """Look again when a review is due, unless the process looks before that; where it has ended,
    the next one looks that has the same store."""
    known = shield.alarms.get(tenant)
    if known is not None and known[1].is_alive():
        if known[0] <= due_at:
            return
        known[1].cancel()
    alarm = threading.Timer((due_at - now) / 1_000, _look, (ref(shield), tenant, due_at))
    alarm.daemon = True
    shield.alarms[tenant] = (due_at, alarm)
    alarm.start()


def _look(whose: ref[Shield], tenant: str, due_at: int) -> None:
    shield = whose()
    if shield is not None and shield.alarms.pop(tenant, (0,))[0] == due_at:
        tell_missed(shield, tenant)


def _taken(shield: Shield, tenant: str, due: list[str]) -> tuple[Ticket, ...]:
    """Take reviews that are due from those that are watched for; gives those that this process took
    and nobody had given."""
    records, name = shield.records, reviews_key(tenant)
    keys = (name, *[key_of(tenant, one) for one in due])
    missed: list[Ticket] = []

    def new(now: int) -> dict[str, Any]:
        missed[:] = _missed(records, tenant, due, now)
        watched = reviews_of(records.get(name, ABSENT)[1])
        left = {one: at for one, at in watched.items() if one not in due or at > now}
        written = {one.key: msgspec.to_builtins(one) for one in missed}
        return {} if left == watched else {name: left, **written}

    made = change_together_now(shield, "missed", tenant, keys, new)
    return tuple(missed) if made.written else ()


def _missed(records: Records, tenant: str, due: list[str], now: int) -> list[Ticket]:
    """The reviews among some that are open and overdue, marked as missed."""
    watched = reviews_of(records.get(reviews_key(tenant), ABSENT)[1])
    kept = [
        read(records.get(key_of(tenant, one), ABSENT)[1])
        for one in due
        if watched.get(one, now + 1) <= now
    ]
    found: list[Ticket] = []
    for one in kept:
        if one is not None and one.review is not None and one.state is State.OPEN:
            marked = msgspec.structs.replace(one.review, missed=True)
            found.append(msgspec.structs.replace(one, review=marked))
    return found
