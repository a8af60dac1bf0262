"""Answers that are kept: whether a yes still counts when an action is about to start on it, checked
whole each time."""

from __future__ import annotations

import msgspec

from stanchion.approvals.act import Answer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope, said
from stanchion.approvals.grants import Grant, checked_edits, is_as_signed
from stanchion.approvals.operators import Roster
from stanchion.approvals.quorum import is_enough, needed
from stanchion.approvals.shelf import KeptTicket, ask_again
from stanchion.approvals.standing import CRITICAL, AskedCall, ends_ms, fits
from stanchion.approvals.ticket import Ticket, wish_of
from stanchion.audit.journal import Fact
from stanchion.kernel.actions import Risk
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import LASTING
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.states import NORMAL
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.run_memory import paused
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.veil import tell


def grant_doubt(desk: Desk, roster: Roster, grant: Grant, wanted: Ticket) -> str:
    """Why a grant does not count, though it would cover an action; empty where it does."""
    if not is_as_signed(grant) or grant.answer.act.tenant != wanted.tenant:
        return "it is not what was answered"
    return desk.shield.authority.doubt(roster, grant.answer, wanted.asked, grant.scope)


def taken(
    desk: Desk, kept: KeptTicket, wanted: Ticket, decision: Decision, roster: Roster
) -> Flow[KeptTicket]:
    """An approved ticket whose answers count; one whose answers do not is open again, and that is
    written down."""
    ticket = kept.ticket
    assert ticket is not None
    why = wrong(desk, roster, ticket, wanted)
    if not why:
        return kept
    life_ms = max(1, int(paused(decision, desk.shield.policy.file.escalation).timeout_s * 1000))
    made = yield from ask_again(
        desk.shield.records, f"{decision.id}.again", ticket, wanted, life_ms
    )
    fact = Fact(
        made.now, "answer.refused", ticket.id, ticket.tenant, ticket.run, ticket.answered_by, why
    )
    tell(desk.shield, fact._replace(data={"purpose": "ticket", "generation": ticket.generation}))
    return made


def wrong(desk: Desk, roster: Roster, ticket: Ticket, wanted: Ticket) -> str:
    """Why the answers that are kept with a ticket do not let an action go ahead; empty where they
    do."""
    if ticket.answer is None:
        return "there is no answer"
    if not ticket.kind.starts:
        return "nothing starts on it"
    same = (ticket.kind, ticket.deed) == (wanted.kind, wanted.deed)
    if ticket.scope is not Scope.ONCE or not same:
        return "it is for something else"
    try:
        checked_edits(ticket, ticket.edits)
    except TicketError as error:
        return str(error)
    if not is_enough(ticket, needed(wanted, roster)):
        return (
            "fewer people have said yes than it takes, or the ticket is not as it was when it "
            "was answered"
        )
    return next(
        (why for one in ticket.answers if (why := _doubt(desk, roster, ticket, wanted, one))), ""
    )


def _doubt(desk: Desk, roster: Roster, ticket: Ticket, wanted: Ticket, answer: Answer) -> str:
    """Why one of a ticket's answers does not count; empty where it does."""
    wish = wish_of(ticket, said(Scope.ONCE, edits=ticket.edits))
    if not answer.act.yes or not wish.is_answered_by(answer.act):
        return "the ticket is not as it was when it was answered"
    asked = msgspec.structs.replace(
        wanted.asked, agents=(*ticket.asked.agents, *wanted.asked.agents)
    )
    return desk.shield.authority.doubt(roster, answer, asked, ticket.scope)


def standing_yes(desk: Desk, event: Event, decision: Decision, guards: tuple[str, ...]) -> str:
    """The name under which the policy approves a call that guards ask about; empty where it does
    not.

    Where little is left of a budget, or anything else makes the run stricter, people are asked
    again.
    """
    if not isinstance(event, ToolCall) or decision.inputs.mode != NORMAL:
        return ""
    run, now = event.run, desk.shield.clock()
    critical = event.risk is Risk.CRITICAL or run.risk == CRITICAL
    once_only = critical or not LASTING.isdisjoint(event.traits)
    call = AskedCall(event.tool, event.args, guards, run.agent, run.task, once_only)
    for name, approval in desk.shield.policy.file.approved.items():
        if fits(approval, call) and now < ends_ms(approval.until):
            return name
    return ""
