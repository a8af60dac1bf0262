"""What people do with a shield's tickets: look at them, answer them, and take answers back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stanchion.approvals.act import answer_of
from stanchion.approvals.answerers import By
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope
from stanchion.kernel.counter_scopes import FLEET

if TYPE_CHECKING:
    from stanchion.approvals.grants import Grant
    from stanchion.approvals.ticket import Ticket
    from stanchion.runtime.people.tickets import Tickets
    from stanchion.runtime.shield import Shield


def tickets(
    shield: Shield, tenant: str | None = None, state: str | None = None, *, most: int = 50
) -> list[Ticket]:
    """What waits for a person, and what was approved and is not used yet; the most urgent comes
    first. With a `state` (`open`, `approved`, `used`, …; `all` for every one) all that are kept are
    read. Without a tenant those of the shield's, where it has one by name; `*` is all."""
    kept, whose = ticketing(shield), _whose(shield, tenant)
    if state is None:
        return kept.waiting(whose, most)
    return [one for one in kept.every(whose) if state in ("all", one.state)]


def ticket(shield: Shield, id: str, tenant: str | None = None) -> Ticket:
    """One ticket, by its id or by as much of it as is unique; `UnknownTicket` where there is
    none."""
    return ticketing(shield).find(id, _whose(shield, tenant))


def grants(shield: Shield, tenant: str | None = None) -> list[tuple[str, Grant]]:
    """Every yes that reaches further than one call and still holds, with its tenant."""
    return ticketing(shield).grants(_whose(shield, tenant))


def approve(
    shield: Shield,
    id: str,
    *,
    by: By,
    comment: str = "",
    for_s: float = 900.0,
    scope: str = "once",
    pattern: Mapping[str, str] | None = None,
    edits: Mapping[str, Any] | None = None,
    tenant: str | None = None,
    generation: int | None = None,
) -> Ticket:
    """Say yes to a ticket: the very action it is about may start once, within `for_s` seconds, or
    as often as `scope` lets it (`run`, `task`, `time`, `pattern`). With `edits` it goes ahead with
    these arguments changed, once. `TicketError` where it is not open any more, or `by` may not
    answer it. `generation` is that of the ticket as it was shown. A critical action stays open
    until as many people have said yes as it takes."""
    return ticketing(shield).answer(
        id,
        by,
        yes=True,
        comment=comment,
        for_s=for_s,
        scope=Scope(scope),
        pattern=None if pattern is None else dict(pattern),
        edits=edits,
        tenant=_whose(shield, tenant),
        generation=generation,
    )


def deny(shield: Shield, id: str, *, by: By, comment: str, tenant: str | None = None) -> Ticket:
    """Say no to a ticket, or take back an approval that is not used yet; the agent reads the
    comment, so there has to be one."""
    return ticketing(shield).answer(
        id, by, yes=False, comment=comment, tenant=_whose(shield, tenant)
    )


def answer(shield: Shield, data: bytes) -> Ticket:
    """Take an answer to a ticket that an operator has signed elsewhere; any process may carry it
    here."""
    return ticketing(shield).carried(answer_of(data))


def review(
    shield: Shield,
    id: str,
    *,
    by: By,
    comment: str,
    right: bool = True,
    tenant: str | None = None,
) -> Ticket:
    """End the review of an action that went past a guardrail unanswered: say whether that was
    right, and what you found. `TicketError` where it is no review, was given already, or `by` is no
    operator who may."""
    found = ticket(shield, id, tenant)
    if found.review is None:
        raise TicketError(f"ticket `{found.id}` is no review: approve or deny it")
    if not comment.strip():
        raise TicketError("a review says what was found: give a comment")
    said = f"{'right' if right else 'wrong'}: {comment.strip()}"
    return ticketing(shield).answer(found.id, by, yes=True, comment=said, tenant=found.tenant)


def revoke(
    shield: Shield, grant: str, *, by: str, why: str = "", tenant: str | None = None
) -> bool:
    """Take back a yes that reaches further than one call, by its id; says whether there was one."""
    return ticketing(shield).revoke(grant, by, why, shield.tenancy.of(tenant))


def ticketing(shield: Shield) -> Tickets:
    """The tickets of a shield's store."""
    from stanchion.runtime.people.tickets import Tickets

    return Tickets(shield)


def _whose(shield: Shield, tenant: str | None) -> str | None:
    whose = shield.tenancy.named if tenant is None else tenant
    return None if whose in ("", FLEET) else whose
