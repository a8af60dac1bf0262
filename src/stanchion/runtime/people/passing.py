"""Passing a ticket on: when its time has come the next role is asked as well, and told so once, by
whoever notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stanchion.approvals.operators import Roster
from stanchion.approvals.order import turn
from stanchion.approvals.shelf import Kept, change
from stanchion.approvals.ticket import State, Ticket, as_of
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.runtime.asides import aside
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.people.grounds import Answered


def is_due(ticket: Ticket, roster: Roster, now: int) -> bool:
    """Whether a role is asked by now that has not been told. Who cannot tell who the operators are
    tells nobody."""
    if ticket.next_ms <= 0 or ticket.state is not State.OPEN or roster.trouble:
        return False
    role = turn(ticket, roster, now).role
    return bool(role) and role not in ticket.told


def pass_on(shield: Answered, ticket: Ticket, roster: Roster, batch_id: str) -> Flow[Kept]:
    """Ask whose turn it is by the store's time. Of all processes that notice, the one tells that
    has written it down: a step is told once, and not at all where that process is killed in
    between."""

    def told(kept: Ticket | None, now: int) -> Ticket | None:
        if kept is None or not is_due(as_of(kept, now), roster, now):
            return kept
        return msgspec.structs.replace(kept, told=(*kept.told, turn(kept, roster, now).role))

    made = yield from change(shield.records, batch_id, ticket.tenant, ticket.key, told)
    if made.changed and made.ticket is not None:
        _write_down(shield, made.ticket, made.now)
    return made


def context(ticket: Ticket) -> dict[str, object]:
    """What whoever is asked has to know of a ticket at first sight; `stanchion tickets show` has
    all of it."""
    return {
        "digest": ticket.deed.digest,
        "about": ticket.about,
        "expires_at": ticket.expires_at,
        "kind": str(ticket.kind),
        "asks": ticket.told[-1] if ticket.told else "",
        "agent": ticket.agent,
        "task": ticket.task,
        "risk": ticket.risk,
        "guard": ticket.guard,
    }


def _write_down(shield: Answered, ticket: Ticket, now: int) -> None:
    fact = Fact(
        now, "ticket.passed", ticket.id, ticket.tenant, ticket.run, ticket.agent, ticket.message
    )
    try:
        tell(shield, fact._replace(data=context(ticket)), ticket.deed.tool)
    except AuditLost as lost:
        aside(f"it is not recorded that ticket `{ticket.id}` passes to the next role", lost)
