"""Tickets: a durable request for a person, and its life from opening to use; every step is a pure function."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from stanchion.approvals.errors import TicketClosed, TicketError
from stanchion.kernel.state import key

GRANT_S: Final = 900.0
"""How long an approval can be used, unless the person says otherwise."""

LONGEST_S: Final = 86_400.0
"""How long an approval can be used at most."""

NO_REASON: Final = "no reason was given"


class State(StrEnum):
    """Where a ticket stands."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    USED = "used"
    WITHDRAWN = "withdrawn"
    """It was approved, and the approval was taken back before it was used."""


class Ticket(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is asked of a person, why, and what became of it.

    `digest` is what an approval is bound to. `content` is what would go ahead, fit to be shown, and `beside` the rest
    of its event. Times are the store's, in milliseconds. An action that is asked for again when its ticket is over
    opens it anew: `generation` counts how often that was.
    """

    id: str
    state: State = State.OPEN
    tenant: str = "default"
    run: str
    agent: str = ""
    task: str = ""
    stage: str
    tool: str = ""
    risk: str = "medium"
    content: Any = None
    beside: dict[str, Any] = {}
    guard: str = ""
    code: str = ""
    message: str = ""
    roles: tuple[str, ...] = ()
    policy: str
    digest: str
    opened_at: int
    expires_at: int
    answered_by: str = ""
    answered_as: str = ""
    answered_at: int = 0
    comment: str = ""
    grant_until: int = 0
    used_by: str = ""
    generation: int = 1

    @property
    def key(self) -> str:
        """Where it is kept."""
        return key_of(self.tenant, self.id)

    @property
    def about(self) -> str:
        """What it is about, in a word: the tool, or the stage where there is none."""
        return self.tool if self.tool else self.stage


def key_of(tenant: str, ticket_id: str) -> str:
    """Where the ticket with that id is kept."""
    return key(tenant, "ticket", ticket_id)


def as_of(ticket: Ticket, now: int) -> Ticket:
    """The ticket as it stands at a time: one that nobody answered, or whose approval was not used, has expired."""
    ends = {State.OPEN: ticket.expires_at, State.APPROVED: ticket.grant_until}.get(ticket.state)
    if ends is None or now < ends:
        return ticket
    return msgspec.structs.replace(ticket, state=State.EXPIRED)


def is_over(ticket: Ticket, now: int) -> bool:
    """Whether the action can be asked for anew: the ticket was used, or is known to have expired. A denial stands for
    as long as the ticket would have been open."""
    if ticket.state in (State.DENIED, State.WITHDRAWN):
        return now >= ticket.expires_at
    return ticket.state in (State.USED, State.EXPIRED)


def approve(
    ticket: Ticket, now: int, by: str, comment: str = "", role: str = "", for_ms: int = int(GRANT_S * 1000)
) -> Ticket:
    """The ticket with a person's yes, which can be used once, for so long."""
    _may_answer(ticket, by, role)
    return _answered(_open(ticket, now), now, State.APPROVED, by, comment, role, now + for_ms)


def deny(ticket: Ticket, now: int, by: str, comment: str = "", role: str = "") -> Ticket:
    """The ticket with a person's no; an approval that nobody has used yet is taken back."""
    _may_answer(ticket, by, role)
    if as_of(ticket, now).state is State.APPROVED:
        return _answered(ticket, now, State.WITHDRAWN, by, comment, role)
    return _answered(_open(ticket, now), now, State.DENIED, by, comment, role)


def use(ticket: Ticket, call: str) -> Ticket:
    """The ticket as it is when a call has started on it."""
    if ticket.state is not State.APPROVED:
        raise TicketClosed(f"ticket `{ticket.id}` is {ticket.state}: only an approved one can be used")
    return msgspec.structs.replace(ticket, state=State.USED, used_by=call)


def reopen(ticket: Ticket, before: Ticket | None, now: int, for_ms: int) -> Ticket:
    """The ticket opened now, for so long; `before` is what its place held."""
    generation = 1 if before is None else before.generation + 1
    return msgspec.structs.replace(ticket, opened_at=now, expires_at=now + for_ms, generation=generation)


def _may_answer(ticket: Ticket, by: str, role: str) -> None:
    if not by.strip():
        raise TicketError("nobody is named: say who answers, with `by`")
    if by.strip().casefold() == ticket.agent.strip().casefold():
        raise TicketError(f"`{by}` asked for ticket `{ticket.id}` itself: somebody else has to answer it")
    if role and ticket.roles and role not in ticket.roles:
        asked = ", ".join(f"`{one}`" for one in ticket.roles)
        raise TicketError(f"ticket `{ticket.id}` is not for the role `{role}`: it asks for {asked}")


def _open(ticket: Ticket, now: int) -> Ticket:
    standing = as_of(ticket, now)
    if standing.state is State.OPEN:
        return standing
    raise TicketClosed(f"ticket `{ticket.id}` {_fate(standing)}")


def _fate(ticket: Ticket) -> str:
    """What became of a ticket that is not open, and what to do."""
    again = "it is opened anew when the action is asked for again"
    match ticket.state:
        case State.APPROVED:
            return f"is approved already, by `{ticket.answered_by}`: let the action be repeated, or deny it"
        case State.DENIED | State.WITHDRAWN:
            return f"was denied already, by `{ticket.answered_by}`: {again} later"
        case State.USED:
            return f"was approved by `{ticket.answered_by}` and is used: {again}"
        case _:
            return f"has expired: {again}"


def _answered(ticket: Ticket, now: int, state: State, by: str, comment: str, role: str, until: int = 0) -> Ticket:
    return msgspec.structs.replace(
        ticket,
        state=state,
        answered_by=by,
        answered_as=role,
        answered_at=now,
        comment=comment,
        grant_until=until,
    )
