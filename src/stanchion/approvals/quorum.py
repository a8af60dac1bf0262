"""How many people have to say yes: one, or several to what is critical, each with a key of their
own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from stanchion.approvals.act import Answer, Way
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.operators import Operator, Roster
from stanchion.approvals.rules import AnswererRole, Asked, refusal
from stanchion.approvals.ticket import State, Ticket, answered, as_of
from stanchion.kernel.autonomy import OPERATOR


def needed(ticket: Ticket, roster: Roster) -> int:
    """How many yes-answers a ticket takes. Where the policy says nothing it is two, unless there
    are no two people who could give them: with a single operator nothing critical would ever go
    ahead. Whoever asked counts among those two, or else whoever is one of two could do with the
    other's yes alone what takes two."""
    if ticket.risk != "critical" or not ticket.kind.starts:
        return 1
    if ticket.quorum is not None:
        return ticket.quorum
    asked = set(ticket.roles)
    keys = {one.key for one in roster.operators.values() if not asked or asked & set(one.roles)}
    return 2 if len(keys) > 1 else 1


def people(answers: Iterable[Answer]) -> int:
    """How many different people with different keys have answered."""
    known = list(answers)
    return min(len({one.act.operator for one in known}), len({one.key for one in known}))


def voted(
    ticket: Ticket,
    now: int,
    answer: Answer,
    scope: Scope,
    takes: int,
    counts: Callable[[Answer], bool],
) -> Ticket:
    """The ticket with one more answer. It stays open until so many people have said yes to the very
    same; each yes lasts as long as it says. One no ends it."""
    if takes <= 1 or not answer.act.yes:
        return answered(ticket, now, answer, scope)
    if as_of(ticket, now).state is not State.OPEN or answer.act.generation != ticket.generation:
        return answered(ticket, now, answer, scope)
    before = tuple([one for one in ticket.votes if now < one.act.until and counts(one)])
    for one in before:
        if one.act.operator == answer.act.operator or one.key == answer.key:
            raise AnswerRefused(
                f"`{one.act.operator}` has said yes to ticket `{ticket.id}` already, with this key "
                f"or name: "
                f"it takes {takes} people"
            )
        if one.act.scope != answer.act.scope:
            raise AnswerRefused(
                f"`{one.act.operator}` has said yes to `{one.act.scope}`: say yes to the same, or "
                f"deny the ticket"
            )
    votes = (*before, answer)
    if len(votes) < takes:
        return msgspec.structs.replace(ticket, votes=votes)
    until = min([one.act.until for one in votes])
    return msgspec.structs.replace(
        answered(ticket, now, answer, scope), votes=votes, grant_until=until
    )


def is_enough(ticket: Ticket, takes: int) -> bool:
    """Whether as many people have answered as it takes, and the yes lasts no longer than each of
    theirs."""
    answers = ticket.answers
    if not answers or people(answers) < max(takes, len(answers)):
        return False
    return (
        ticket.grant_until == min([one.act.until for one in answers])
        and answers[-1] == ticket.answer
    )


class AskedTurn(NamedTuple):
    """Who is asked now: the roles whose turn has come, the first one first, and when the next one's
    comes (0 where nobody is left). Whoever was asked may still answer, and those whose turn is to
    come may answer at once."""

    roles: tuple[str, ...]
    next_at: int

    @property
    def role(self) -> str:
        """The role that was asked last; empty where nobody can be."""
        return self.roles[-1] if self.roles else ""


def turn(ticket: Ticket, roster: Roster, now: int) -> AskedTurn:
    """Whom a ticket asks at a time. A role that nobody holds who may say yes is passed over."""
    able = [role for role in ticket.roles if _held(ticket, roster, role)]
    if ticket.next_ms <= 0 or len(able) < 2:
        return AskedTurn(tuple(able[:1]), 0)
    step = max(0, now - ticket.opened_at) // ticket.next_ms
    next_at = ticket.opened_at + (step + 1) * ticket.next_ms if step + 1 < len(able) else 0
    return AskedTurn(tuple(able[: step + 1]), next_at if next_at < ticket.expires_at else 0)


def is_anybody_able(asked: Asked, roster: Roster, ways: Iterable[Way]) -> bool:
    """Whether anybody may say yes to what is asked: an operator, or whoever answers in one of these
    ways without a key."""
    answering = [AnswererRole(way, "", OPERATOR, (), roster.enrolled) for way in ways]
    answering += [
        _with_key(roster, one, role) for one in roster.operators.values() for role in one.roles
    ]
    return any(not refusal(asked, one) for one in answering)


def _held(ticket: Ticket, roster: Roster, role: str) -> bool:
    """Whether somebody may say yes in a role. Where nobody has a key, that is whoever sits at a
    terminal."""
    if not roster.enrolled:
        return role == OPERATOR
    people = [one for one in roster.operators.values() if role in one.roles]
    return any(not refusal(ticket.asked, _with_key(roster, one, role)) for one in people)


def _with_key(roster: Roster, one: Operator, role: str) -> AnswererRole:
    return AnswererRole(Way.KEY, one.name, role, roster.own(one), True, agent=one.agent)
