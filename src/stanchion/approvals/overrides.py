"""Overrides: a request that nobody has answered goes ahead once in an emergency, and opens a review
for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.bypass import NOBODY, Review
from stanchion.approvals.digest import SHORT, hashed
from stanchion.approvals.errors import TicketClosed, TicketError
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.ticket import Kind, State, Ticket, fate
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.state import OWED, key
from stanchion.kernel.states import NORMAL

FORM: Final = "stanchion-review-1"
"""What is hashed first where a ticket is a review, so that it is never one about an action."""

OPEN_MS: Final = 36_500 * 86_400_000
"""How long a review can be given: a missed one is still owed."""

MOST_REVIEWS: Final = 1_000
"""How many reviews of a tenant can be watched for at a time; beyond that nothing more is
overridden."""

Reviews = dict[str, int]
"""Reviews that nobody is known to have missed, by their tickets, and when each is due."""

FACTS: Final = {
    State.APPROVED: "bypass.granted",
    State.DENIED: "bypass.denied",
    State.WITHDRAWN: "bypass.withdrawn",
    State.REVIEWED: "bypass.reviewed",
}
"""What an answer to a request for a bypass, or to a review, is called in the trail."""


def reviews_key(tenant: str) -> str:
    """Where a tenant's reviews are watched for."""
    return key(tenant, "reviews")


def reviews_of(value: Any) -> Reviews:
    """The reviews that a record tells."""
    return {} if value is None else typed.convert(value, Reviews)


def overridden(ticket: Ticket, call: str) -> Ticket:
    """A request as it is when a call has started on it that nobody has answered."""
    assert ticket.bypass is not None
    requested = msgspec.structs.replace(ticket.bypass, overridden=True)
    return msgspec.structs.replace(ticket, state=State.USED, used_by=call, bypass=requested)


def review_of(ticket: Ticket, call: str, now: int) -> Ticket:
    """The review of a request that was overridden by a call. It shows what that did, and an
    operator ends it."""
    assert ticket.bypass is not None
    what = hashed([FORM, ticket.deed.what, ticket.id, ticket.generation, call])
    guardrail = ticket.bypass.guardrail
    return Ticket(
        id=f"{what[:SHORT]}{OWED}",
        kind=Kind.REVIEW,
        tenant=ticket.tenant,
        run=ticket.run,
        deed=msgspec.structs.replace(ticket.deed, what=what),
        content=ticket.content,
        beside=ticket.beside,
        askers=ticket.askers,
        above=ticket.above,
        guard=guardrail,
        code="bypass.overridden",
        message=(
            f"it went past `{guardrail}` in an emergency, before anybody had answered: was "
            f"that right?"
        ),
        roles=(OPERATOR,),
        mode=NORMAL,
        opened_at=now,
        expires_at=now + OPEN_MS,
        review=Review(of=ticket.id, due_at=now + ticket.bypass.review_ms),
    )


def check_answer(
    ticket: Ticket, yes: bool, scope: Scope, edits: Mapping[str, Any] | None = None
) -> None:
    """Whether a ticket can be answered so at all: `TicketError` says why a bypass or a review
    cannot."""
    if ticket.review is not None and not yes:
        raise TicketError(
            f"ticket `{ticket.id}` is a review: an operator ends it with `stanchion tickets "
            f"review`, right or wrong"
        )
    if (
        (ticket.bypass is not None or ticket.review is not None)
        and yes
        and (scope is not Scope.ONCE or edits)
    ):
        raise TicketError(
            f"ticket `{ticket.id}` is about one action as it is: a yes reaches no further and "
            f"edits nothing"
        )
    if ticket.kind is Kind.VALUE and yes and scope is not Scope.ONCE:
        raise TicketError(
            f"ticket `{ticket.id}` is about values, and a yes is for this task: leave the scope out"
        )
    if ticket.bypass is not None and yes and ticket.state is State.OPEN and ticket.roles == NOBODY:
        raise TicketError(
            f"ticket `{ticket.id}` can only be denied: `{ticket.bypass.guardrail}` is always "
            f"active, or nothing is "
            "left of the budget, and then only an emergency goes past it"
        )


def check_approvable(ticket: Ticket) -> None:
    """Whether a yes can answer a ticket as it stands, before a proof is asked for: `TicketError`
    says why not."""
    if ticket.review is not None and ticket.state is State.OPEN:
        raise TicketError(
            f"ticket `{ticket.id}` is a review, which `approve` cannot answer: end it with "
            f"`stanchion tickets review`"
        )
    if ticket.state is not State.OPEN:
        raise TicketClosed(f"`approve` cannot answer it: ticket `{ticket.id}` {fate(ticket)}")


def fact_of(ticket: Ticket) -> str:
    """What an answer to a ticket is called in the trail."""
    is_own = ticket.bypass is not None or ticket.review is not None
    return FACTS[ticket.state] if is_own else f"ticket.{ticket.state}"


def told_of(ticket: Ticket) -> dict[str, Any]:
    """What the trail says of a request, or of what a review is about; nothing of what the call was
    given."""
    if ticket.review is not None:
        return {"guardrail": ticket.guard, "of": ticket.review.of, "due_at": ticket.review.due_at}
    if ticket.bypass is None:
        return {}
    one = ticket.bypass
    return {
        "guardrail": one.guardrail,
        "request": one.id,
        "reason": one.reason,
        "urgency": str(one.urgency),
    }
