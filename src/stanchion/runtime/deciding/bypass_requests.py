"""Asking for a bypass: checked at once, kept as a ticket, and answered by people."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import msgspec

from stanchion.approvals.bypass import (
    BypassRequest,
    Requested,
    Urgency,
    checked_reason,
    life_ms,
    timestamp,
    urgency_of,
)
from stanchion.approvals.digest import Deed, hashed
from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.approvals.shelf import KeptTicket, change
from stanchion.approvals.ticket import NO_REASON, Kind, State, Ticket, id_of, shown_of
from stanchion.approvals.words import says_something
from stanchion.audit.errors import AuditLost
from stanchion.audit.redaction import masked
from stanchion.kernel.autonomy import USED_UP
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import StoreLost
from stanchion.policy.veil import renamed
from stanchion.runtime.deciding.bypass import record, wanted
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.escalation import asked_about, filed, never, next_ms, write_down
from stanchion.runtime.deciding.run_memory import RefusedAction
from stanchion.runtime.deciding.ways_past import entry_of, mode_now, no_way, ways_past
from stanchion.runtime.driving.flow import Flow

UNREACHED: Final = "nobody could be asked, because the state store cannot be used: ask again later"
UNWRITTEN: Final = (
    "nobody is asked, because the audit trail cannot be written: ask again when it can be"
)


def request(
    desk: Desk, guardrail: str, reason: str, urgency: str = Urgency.NORMAL, call: str | None = None
) -> Flow[BypassRequest]:
    """Ask people to let an action past the guardrail that refused it: the last one of this run, or
    that of a decision.

    Everything is checked before anybody is asked; `BypassRefused` says what is wrong, and nothing
    has changed then.
    """
    refused = _refused(desk, guardrail, call)
    try:
        mode = yield from mode_now(desk, refused.decision)
    except StoreLost as lost:
        raise BypassRefused(UNREACHED) from lost
    asked = _requested(desk, refused, guardrail, reason, urgency, mode)
    ticket = msgspec.structs.replace(
        wanted(desk, refused.event, refused.decision, asked), mode=mode
    )
    try:
        if desk.shield.journal.trouble:
            desk.shield.journal.probe()
        batch, life_s = f"{desk.new_id()}.bypass", life_ms(asked) / 1000
        kept = (yield from filed(desk, batch, ticket, None, never, life_s)).kept
        if kept is None:
            raise BypassRefused(
                "people were asked too often: nobody is asked about this; ask again later"
            )
        made = _standing(kept, ticket)
        if kept.opened:
            yield from _recorded(desk, made, refused)
    except AuditLost as lost:
        raise BypassRefused(UNWRITTEN) from lost
    except StoreLost as lost:
        raise BypassRefused(UNREACHED) from lost
    desk.waits_for(refused.decision, made.id)
    return request_of(made)


def _refused(desk: Desk, guardrail: str, call: str | None) -> RefusedAction:
    """The action that is meant."""
    policy = desk.shield.policy
    if guardrail != USED_UP:
        entry_of(policy, guardrail)
    if not policy.bypasses:
        raise no_way(policy, guardrail, "")
    found = None if desk.refused is None else desk.refused.find(guardrail, call)
    if found is None:
        which = "nothing of this run" if call is None else f"`{call}`"
        raise BypassRefused(
            f"{which} was refused by `{guardrail}`: call the tool first, and ask when it is refused"
        )
    if found.decision.policy != policy.hash:
        raise BypassRefused(
            "the policy has changed since: call the tool again, and ask when it is refused"
        )
    return found


def _requested(
    desk: Desk, refused: RefusedAction, guardrail: str, reason: str, urgency: str, mode: str
) -> Requested:
    """The request itself, if it may be made."""
    policy = desk.shield.policy
    ways = ways_past(policy, refused.event, mode, guardrail)
    how = urgency_of(urgency)
    overrides = how is Urgency.EMERGENCY and ways.responds
    if not ways.asks and not overrides:
        raise no_way(policy, guardrail, mode)
    said = checked_reason(reason, guardrail, refused.event.tool)
    terms = policy.file.bypass
    return Requested(
        id=str(uuid4()),
        guardrail=guardrail,
        reason=str(masked(policy.veil.words(said))),
        urgency=how,
        asks=ways.asks,
        each_ms=_ms(terms.timeout_s),
        override_ms=_ms(terms.emergency_s) if overrides else 0,
        review_ms=_ms(terms.review_s) if overrides else 0,
    )


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))


def _standing(kept: KeptTicket, asked: Ticket) -> Ticket:
    """The request that stands for an action: the one that was made now, or one that is under way
    already."""
    ticket = kept.ticket
    if ticket is None or ticket.bypass is None or ticket.deed.what != asked.deed.what:
        raise BypassRefused(
            "people are asked about something else first: ask again when that is answered"
        )
    match ticket.state:
        case State.OPEN | State.APPROVED:
            return ticket
        case State.DENIED | State.WITHDRAWN:
            why = ticket.comment if ticket.comment else NO_REASON
            raise BypassRefused(
                f"it was denied by `{ticket.answered_by}`: {why}; do something else"
            )
        case _:
            raise BypassRefused(
                "the request for it has just ended: call the tool again, and ask when it is refused"
            )


def _recorded(desk: Desk, ticket: Ticket, refused: RefusedAction) -> Flow[None]:
    """Write a new request down; one that cannot be is taken back."""
    assert ticket.bypass is not None
    more = {"asks": ticket.roles, "expires_at": ticket.expires_at}
    try:
        record(
            desk,
            "bypass.requested",
            ticket,
            ticket.opened_at,
            ticket.bypass.reason,
            call=refused.decision.id,
            **more,
        )
    except AuditLost:

        def taken_back(one: Ticket | None, _now: int) -> Ticket | None:
            is_same = (
                one is not None and one.generation == ticket.generation and one.state is State.OPEN
            )
            return (
                msgspec.structs.replace(one, state=State.EXPIRED)
                if is_same and one is not None
                else one
            )

        yield from change(
            desk.shield.records, f"{desk.new_id()}.back", ticket.tenant, ticket.key, taken_back
        )
        raise


def request_of(ticket: Ticket) -> BypassRequest:
    """The request that a ticket keeps, as whoever asked got it."""
    one = ticket.bypass
    if one is None:
        raise TicketError(f"ticket `{ticket.id}` is no request for a bypass")
    return BypassRequest(
        id=one.id,
        guardrail_id=one.guardrail,
        requested_by=ticket.agent,
        reason=one.reason,
        urgency=one.urgency,
        timestamp=timestamp(ticket.opened_at),
        ticket=ticket.id,
    )


FORM: Final = "stanchion-called-1"
"""What is hashed first, so that the ticket is never one about an action."""
MOST: Final = 2_000
"""How many characters of a reason are kept."""


def call_somebody(desk: Desk, reason: str) -> Flow[str]:
    """Open a ticket about a run, with what was refused last; gives its id. The same reason about
    the same refusal is one ticket, and its answer lets nothing through. `TicketError` where nobody
    can be asked."""
    if not isinstance(reason, str) or not says_something(reason):
        raise TicketError(
            "say in words why somebody should look at this run: `reason` says nothing"
        )
    wanted = _wanted(desk, str(masked(reason))[:MOST])
    life_s, batch = desk.shield.policy.file.escalation.timeout_s, desk.new_id()
    try:
        roster = yield from desk.shield.authority.roster()
        kept = (yield from filed(desk, batch, wanted, roster, never, life_s)).kept
    except StoreLost as lost:
        raise TicketError(
            "nobody could be asked, because the state store cannot be used; try again later"
        ) from lost
    if kept is None or kept.ticket is None:
        raise TicketError(
            "people were asked too often, so nobody is asked about this one; ask again later"
        )
    if kept.opened:
        write_down(desk, kept.ticket, batch)
    return kept.ticket.id


def _wanted(desk: Desk, reason: str) -> Ticket:
    """What somebody is asked: the run, why, and the action that was refused last."""
    run, policy = desk.info, desk.shield.policy
    said: dict[str, Any] = {
        "kind": Kind.RUN,
        "guard": "",
        "code": "",
        "message": policy.veil.words(reason),
    }
    refused = desk.last_refused
    about = hashed([FORM, run.tenant, run.id, reason, "" if refused is None else refused[1].id])
    if refused is not None:
        event, decision = refused
        asked = asked_about(desk, event, decision)
        deed = msgspec.structs.replace(asked.deed, what=about, guards=())
        why = {
            "code": asked.code,
            "guard": asked.guard,
            "message": asked.message,
            "decision": decision.id,
        }
        evidence = {**asked.evidence, "refused": renamed(why, policy.veil.of_run(run))}
        return msgspec.structs.replace(asked, id=id_of(deed), deed=deed, evidence=evidence, **said)
    shown = hashed(shown_of(None, {}))
    deed = Deed(
        stage=Stage.TOOL_CALL.value, task=run.task, policy=policy.hash, what=about, shown=shown
    )
    ticket = Ticket(
        id="",
        run=run.id,
        deed=deed,
        askers=(run.agent,),
        above=desk.lineage,
        roles=policy.file.escalation.roles,
        opened_at=0,
        expires_at=0,
        next_ms=next_ms(policy.file.escalation),
        **said,
    )
    veiled = renamed(ticket, policy.veil.of_run(run))
    return msgspec.structs.replace(veiled, tenant=run.tenant, id=id_of(veiled.deed))
