"""Going past a guardrail: an action that was refused starts once on a person's yes, or unanswered
in an emergency."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from stanchion.approvals.act import Answer
from stanchion.approvals.bypass import Requested, Urgency, stand
from stanchion.approvals.digest import hashed
from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.operators import Roster
from stanchion.approvals.overrides import (
    MOST_REVIEWS,
    overridden,
    review_of,
    reviews_key,
    reviews_of,
    told_of,
)
from stanchion.approvals.quorum import is_enough, needed
from stanchion.approvals.shelf import filed, pages_for, read
from stanchion.approvals.ticket import (
    NO_REASON,
    Kind,
    State,
    Ticket,
    as_of,
    id_of,
    shown_of,
    use,
    wish_of,
)
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.compare_and_set import change_together
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.state import ABSENT, Stake, StoreLost
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.escalation import asked_about
from stanchion.runtime.deciding.pauses import AnswerPatience
from stanchion.runtime.deciding.run_memory import RefusedAction, RefusedActions
from stanchion.runtime.deciding.unreadable_content import formless
from stanchion.runtime.deciding.ways_past import Ways, bypassed, mode_now, refused_by, ways_past
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.people.missed_reviews import wake
from stanchion.runtime.standing.veil import tell

FORM: Final = "stanchion-bypass-1"
"""What is hashed first where a ticket is about a bypass, so that it is never one about an escalated
action."""

NOT_ASKED: Final = Requested(id="", guardrail="", reason="", urgency=Urgency.NORMAL, each_ms=1)


class BypassLeave(NamedTuple):
    """Leave for one action to go past one guardrail: on an approved request, or on one that nobody
    has answered, with the review of it and what else is written along (`beside`: key, version,
    value)."""

    guardrail: str
    policy: str
    bypasses: tuple[str, ...]
    ticket: Ticket
    version: int
    beside: tuple[tuple[str, int, Any], ...] = ()
    review: str = ""

    @property
    def overrides(self) -> bool:
        """Whether nobody has said yes."""
        return self.ticket.state is State.OPEN

    def stakes(self, event: Event) -> tuple[Stake, ...]:
        """The records that the start of the action uses up, or writes."""
        if not self.overrides:
            used = msgspec.to_builtins(use(self.ticket, event.id))
            return (Stake(self.ticket.key, self.version, used, until=self.ticket.grant_until),)
        used = msgspec.to_builtins(overridden(self.ticket, event.id))
        own = Stake(self.ticket.key, self.version, used, until=self.ticket.expires_at)
        return (own, *[Stake(key, version, value) for key, version, value in self.beside])


class BypassLook(NamedTuple):
    """A request as the store has it: the ticket as it stands, its version, the time, and whether it
    just expired."""

    ticket: Ticket | None
    version: int
    now: int
    expired: bool


def remembered(desk: Desk, event: Event, decision: Decision) -> Decision:
    """Remember an action that a guardrail has refused, and have its decision tell the agent that it
    may ask to go past that, where the guardrail allows it."""
    policy = desk.shield.policy
    guardrail = refused_by(policy, event, decision)
    if not guardrail or formless(event):
        return decision
    with desk.counting:
        desk.refused = RefusedActions() if desk.refused is None else desk.refused
    desk.refused.enter(RefusedAction(guardrail, event, decision))
    try:
        asks = ways_past(policy, event, decision.inputs.mode, guardrail).asks
    except BypassRefused:
        asks = ()
    return _telling(decision, guardrail) if asks else decision


def _telling(decision: Decision, guardrail: str) -> Decision:
    finding = decision.determining
    assert finding is not None
    hint = f"where it must be this action, ask for a bypass of `{guardrail}` and say why"
    guidance = f"{finding.advice}; {hint}" if finding.advice else hint
    told = msgspec.structs.replace(finding, guidance=guidance)
    findings = tuple([told if one is finding else one for one in decision.findings])
    return msgspec.structs.replace(decision, findings=findings)


def wanted(desk: Desk, event: Event, decision: Decision, requested: Requested) -> Ticket:
    """What is asked of people where an action is to go past a guardrail; it is not open yet.

    An answer is bound to the action, its task and policy, this one guardrail and the agent; the
    request is a part of what is shown, and so of what is signed.
    """
    asked = asked_about(desk, event, decision)
    said = {
        "guardrail": requested.guardrail,
        "reason": requested.reason,
        "urgency": str(requested.urgency),
    }
    beside = {**asked.beside, "bypass": {"request": requested.id, **said}}
    deed = msgspec.structs.replace(
        asked.deed,
        what=hashed([FORM, asked.deed.what, requested.guardrail]),
        guards=(requested.guardrail,),
        shown=hashed(shown_of(asked.content, beside)),
    )
    roles = stand(requested, 0, 0).roles
    # Who is asked next follows from the request itself.
    order: dict[str, Any] = {"next_ms": 0, "told": (), "roles": roles, "bypass": requested}
    return msgspec.structs.replace(
        asked, id=id_of(deed), kind=Kind.BYPASS, deed=deed, beside=beside, **order
    )


def past(
    desk: Desk, event: Event, decision: Decision, waits: bool, known: tuple[BypassLeave, ...]
) -> Flow[BypassLeave | None]:
    """The leave by which an action that was refused goes past what refused it; `None` where there
    is none.

    One guardrail is gone past at a time, and none twice; what judges behind it may refuse, too.
    `waits` says whether the caller stays while nobody has answered, for as long as the policy lets
    it.
    """
    policy = desk.shield.policy
    guardrail = refused_by(policy, event, decision)
    if not guardrail or decision.policy != policy.hash or formless(event):
        return None
    if any(one.guardrail == guardrail for one in known):
        return None
    try:
        mode = yield from mode_now(desk, decision)
        ways = ways_past(policy, event, mode, guardrail)
        if ways.none:
            return None
        looking = _Looking(
            desk, event, decision, guardrail, ways, mode, any(one.overrides for one in known)
        )
        return (yield from looking.until_answered(waits))
    except BypassRefused:
        return None
    except (StoreLost, TicketError) as error:
        aside(f"no bypass of `{guardrail}` could be looked for", error)
        return None


class _Looking:
    """Looks for the request about one refused action, until it is answered or the caller's time is
    over."""

    def __init__(
        self,
        desk: Desk,
        event: Event,
        decision: Decision,
        guardrail: str,
        ways: Ways,
        mode: str,
        overrode: bool,
    ) -> None:
        self.desk, self.event, self.decision = desk, event, decision
        self.guardrail, self.ways, self.mode, self.overrode = guardrail, ways, mode, overrode
        blank = msgspec.structs.replace(NOT_ASKED, guardrail=guardrail)
        self.blank = wanted(desk, event, decision, blank)
        self.looks = 0

    def until_answered(self, waits: bool) -> Flow[BypassLeave | None]:
        patience = AnswerPatience(self.desk, waits)
        while True:
            looked = yield from self._look()
            found = yield from self._found(looked)
            is_open = looked.ticket is not None and looked.ticket.state is State.OPEN
            if found is not None or not is_open or patience.is_over:
                return found
            yield from patience.pause(self.blank.key)

    def _look(self) -> Flow[BypassLook]:
        """The request as it stands; one whose time is over is denied, and whoever finds that writes
        it down."""
        records, key, tenant = self.desk.shield.records, self.blank.key, self.blank.tenant
        self.looks += 1
        expired: list[Ticket] = []

        def keys() -> tuple[str, ...]:
            ticket = read(records.get(key, ABSENT)[1])
            if ticket is None or not self._may_override(ticket):
                return (key,)
            return (key, reviews_key(tenant), *pages_for(records, tenant))

        def new(now: int) -> dict[str, Any]:
            ticket = read(records.get(key, ABSENT)[1])
            expired.clear()
            if ticket is None or ticket.state not in (State.OPEN, State.APPROVED):
                return {}
            after = as_of(ticket, now)
            if after.state is not State.EXPIRED:
                return {}
            expired.append(after)
            return {key: msgspec.to_builtins(after)}

        batch = f"{self.decision.id}.bypass{self.looks}"
        made = yield from change_together(records, batch, tenant, keys, new)
        version, value = records.get(key, ABSENT)
        ticket = read(value)
        if expired and made.written:
            how = (
                "nobody used the yes in time"
                if expired[0].grant_until
                else "nobody answered in time"
            )
            write_down(self.desk, "bypass.denied", expired[0], made.reply.now, why=how)
        standing = None if ticket is None else as_of(ticket, made.reply.now)
        return BypassLook(standing, version, made.reply.now, bool(expired))

    def _found(self, looked: BypassLook) -> Flow[BypassLeave | None]:
        ticket = looked.ticket
        if ticket is None or ticket.bypass is None:
            return None
        if ticket.state is State.APPROVED:
            why = yield from self._wrong(ticket)
            if why:
                self._refuse(ticket, looked.now, why)
                return None
            return self._leave(looked)
        if ticket.state in (State.DENIED, State.WITHDRAWN):
            why = ticket.comment if ticket.comment else NO_REASON
            self.desk.tell(f"the bypass of `{self.guardrail}` was denied: {why}")
        if ticket.state is State.OPEN and self._overrides(ticket, looked.now):
            return self._unanswered(looked)
        return None

    def _leave(self, looked: BypassLook) -> BypassLeave:
        assert looked.ticket is not None
        names = bypassed(self.desk, self.guardrail)
        return BypassLeave(
            self.guardrail, self.decision.policy, names, looked.ticket, looked.version
        )

    def _wrong(self, ticket: Ticket) -> Flow[str]:
        """Why the yes that is kept with a request lets nothing go ahead; empty where it does."""
        assert ticket.bypass is not None
        own = wanted(self.desk, self.event, self.decision, ticket.bypass)
        once = ticket.kind is Kind.BYPASS and ticket.scope is Scope.ONCE
        if ticket.answer is None or not once or ticket.deed != own.deed:
            return "it is for something else"
        roster = yield from self.desk.shield.authority.roster()
        if not is_enough(ticket, needed(own, roster)):
            return (
                "fewer people have said yes than it takes, or the ticket is not as it was when "
                "it was answered"
            )
        return next(
            (why for one in ticket.answers if (why := self._doubt(roster, ticket, own, one))), ""
        )

    def _doubt(self, roster: Roster, ticket: Ticket, own: Ticket, answer: Answer) -> str:
        """Why one yes to a request does not count; empty where it does. Who gave it must have been
        asked then, and may say yes in the mode of now."""
        act = answer.act
        assert ticket.bypass is not None
        if not act.yes or not wish_of(ticket).is_answered_by(act):
            return "the ticket is not as it was when it was answered"
        if own.agent not in act.agents:
            return "it is for another agent"
        if (
            act.role not in stand(ticket.bypass, ticket.opened_at, ticket.answered_at).roles
            or not self.ways.asks
        ):
            return f"the role `{act.role}` could not say yes to it then"
        agents = (*ticket.asked.agents, *own.asked.agents)
        asked = msgspec.structs.replace(
            own.asked, roles=self.ways.asks, mode=self.mode, agents=agents
        )
        return self.desk.shield.authority.doubt(roster, answer, asked, ticket.scope)

    def _refuse(self, ticket: Ticket, now: int, why: str) -> None:
        self.desk.tell(
            f"the answer about the bypass of `{self.guardrail}` does not count: ask again"
        )
        fact = Fact(
            now, "answer.refused", ticket.id, ticket.tenant, ticket.run, ticket.answered_by, why
        )
        try:
            tell(
                self.desk.shield,
                fact._replace(data={"purpose": "bypass", "generation": ticket.generation}),
            )
        except AuditLost as lost:
            _unrecorded(self.desk, fact.what, ticket, lost)

    def _may_override(self, ticket: Ticket) -> bool:
        """Whether a request may go ahead unanswered at some time: by its urgency, and by what the
        policy says now."""
        requested = ticket.bypass
        is_own = (
            requested is not None
            and requested.urgency is Urgency.EMERGENCY
            and ticket.state is State.OPEN
        )
        return is_own and self.ways.responds and not self.overrode

    def _overrides(self, ticket: Ticket, now: int) -> bool:
        assert ticket.bypass is not None
        terms = self.desk.shield.policy.file.bypass
        own = wanted(self.desk, self.event, self.decision, ticket.bypass)
        as_asked = msgspec.structs.replace(
            ticket.bypass, override_ms=max(1, int(terms.emergency_s * 1000))
        )
        return (
            self._may_override(ticket)
            and ticket.deed == own.deed
            and own.agent in ticket.askers
            and stand(as_asked, ticket.opened_at, now).overrides
        )

    def _unanswered(self, looked: BypassLook) -> BypassLeave | None:
        """Leave to go ahead although nobody has answered, with the review that is opened along."""
        ticket, records = looked.ticket, self.desk.shield.records
        assert ticket is not None
        review = review_of(ticket, self.event.id, looked.now)
        due_at = looked.now if review.review is None else review.review.due_at
        watched_at, watched = records.get(reviews_key(ticket.tenant), ABSENT)
        reviews = reviews_of(watched)
        if len(reviews) >= MOST_REVIEWS:
            self.desk.tell(
                "too many emergencies wait for their review: nothing more goes ahead unanswered"
            )
            return None
        page, listing = filed(records, ticket.tenant, review.id, review.expires_at, looked.now)
        review = msgspec.structs.replace(review, page=page)
        beside = [
            (review.key, records.get(review.key, ABSENT)[0], msgspec.to_builtins(review)),
            (reviews_key(ticket.tenant), watched_at, {**reviews, review.id: due_at}),
            *[(key, records.get(key, ABSENT)[0], value) for key, value in listing.items()],
        ]
        return self._leave(looked)._replace(beside=tuple(beside), review=review.id)


def note_past(
    desk: Desk, leaves: tuple[BypassLeave, ...], event: Event, decision: Decision
) -> None:
    """Write down that an action goes past guardrails, where it does; each leave is used up."""
    reply = decision.inputs.reply
    if not decision.proceeds or reply is None:
        return
    at = reply.now
    for one in leaves:
        ticket = one.ticket
        if not one.overrides:
            for answer in ticket.answers:
                desk.shield.authority.spend(answer)
            write_down(desk, "bypass.used", ticket, at, call=event.id)
            continue
        why = (
            f"it went past `{one.guardrail}` in an emergency, before anybody had answered; "
            f"review it: `{one.review}`"
        )
        write_down(
            desk,
            "bypass.overridden",
            ticket,
            at,
            why,
            call=event.id,
            level="critical",
            review=one.review,
        )
        if ticket.bypass is not None:
            wake(desk.shield, ticket.tenant, at, at + ticket.bypass.review_ms)


def write_down(desk: Desk, what: str, ticket: Ticket, at: int, why: str = "", **more: Any) -> None:
    """Write down what has become of a request, as far as that can be."""
    try:
        record(desk, what, ticket, at, why, **more)
    except AuditLost as lost:
        _unrecorded(desk, what, ticket, lost)


def record(desk: Desk, what: str, ticket: Ticket, at: int, why: str = "", **more: Any) -> None:
    """Write down what has become of a request; its records are never removed. `AuditLost` where it
    cannot be."""
    data = {
        "digest": ticket.deed.digest,
        "about": ticket.about,
        "generation": ticket.generation,
        **told_of(ticket),
    }
    data |= {
        "agent": ticket.agent,
        "answered_by": ticket.answered_by,
        "as": ticket.answered_as,
        **more,
    }
    said = why if why else ticket.comment
    fact = Fact(at, what, ticket.id, ticket.tenant, ticket.run, ticket.agent, said)
    tell(
        desk.shield,
        fact._replace(data={name: value for name, value in data.items() if value != ""}),
        ticket.tool,
    )
    guardrail = "" if ticket.bypass is None else ticket.bypass.guardrail
    desk.shield.telemetry.bypass(guardrail, what.removeprefix("bypass."), desk.info)


def _unrecorded(desk: Desk, what: str, ticket: Ticket, lost: AuditLost) -> None:
    desk.tell("the audit trail could not be written: what became of the bypass is not recorded")
    aside(f"`{what}` of ticket `{ticket.id}` is not recorded", lost)
