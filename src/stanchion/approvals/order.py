"""The order of authority: whom a ticket asks at a time, by its roles, who holds them, and how long
it has waited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stanchion.approvals.act import Way
from stanchion.approvals.operators import Roster
from stanchion.approvals.rules import Answering, refusal
from stanchion.approvals.ticket import Ticket
from stanchion.kernel.autonomy import OPERATOR


class Turn(NamedTuple):
    """Who is asked now: the roles whose turn has come, the first one first, and when the next one's
    comes (0 where nobody is left). Whoever was asked may still answer, and those whose turn is to
    come may answer at once."""

    roles: tuple[str, ...]
    next_at: int

    @property
    def role(self) -> str:
        """The role that was asked last; empty where nobody can be."""
        return self.roles[-1] if self.roles else ""


def turn(ticket: Ticket, roster: Roster, now: int) -> Turn:
    """Whom a ticket asks at a time. A role that nobody holds who may say yes is passed over."""
    able = [role for role in ticket.roles if _held(ticket, roster, role)]
    if ticket.next_ms <= 0 or len(able) < 2:
        return Turn(tuple(able[:1]), 0)
    step = max(0, now - ticket.opened_at) // ticket.next_ms
    next_at = ticket.opened_at + (step + 1) * ticket.next_ms if step + 1 < len(able) else 0
    return Turn(tuple(able[: step + 1]), next_at if next_at < ticket.expires_at else 0)


def is_anybody_able(ticket: Ticket, roster: Roster, ways: Iterable[Way]) -> bool:
    """Whether anybody may say yes to a ticket: an operator, or whoever answers in one of these ways
    without a key."""
    answering = [Answering(way, "", OPERATOR, (), roster.enrolled) for way in ways]
    answering += [
        Answering(Way.KEY, one.name, role, roster.own(one), True)
        for one in roster.operators.values()
        for role in one.roles
    ]
    return any(not refusal(ticket.asked, one) for one in answering)


def _held(ticket: Ticket, roster: Roster, role: str) -> bool:
    """Whether somebody may say yes in a role. Where nobody has a key, that is whoever sits at a
    terminal."""
    if not roster.enrolled:
        return role == OPERATOR
    people = [one for one in roster.operators.values() if role in one.roles]
    return any(
        not refusal(ticket.asked, Answering(Way.KEY, one.name, role, roster.own(one), True))
        for one in people
    )
