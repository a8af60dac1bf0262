"""Asking about an effect that began and never ended: whoever finds it opens a ticket, once."""

from __future__ import annotations

from typing import Final

from stanchion.approvals.effects import about_effect
from stanchion.approvals.errors import TicketError
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import StoreLost
from stanchion.runtime.asides import aside
from stanchion.runtime.calling.ledger import Entry
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.escalation import filed, never, write_down
from stanchion.runtime.driving.flow import Flow

UNKNOWN: Final = "ledger.outcome_unknown"


def is_unknown(against: tuple[Finding, ...]) -> bool:
    """Whether a call is refused because nobody knows what came of one before it."""
    return any(one.code == UNKNOWN for one in against)


def ask_about(desk: Desk, page: Entry, event: ToolCall, decision: Decision) -> Flow[None]:
    """Have a person asked what came of an effect. The call is refused all the same, also where
    nobody can be asked."""
    run, veil = desk.info, desk.shield.policy.veil
    effect = page.effect
    about = {"call": veil.name(effect.call), "run": veil.name(effect.run), "began_at": effect.at}
    agents = [veil.name(name) for name in (run.agent, *desk.lineage)]
    risk = event.risk.name.lower()
    wanted = about_effect(run.tenant, page.id, veil.name(effect.tool), risk, about, agents)
    life_s, batch = desk.shield.policy.file.escalation.timeout_s, f"{decision.id}.effect"
    try:
        roster = yield from desk.shield.authority.roster()
        kept = (yield from filed(desk, batch, wanted, roster, never, life_s)).kept
    except (StoreLost, TicketError) as error:
        aside(f"nobody could be asked about effect `{page.id}`", error)
        return
    if kept is not None and kept.ticket is not None:
        desk.waits_for(decision, kept.ticket.id)
        if kept.opened:
            write_down(desk, kept.ticket, decision.id)
