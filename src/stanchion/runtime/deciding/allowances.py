"""Allowing what guards find: allowances of a tenant, kept in the store, for a false alarm that is
known to be one."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import Roster
from stanchion.approvals.proof import doubt
from stanchion.approvals.rules import Asked
from stanchion.kernel.chain import Plans
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import TRIES, decide
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.state import Stake, StoreLost, key
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow

OPERATORS_ONLY: Final = Asked()


class FindingAllowance(msgspec.Struct, frozen=True, omit_defaults=True):
    """That something a guard finds may pass: `once`, or until it is forgotten; in the calls of one
    tool, or in all."""

    fingerprint: str
    once: bool = False
    tool: str = ""
    why: str = ""
    by: str = ""
    at: int = 0
    answer: Answer | None = None

    def covers(self, event: Event) -> bool:
        """Whether it counts for an event."""
        return not self.tool or self.tool == event.tool


def allowances_key(tenant: str) -> str:
    """Where a tenant's allowances are kept."""
    return key(tenant, "allowed")


def allowances_of(value: Any) -> dict[str, FindingAllowance]:
    """The allowances that a record tells, by fingerprint."""
    return {} if value is None else typed.convert(value, dict[str, FindingAllowance])


def decided(desk: Desk, plans: Plans, moment: Moment) -> Flow[tuple[Moment, Decision]]:
    """Decide a moment, with what is found in it cleared as far as it is allowed; gives the moment
    as it was judged.

    An allowance for once is used up in the batch that lets the action start: where somebody else
    was first the moment is judged again without it.
    """
    event = moment.events[0]
    if event.cleared:
        moment = _replaced(moment, msgspec.structs.replace(event, cleared=()))

    judged, tried = moment, 0

    def clear(moment: Moment, found: tuple[str, ...]) -> Flow[Moment]:
        nonlocal judged
        judged = yield from _cleared(desk, moment, found)
        return judged

    while True:
        decision = yield from decide(plans, moment, desk.shield.records, clear)
        tried, taken = tried + 1, decision.inputs.taken
        if not taken or taken != allowances_key(event.run.tenant) or tried >= TRIES:
            return judged, decision
        judged = moment


def _replaced(moment: Moment, event: Event) -> Moment:
    return msgspec.structs.replace(moment, events=(event, *moment.events[1:]))


def _cleared(desk: Desk, moment: Moment, found: tuple[str, ...]) -> Flow[Moment]:
    """A moment whose event says what is allowed of what is found in it; the same where nothing
    is."""
    event = moment.events[0]
    tenant = event.run.tenant
    name = allowances_key(tenant)
    try:
        kept = yield from change(
            desk.shield.records, f"{event.id}.allowed", tenant, name, lambda _value, _now: LEFT
        )
        known = allowances_of(kept.value)
    except (StoreLost, msgspec.ValidationError):
        return moment
    wanted = [known[one] for one in found if one in known and known[one].covers(event)]
    if not wanted:
        return moment
    try:
        roster = yield from desk.shield.authority.roster()
    except (StoreLost, TicketError):
        return moment
    shared = desk.shield.authority.shared
    used = [
        one
        for one in wanted
        if one.answer is not None and _stands(roster, tenant, one, one.answer, shared)
    ]
    if not used:
        return moment
    event = msgspec.structs.replace(event, cleared=tuple([one.fingerprint for one in used]))
    moment = _replaced(moment, event)
    spent = {one.fingerprint for one in used if one.once}
    if not spent:
        return moment
    left = {name: one for name, one in known.items() if name not in spent}
    stake = Stake(name, kept.version, msgspec.to_builtins(left))
    return msgspec.structs.replace(moment, stakes=(*moment.stakes, stake))


def _stands(
    roster: Roster, tenant: str, one: FindingAllowance, answer: Answer, shared: bool
) -> bool:
    """Whether an allowance is what somebody said who could say it, and nothing else."""
    said = {"once": one.once, "tool": one.tool, "why": answer.act.comment}
    request = Request(purpose=Purpose.ALLOW, tenant=tenant, subject=one.fingerprint, said=said)
    same = answer.act.yes and answer.act.digest == request.digest
    return same and not doubt(roster, answer, OPERATORS_ONLY, shared=shared)
