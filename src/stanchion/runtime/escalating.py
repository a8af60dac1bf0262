"""Escalating: an action that waits for a person. It opens a ticket, or finds the one that was opened for it before."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from stanchion.approvals.digest import SHORT, bounded, digest_of
from stanchion.approvals.errors import TicketError
from stanchion.approvals.keeping import Kept, change
from stanchion.approvals.ticket import NO_REASON, State, Ticket, as_of, is_over, reopen, use
from stanchion.approvals.words import DENIED, EXPIRED, USED
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.audit.record import BESIDE, RISKS, patched
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import ASK, Finding
from stanchion.kernel.lookups import Answered
from stanchion.kernel.state import Stake, StoreLost
from stanchion.policy.veil import renamed
from stanchion.runtime.asides import aside
from stanchion.runtime.desk import Desk
from stanchion.runtime.discretion import arguments
from stanchion.runtime.drivers import Flow
from stanchion.runtime.effects import Turn
from stanchion.runtime.veiling import hidden_names, tell

FIRST_S: Final = 0.05
LONGEST_S: Final = 1.0
"""How long a caller who waits lets the store rest between two looks: first, and at most."""
LOOKED_AT: Final = "stanchion-run-1"
"""What is hashed first where a ticket is about a run, so that it is never one about an action."""


class Granted(NamedTuple):
    """A person's yes to one action under one policy; it is used up when the action starts, and only in time."""

    ticket: str
    policy: str
    approved: Ticket
    version: int

    def covers(self, policy: str) -> bool:
        """Whether it still holds for its action under a policy that may have changed since."""
        return policy == self.policy

    def stake(self, event: Event) -> Stake:
        """The record that the start of the action uses up."""
        used = msgspec.to_builtins(use(self.approved, event.id))
        return Stake(self.approved.key, self.version, used, until=self.approved.grant_until)


def ask(desk: Desk, event: Event, decision: Decision, waits: bool) -> Flow[Granted | Finding | None]:
    """A person's answer to an action: their yes, why it is refused, or `None` while nobody has answered.

    `waits` says whether the caller stays until somebody has, for as long as the policy lets it.
    """
    wanted = _asked(desk, event, decision)
    life_ms = max(1, int(desk.shield.policy.file.escalation.timeout_s * 1000))

    def opened(ticket: Ticket | None, now: int) -> Ticket:
        if ticket is None or is_over(ticket, now):
            return reopen(wanted, ticket, now, life_ms)
        return as_of(ticket, now)

    try:
        kept = yield from change(desk.shield.records, f"{decision.id}.ask", wanted.tenant, wanted.key, opened)
        if kept.ticket is None or kept.ticket.digest != wanted.digest:
            desk.tell("a person is asked about something else in its place: repeat the call when that is answered")
            return None
        desk.waits_for(decision, wanted.id)
        if kept.changed and kept.ticket.state is State.OPEN:
            _write_down(desk, kept.ticket, decision)
        if kept.ticket.state is State.OPEN and waits:
            kept = yield from _wait(desk, kept.ticket, kept, decision)
    except (StoreLost, TicketError) as error:
        desk.tell("nobody could be asked, because the state store cannot be used; repeat the call later")
        aside(f"no ticket `{wanted.id}` could be opened", error)
        return None
    return _answer(desk, kept, decision)


def report(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Open a ticket about a run that goes on with what is refused, once for each thing. Its answer lets nothing
    through: it is bound to the run and to what the finding is about, and no action can start on it."""
    from hashlib import sha256

    asks = next(finding for finding in decision.findings if ASK in finding.effects)
    digest = sha256("\0".join([LOOKED_AT, event.run.tenant, event.run.id, asks.guard, asks.about]).encode()).hexdigest()
    wanted = msgspec.structs.replace(
        _asked(desk, event, decision),
        id=digest[:SHORT],
        digest=digest,
        guard=asks.guard,
        code=asks.code,
        message=asks.message,
    )
    life_ms = max(1, int(desk.shield.policy.file.escalation.timeout_s * 1000))

    def opened(ticket: Ticket | None, now: int) -> Ticket:
        return reopen(wanted, None, now, life_ms) if ticket is None else ticket

    try:
        kept = yield from change(desk.shield.records, f"{decision.id}.report", wanted.tenant, wanted.key, opened)
    except (StoreLost, TicketError) as error:
        desk.tell("nobody could be asked to look at this run, because the state store cannot be used")
        aside(f"no ticket `{wanted.id}` could be opened", error)
        return
    if kept.changed and kept.ticket is not None:
        desk.tell(f"{asks.message}; a person is asked to look at this run")
        _write_down(desk, kept.ticket, decision)


def resumed(desk: Desk, moment: Moment, answer: Granted | Finding) -> Moment:
    """A moment once more, with a person's answer to it; what it settled is settled already."""
    event = desk.renewed(moment.events[0])
    if isinstance(answer, Finding):
        return desk.moment(event, moment.amounts, refused=(answer,))
    return desk.moment(event, moment.amounts, stakes=(answer.stake(event),), granted=answer.ticket)


def _wait(desk: Desk, ticket: Ticket, kept: Kept, decision: Decision) -> Flow[Kept]:
    """Look again and again, ever more rarely, until somebody has answered or the caller's time is over."""
    left_s = desk.shield.policy.file.escalation.wait_s
    if desk.deadline_at_ms is not None:
        left_s = min(left_s, (desk.deadline_at_ms - desk.shield.clock()) / 1000)
    pause_s, looks = FIRST_S, 0
    while left_s > 0 and desk.ended is None and kept.ticket is not None and kept.ticket.state is State.OPEN:
        place = desk.shield.waiting.join(ticket.key)
        try:
            yield Turn(place, min(pause_s, left_s))
        finally:
            desk.shield.waiting.leave(ticket.key, place)
        left_s -= pause_s
        pause_s, looks = min(pause_s * 2, LONGEST_S), looks + 1
        look = f"{decision.id}.look{looks}"
        kept = yield from change(desk.shield.records, look, ticket.tenant, ticket.key, _standing)
    return kept


def _standing(ticket: Ticket | None, now: int) -> Ticket | None:
    return None if ticket is None else as_of(ticket, now)


def _answer(desk: Desk, kept: Kept, decision: Decision) -> Granted | Finding | None:
    ticket = kept.ticket
    if ticket is None or ticket.state is State.OPEN:
        return None
    match ticket.state:
        case State.APPROVED:
            return Granted(ticket.id, decision.policy, ticket, kept.version)
        case State.DENIED | State.WITHDRAWN:
            said = (ticket.id, ticket.answered_by, ticket.comment if ticket.comment else NO_REASON)
            return Finding(Action.BLOCK, DENIED, said, guard="kernel")
        case State.USED:
            return Finding(Action.BLOCK, USED, (ticket.id,), guard="kernel")
        case State.EXPIRED:
            return Finding(Action.BLOCK, EXPIRED, (ticket.id, _how_expired(ticket)), guard="kernel")


def _how_expired(ticket: Ticket) -> str:
    if ticket.grant_until:
        took_s = (ticket.grant_until - ticket.answered_at) / 1000
        return f"what was agreed to was not used within {took_s:g} s"
    return f"nobody answered within {(ticket.expires_at - ticket.opened_at) / 1000:g} s"


def _asked(desk: Desk, event: Event, decision: Decision) -> Ticket:
    """What is asked of a person, fit to be shown; it is not open yet."""
    digest = digest_of(event, decision.policy)
    determining = decision.determining
    run = event.run
    ticket = Ticket(
        id=digest[:SHORT],
        tenant=run.tenant,
        run=run.id,
        agent=run.agent,
        task=run.task,
        stage=event.stage.value,
        tool=event.tool,
        risk=RISKS[event.risk],
        content=bounded(masked(patched(content_of(event), decision))),
        beside={
            **{name: bounded(masked(_beside(desk, event, name))) for name in BESIDE[event.stage]},
            **_evidence(desk, decision),
        },
        guard="" if determining is None else determining.guard,
        code=decision.code,
        message=decision.message,
        roles=desk.shield.policy.file.escalation.roles,
        policy=decision.policy,
        digest=digest,
        opened_at=0,
        expires_at=0,
    )
    # The tenant's name is part of the place where the ticket is kept.
    return msgspec.structs.replace(renamed(ticket, hidden_names(desk.plans, event)), tenant=run.tenant)


def _beside(desk: Desk, event: Event, name: str) -> Any:
    """What stands beside an event's content; of arguments what guards redact in a call is left out, for those that a
    host reports with a result are as the host has them."""
    return arguments(desk.plans, event) if name == "args" else getattr(event, name)


def _evidence(desk: Desk, decision: Decision) -> dict[str, Any]:
    """What a person has to know beside the action itself, where the guard that asks for one can tell."""
    asks = decision.determining
    placed = None if asks is None else desk.shield.placed(decision.policy, asks.guard)
    shown = None if placed is None else getattr(placed.guard, "shown", None)
    if asks is None or shown is None:
        return {}
    answers = [
        answer.value for name, answer in decision.inputs.answers if name == asks.guard and type(answer) is Answered
    ]
    return {name: masked(words) for answer in answers for name, words in shown(answer).items()}


def _write_down(desk: Desk, ticket: Ticket, decision: Decision) -> None:
    """Write down that a ticket was opened, and for which call."""
    data = {"call": decision.id, "digest": ticket.digest, "about": ticket.about, "expires_at": ticket.expires_at}
    opened = Fact(ticket.opened_at, "ticket.opened", ticket.id, ticket.tenant, ticket.run, ticket.agent, ticket.message)
    try:
        tell(desk.shield, opened._replace(data=data))
    except AuditLost as lost:
        desk.tell("the audit trail could not be written: that a person was asked is not recorded")
        aside(f"that ticket `{ticket.id}` was opened is not recorded", lost)
