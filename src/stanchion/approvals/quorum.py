"""How many people have to say yes: one, or several to what is critical, each with a key of their
own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from stanchion.approvals.act import Answer
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.operators import Roster
from stanchion.approvals.scope import Scope
from stanchion.approvals.ticket import State, Ticket, answered, as_of


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
