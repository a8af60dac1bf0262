"""Escalating: an action that waits for a person. It opens a ticket, or finds the one that was
opened for it before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.approvals.digest import bounded, deed_of, hashed
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grants import Grant, covers, grants_key
from stanchion.approvals.operators import Roster
from stanchion.approvals.questions import alone
from stanchion.approvals.quorum import turn
from stanchion.approvals.shelf import (
    TENANTS,
    KeptTicket,
    TicketFinding,
    TicketLimits,
    change,
    find,
    tenants_of,
    with_tenant,
)
from stanchion.approvals.ticket import (
    NO_REASON,
    Kind,
    State,
    Ticket,
    as_of,
    id_of,
    shown_of,
    use,
)
from stanchion.approvals.words import DENIED, EXPIRED, FULL, NOBODY, USED
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.audit.record import BESIDE, patched
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import Action
from stanchion.kernel.compare_and_set import LEFT, change as change_record
from stanchion.kernel.content import content_of
from stanchion.kernel.contract.powers import having
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import BY_POLICY, Event
from stanchion.kernel.findings import ASK, Finding
from stanchion.kernel.state import ABSENT, Stake, StoreLost, When
from stanchion.policy.sections import Escalation
from stanchion.policy.veil import renamed
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import arguments
from stanchion.runtime.deciding.kept_answers import grant_doubt, standing_yes, taken
from stanchion.runtime.deciding.pauses import AnswerPatience, held_up, hold_up
from stanchion.runtime.deciding.run_memory import paused, question
from stanchion.runtime.deciding.value_questions import (
    AboutValues,
    about_values,
    answers_of,
    asks_of,
    is_somebody_there,
)
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.people.tickets import asked_notice, context, is_due, pass_on
from stanchion.runtime.standing.veil import hidden_names, tell

FOR_GOOD: Final = "this no stands for the whole task"
WANTED: Final = "the user asked for: "
LOOKED_AT: Final = "stanchion-run-1"
"""What is hashed first where a ticket is about a run, so that it is never one about an action."""


class Granted(NamedTuple):
    """A person's yes to one action under one policy, which lifts what those guards asked for. An
    approval of one call is used up when the action starts; a grant stays, and must still hold
    then."""

    ticket: str
    policy: str
    lifts: tuple[str, ...]
    key: str
    version: int
    until: int
    approved: Ticket | None = None
    edits: dict[str, Any] = {}  # noqa: RUF012 - never changed: it is a field of a tuple

    def covers(self, policy: str) -> bool:
        """Whether it still holds for its action under a policy that may have changed since."""
        return policy == self.policy

    def stakes(self, event: Event) -> tuple[Stake, ...]:
        """The record that the start of the action uses up, or rests on; what the policy itself
        approves rests on none."""
        if not self.key:
            return ()
        if self.approved is None:
            return (Stake(self.key, self.version, None, When.LOOK, self.until),)
        used = msgspec.to_builtins(use(self.approved, event.id))
        return (Stake(self.key, self.version, used, until=self.until),)


def note_use(desk: Desk, granted: Granted, decision: Decision) -> None:
    """Remember that an approval of one call is used up, where the action goes ahead on it."""
    if decision.proceeds and granted.approved is not None:
        for answer in granted.approved.answers:
            desk.shield.authority.spend(answer)


def asking(decision: Decision) -> tuple[str, ...]:
    """The guards that ask for a person, those included to whose questions one has said yes
    already."""
    return tuple(dict.fromkeys([one.guard for one in asks_of(decision)]))


def ask(
    desk: Desk, event: Event, decision: Decision, waits: bool
) -> Flow[Granted | Finding | None]:
    """A person's answer to an action: their yes, why it is refused, or `None` while nobody has
    answered.

    `waits` says whether the caller stays until somebody has, for as long as the policy lets it.
    """
    if stands := _by_policy(desk, event, decision):
        return stands
    wanted = asked_about(desk, event, decision)
    about = about_values(desk, event, decision, wanted)
    wanted = wanted if about is None else about.ticket(wanted, event.run.root)
    try:
        roster = yield from desk.shield.authority.roster()
        found = yield from _found(desk, event, decision, wanted, about, roster)
        if not isinstance(found, KeptTicket):
            return found
        desk.waits_for(decision, wanted.id)
        kept = yield from _attend(desk, found, decision, roster)
        waited = waits and _stands_open(kept)
        if waited and kept.ticket is not None:
            kept = yield from _wait(desk, kept.ticket, kept, decision, roster)
            roster = yield from desk.shield.authority.roster()
        if kept.ticket is not None and kept.ticket.state is State.APPROVED:
            kept = yield from taken(desk, kept, wanted, decision, roster)
    except (StoreLost, TicketError) as error:
        desk.tell(
            "nobody could be asked, because the state store cannot be used; repeat the call later"
        )
        aside(f"no ticket `{wanted.id}` could be opened", error)
        return None
    answer = _answer(kept, decision, wanted)
    if waited and isinstance(answer, Granted) and answer.approved is None:
        # More may have been read meanwhile: what is asked by now has to be the very question.
        return answer._replace(ticket="", lifts=(), key="")
    return answer


def _by_policy(desk: Desk, event: Event, decision: Decision) -> Granted | None:
    """The policy's own yes to an action, where it has one."""
    if not desk.shield.policy.file.approved:
        return None

    lifts = asking(decision)
    name = standing_yes(desk, event, decision, lifts)
    return Granted(f"{BY_POLICY}{name}", decision.policy, lifts, "", 0, 0) if name else None


def _found(
    desk: Desk,
    event: Event,
    decision: Decision,
    wanted: Ticket,
    about: AboutValues | None,
    roster: Roster,
) -> Flow[KeptTicket | Granted | Finding | None]:
    """The ticket of what is asked, or what answers it already: a grant, a limit, a no to a part of
    it."""

    def covered(grant: Grant, _now: int) -> bool:
        return covers(grant, event, wanted.deed, wanted.agent) and not grant_doubt(
            desk, roster, grant, wanted
        )

    terms = paused(decision, desk.shield.policy.file.escalation)
    parts = () if about is None else alone(wanted.deed, wanted.tenant, about.pieces)
    opens = is_somebody_there(desk, wanted, roster)
    batch, life_s = f"{decision.id}.ask", terms.timeout_s
    found = yield from filed(desk, batch, wanted, roster, covered, life_s, parts, opens)
    kept, grant = found.kept, found.grant
    if grant is not None:
        policy, lifts = grant.deed.policy, grant.deed.guards
        name = grants_key(wanted.tenant)
        return Granted(grant.id, policy, lifts, name, found.version, grant.until)
    if not opens and (kept is None or _stands_open(kept)):
        return finding_unasked(decision, NOBODY, about)
    if kept is None:
        return finding_unasked(decision, FULL[found.limit], about, getattr(terms, found.limit))
    if kept.ticket is not None and kept.ticket.key in parts:
        return finding_denied(decision, kept.ticket)
    if kept.ticket is None or kept.ticket.deed.what != wanted.deed.what:
        desk.tell(
            "a person is asked about something else first: repeat the call when that is answered"
        )
        return None
    return kept


def _attend(desk: Desk, kept: KeptTicket, decision: Decision, roster: Roster) -> Flow[KeptTicket]:
    """See to a ticket that was found: what waits with it, who is to hear of it."""
    ticket = kept.ticket
    assert ticket is not None
    if ticket.state is State.OPEN:
        yield from hold_up(desk, decision, ticket)
    if kept.opened:
        write_down(desk, ticket, decision.id)
    elif is_due(ticket, roster, kept.now):
        kept = yield from pass_on(desk.shield, ticket, roster, f"{decision.id}.pass")
    return kept


def _stands_open(kept: KeptTicket) -> bool:
    return kept.ticket is not None and kept.ticket.state is State.OPEN


def filed(
    desk: Desk,
    batch: str,
    wanted: Ticket,
    roster: Roster | None,
    covered: Callable[[Grant, int], bool],
    life_s: float,
    parts: tuple[str, ...] = (),
    opens: bool = True,
) -> Flow[TicketFinding]:
    """What the store has for what is asked by now: its ticket, of which the first role of a
    `roster` is told, or a grant. Unless it `opens` one, there has to be one already."""
    terms = desk.shield.policy.file.escalation
    yield from make_known(desk, wanted.tenant, batch)
    wanted = wanted if roster is None else asking_first(desk, wanted, roster)
    limits = (
        TicketLimits(terms.tickets_for_a_run, terms.tickets_a_minute, terms.questions_for_a_task)
        if opens
        else TicketLimits(0, 0, 0)
    )
    life_ms = max(1, int(life_s * 1000))
    return (yield from find(desk.shield.records, batch, wanted, covered, life_ms, limits, parts))


def make_known(desk: Desk, tenant: str, batch_id: str) -> Flow[None]:
    """Have a tenant among those that have asked people, once for each process."""
    known = tenants_of(desk.shield.records.get(TENANTS, ABSENT)[1])
    if tenant not in known:
        batch = f"{batch_id}.known"
        yield from change_record(
            desk.shield.records, batch, FLEET, TENANTS, lambda value, _: _with(value, tenant)
        )


def _with(value: Any, tenant: str) -> Any:
    more = with_tenant(value, tenant)
    return LEFT if more is None else more


def report(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Open a ticket about a run that goes on with what is refused, once for each thing. Its answer
    lets nothing
    through: it is bound to the run and to what the finding is about, and no action can start on
    it."""
    asks = next(finding for finding in decision.findings if ASK in finding.effects)
    about = hashed([LOOKED_AT, event.run.tenant, event.run.id, asks.guard, asks.about])
    asked = asked_about(desk, event, decision)
    deed = msgspec.structs.replace(asked.deed, what=about, guards=(asks.guard,))
    wanted = msgspec.structs.replace(
        asked,
        id=id_of(deed),
        kind=Kind.RUN,
        deed=deed,
        guard=asks.guard,
        code=asks.code,
        message=asks.message,
    )
    life_s, batch = desk.shield.policy.file.escalation.timeout_s, f"{decision.id}.report"
    try:
        kept = (yield from filed(desk, batch, wanted, None, never, life_s)).kept
    except (StoreLost, TicketError) as error:
        desk.tell(
            "nobody could be asked to look at this run, because the state store cannot be used"
        )
        aside(f"no ticket `{wanted.id}` could be opened", error)
        return
    if kept is not None and kept.changed and kept.ticket is not None and kept.before is None:
        desk.tell(f"{asks.message}; a person is asked to look at this run")
        write_down(desk, kept.ticket, decision.id)


def never(_grant: Grant, _now: int) -> bool:
    """Whether a grant covers a ticket on which nothing starts."""
    return False


def _wait(
    desk: Desk, ticket: Ticket, kept: KeptTicket, decision: Decision, roster: Roster
) -> Flow[KeptTicket]:
    """Look again and again, ever more rarely, until somebody has answered or the caller's time is
    over."""
    patience, looks = AnswerPatience(desk), 0
    while not patience.is_over and _stands_open(kept):
        yield from patience.pause(ticket.key)
        looks += 1
        look = f"{decision.id}.look{looks}"
        kept = yield from change(desk.shield.records, look, ticket.tenant, ticket.key, _standing)
        if kept.ticket is not None and is_due(kept.ticket, roster, kept.now):
            kept = yield from pass_on(desk.shield, kept.ticket, roster, f"{look}.pass")
    return kept


def _standing(ticket: Ticket | None, now: int) -> Ticket | None:
    return None if ticket is None else as_of(ticket, now)


def _answer(kept: KeptTicket, decision: Decision, wanted: Ticket) -> Granted | Finding | None:
    ticket = kept.ticket
    if ticket is None or ticket.state is State.OPEN:
        return None
    match ticket.state:
        case State.APPROVED:
            shared = ticket.kind is Kind.VALUE
            if not shared and not all(wanted.agent in one.act.agents for one in ticket.answers):
                return None
            lifts, until = ticket.deed.guards, ticket.grant_until
            return Granted(
                ticket.id,
                decision.policy,
                lifts,
                ticket.key,
                kept.version,
                until,
                ticket if ticket.once else None,
                ticket.edits,
            )
        case State.DENIED | State.WITHDRAWN:
            return finding_denied(decision, ticket)
        case State.USED:
            return Finding(Action.BLOCK, USED, (ticket.id,), guard="kernel")
        case State.EXPIRED:
            return Finding(Action.BLOCK, EXPIRED, (ticket.id, _how_expired(ticket)), guard="kernel")
        case State.REVIEWED:  # nothing starts on a review
            return None


def _how_expired(ticket: Ticket) -> str:
    if ticket.grant_until:
        took_s = (ticket.grant_until - ticket.answered_at) / 1000
        return f"the yes was not used within {took_s:g} s"
    return f"nobody answered within {(ticket.expires_at - ticket.opened_at) / 1000:g} s"


def asked_about(desk: Desk, event: Event, decision: Decision) -> Ticket:
    """What is asked of a person, fit to be shown; it is not open yet."""
    determining, terms = decision.determining, paused(decision, desk.shield.policy.file.escalation)
    run = event.run
    content = bounded(masked(patched(content_of(event), decision)))
    beside = {name: bounded(masked(_beside(desk, event, name))) for name in BESIDE[event.stage]}
    sinks = desk.known(desk.plans, event.tool).sinks
    deed = deed_of(event, decision.policy, asking(decision), shown_of(content, beside), sinks)
    ticket = Ticket(
        id=id_of(deed),
        tenant=run.tenant,
        run=run.id,
        deed=deed,
        content=content,
        beside=beside,
        evidence={**_evidence(desk, decision), **held_up(decision)},
        askers=(run.agent,),
        above=desk.lineage,
        guard="" if determining is None else determining.guard,
        code=decision.code,
        message=question(decision),
        roles=terms.roles,
        mode=decision.inputs.mode,
        opened_at=0,
        expires_at=0,
        next_ms=next_ms(terms),
        quorum=terms.quorum,
    )
    pairs = hidden_names(desk.plans, event)
    # The tenant's name is part of the place where the ticket is kept, and the hash is that of what
    # is shown.
    shown = msgspec.structs.replace(renamed(ticket, pairs), tenant=run.tenant)
    deed = msgspec.structs.replace(
        shown.deed, shown=hashed(shown_of(shown.content, shown.beside)), parts=deed.parts
    )
    return msgspec.structs.replace(shown, id=id_of(deed), deed=deed)


def _beside(desk: Desk, event: Event, name: str) -> Any:
    """What stands beside an event's content; of arguments what guards redact in a call is left out,
    for those that a host reports with a result are as the host has them."""
    return arguments(desk.plans, event) if name == "args" else getattr(event, name)


def _evidence(desk: Desk, decision: Decision) -> dict[str, Any]:
    """What a person has to know beside the action itself, where the guards that ask for one can
    tell."""
    told: dict[str, Any] = {}
    determining = () if decision.determining is None else (decision.determining.guard,)
    for guard in dict.fromkeys([*determining, *asking(decision)]):
        placed, answers = answers_of(desk, decision, guard)
        telling = having(placed, "shown")
        if telling is None:
            continue
        for answer in answers:
            told |= {name: masked(words) for name, words in telling.shown(answer).items()}
    return told


def next_ms(terms: Escalation) -> int:
    """How long a role is asked before the next one is as well: a third of the time unless the
    policy says otherwise."""
    return max(
        1, int((terms.timeout_s / 3 if terms.next_after_s is None else terms.next_after_s) * 1000)
    )


def asking_first(desk: Desk, wanted: Ticket, roster: Roster) -> Ticket:
    """What is asked, with the role that is told of it first."""
    first = turn(wanted, roster, desk.shield.clock()).roles[:1] if not roster.trouble else ()
    return msgspec.structs.replace(wanted, told=first)


def write_down(desk: Desk, ticket: Ticket, call: str) -> None:
    """Write down that a ticket was opened, and for which call."""
    opened = Fact(
        ticket.opened_at,
        "ticket.opened",
        ticket.id,
        ticket.tenant,
        ticket.run,
        ticket.agent,
        ticket.message,
    )
    try:
        told = opened._replace(data={"call": call, **context(ticket)})
        tell(desk.shield, told, ticket.deed.tool, asked_notice(ticket))
    except AuditLost as lost:
        desk.tell("the audit trail could not be written: the question to a person is not recorded")
        aside(f"the opening of ticket `{ticket.id}` is not recorded", lost)


def finding_unasked(
    decision: Decision, code: str, about: AboutValues | None, *limit: int
) -> Finding:
    """What stands against an action about which nobody is asked: the agent reads how to go on
    without it, and what the user asked for."""
    wanted = () if about is None else about.wanted
    said = [_advice(decision), WANTED + " ".join(wanted) if wanted else ""]
    guidance = "; ".join(filter(None, said))
    return Finding(Action.BLOCK, code, limit, guidance=guidance, guard="kernel")


def finding_denied(decision: Decision, ticket: Ticket) -> Finding:
    """What stands against an action to which a person has said no. A no to values stands for the
    task, and the agent reads how to go on without them."""
    said = (ticket.id, ticket.answered_by, ticket.comment if ticket.comment else NO_REASON)
    words = [FOR_GOOD, _advice(decision)] if ticket.kind is Kind.VALUE else []
    guidance = "; ".join(filter(None, words))
    return Finding(Action.BLOCK, DENIED, said, guidance=guidance, guard="kernel")


def _advice(decision: Decision) -> str:
    """What the guard that asks advises whoever is refused, not whoever waits."""
    asks = decision.determining
    return "" if asks is None else msgspec.structs.replace(asks, action=Action.BLOCK).advice
