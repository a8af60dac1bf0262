"""Calling somebody: an agent that is refused asks for a person to look at its run."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.approvals.digest import Deed, hashed
from stanchion.approvals.errors import TicketError
from stanchion.approvals.reasons import says_something
from stanchion.approvals.ticket import Kind, Ticket, id_of, shown_of
from stanchion.audit.redaction import masked
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import StoreLost
from stanchion.policy.veil import renamed
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.escalation import (
    asked_about,
    filed,
    never,
    next_ms,
    write_down,
)
from stanchion.runtime.driving.flow import Flow

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
