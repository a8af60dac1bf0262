"""Allowing what guards find: allowances of a tenant, kept in the store, for a false alarm that is known to be one."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answering import By
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import Roster
from stanchion.approvals.proving import doubt
from stanchion.approvals.request import Request
from stanchion.approvals.rules import Asked
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.chain import Plans
from stanchion.kernel.changing import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import TRIES, decide
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.judging import read_of
from stanchion.kernel.sizes import unread
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Stake, StoreLost, key
from stanchion.kernel.states import NORMAL
from stanchion.runtime.authority import told
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, drive
from stanchion.runtime.veiling import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

MOST: Final = 1_000
"""How many allowances a tenant can have."""
OPERATORS_ONLY: Final = Asked()
FINGERPRINT: Final = re.compile(r"[0-9a-f]{12}")


class Allowance(msgspec.Struct, frozen=True, omit_defaults=True):
    """That something a guard finds may pass: `once`, or until it is forgotten; in the calls of one tool, or in all."""

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


def allowances_of(value: Any) -> dict[str, Allowance]:
    """The allowances that a record tells, by fingerprint."""
    return {} if value is None else msgspec.convert(value, dict[str, Allowance])


def decided(desk: Desk, plans: Plans, moment: Moment) -> Flow[tuple[Moment, Decision]]:
    """Decide a moment, with what was found in it cleared as far as it is allowed; gives the moment as it was judged.

    An allowance for once is used up in the batch that lets the action start: where somebody else was first the moment
    is judged again without it.
    """
    tried = 0
    while True:
        judged, found = moment, _found(plans, moment)
        if found or moment.events[0].cleared:
            judged = yield from _cleared(desk, moment, found)
        decision = yield from decide(plans, judged, desk.shield.records)
        tried += 1
        taken = decision.inputs.taken
        if not taken or taken != allowances_key(judged.events[0].run.tenant) or tried >= TRIES:
            return judged, decision


def _cleared(desk: Desk, moment: Moment, found: tuple[str, ...]) -> Flow[Moment]:
    """A moment whose event says what is allowed of what is found in it, and nothing of what was found before."""
    event = moment.events[0]
    if event.cleared:
        event = msgspec.structs.replace(event, cleared=())
        moment = msgspec.structs.replace(moment, events=(event, *moment.events[1:]))
    if not found:
        return moment
    tenant = event.run.tenant
    name = allowances_key(tenant)
    try:
        kept = yield from change(desk.shield.records, f"{event.id}.allowed", tenant, name, lambda _value, _now: LEFT)
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
    used = [one for one in wanted if one.answer is not None and _stands(roster, tenant, one, one.answer, shared)]
    if not used:
        return moment
    event = msgspec.structs.replace(event, cleared=tuple([one.fingerprint for one in used]))
    stakes = moment.stakes
    spent = {one.fingerprint for one in used if one.once}
    if spent:
        left = {name: one for name, one in known.items() if name not in spent}
        stakes = (*stakes, Stake(name, kept.version, msgspec.to_builtins(left)))
    return msgspec.structs.replace(moment, events=(event, *moment.events[1:]), stakes=stakes)


def _stands(roster: Roster, tenant: str, one: Allowance, answer: Answer, shared: bool) -> bool:
    """Whether an allowance is what somebody said who could say it, and nothing else."""
    said = {"once": one.once, "tool": one.tool, "why": answer.act.comment}
    request = Request(purpose=Purpose.ALLOW, tenant=tenant, subject=one.fingerprint, said=said)
    same = answer.act.yes and answer.act.digest == request.digest
    return same and not doubt(roster, answer, OPERATORS_ONLY, shared=shared)


def _found(plans: Plans, moment: Moment) -> tuple[str, ...]:
    """What guards find in an event that can be allowed. A stream waits for no store, and what is refused for its size
    alone is not read."""
    lineup = plans.of(moment.events, NORMAL).lineup
    if not lineup.clearing or moment.events[0].stage is Stage.MODEL_CHUNK:
        return ()
    reading = read_of(moment, plans.policy.read)[0]
    found: dict[str, None] = {}
    try:
        for placed in lineup.bounding:
            finding = placed.guard.judge(reading)
            if isinstance(finding, Finding) and not placed.shadow and unread((finding,)):
                return ()
        for placed in lineup.clearing:
            found |= dict.fromkeys(placed.guard.fingerprints(reading))
    except Exception:  # noqa: BLE001 - a guard may raise anything: it does so again when it judges, and fails closed
        return ()
    return tuple(found)


class Allowances:
    """A tenant's allowances, for people: given, listed and taken back; every change is written to the trail."""

    def __init__(self, shield: Shield, tenant: str | None = None) -> None:
        self._shield = shield
        self._tenant = shield.tenancy.of(tenant)

    def listed(self) -> list[Allowance]:
        """All allowances, the newest first."""
        known = allowances_of(self._change(lambda _: LEFT))
        return sorted(known.values(), key=lambda one: (-one.at, one.fingerprint))

    def allow(
        self, fingerprint: str, once: bool = False, tool: str = "", why: str = "", by: By = "an operator"
    ) -> Allowance:
        """Let what has this fingerprint pass from now on, or once. An operator's: `AnswerRefused` where `by` is none,
        `ValueError` where it is no fingerprint."""
        if FINGERPRINT.fullmatch(fingerprint) is None:
            raise ValueError(f"`{fingerprint}` is no fingerprint: give the 12 digits that `stanchion explain` shows")
        said = {"once": once, "tool": tool, "why": why}
        made = self._shield.act(Request(purpose=Purpose.ALLOW, tenant=self._tenant, subject=fingerprint, said=said), by)
        assert isinstance(made, Allowance)
        return made

    def entered(self, fingerprint: str, once: bool, tool: str, answer: Answer) -> Allowance:
        """Enter an allowance, as an operator has said."""
        veil = self._shield.policy.veil
        act = answer.act
        made = Allowance(
            fingerprint, once, tool, veil.words(act.comment), veil.name(act.operator), self._shield.clock(), answer
        )

        def added(known: dict[str, Allowance]) -> Any:
            if len(known) >= MOST and fingerprint not in known:
                raise ValueError(f"`{self._tenant}` has {MOST:,} allowances, which is the most: forget some of them")
            return {**known, fingerprint: made}

        self._change(added)
        self._tell("secrets.allowed", made)
        return made

    def forget(self, fingerprint: str, by: str = "", why: str = "") -> bool:
        """Take an allowance back; says whether there was one."""
        gone: list[Allowance] = []

        def without(known: dict[str, Allowance]) -> Any:
            gone[:] = [known[fingerprint]] if fingerprint in known else []
            return {name: one for name, one in known.items() if name != fingerprint} if gone else LEFT

        self._change(without)
        for one in gone:
            self._tell("secrets.forgotten", msgspec.structs.replace(one, by=by, why=why))
        return bool(gone)

    def _change(self, step: Any) -> Any:
        def new(value: Any, _now: int) -> Any:
            wanted = step(allowances_of(value))
            return wanted if wanted is LEFT else msgspec.to_builtins(wanted)

        batch = f"allow-{os.urandom(8).hex()}"
        return drive(
            change(self._shield.records, batch, self._tenant, allowances_key(self._tenant), new), self._shield
        ).value

    def _tell(self, what: str, one: Allowance) -> None:
        data = {"once": one.once, "tool": one.tool, **({} if one.answer is None else told(one.answer))}
        with contextlib.suppress(AuditLost):
            fact = Fact(self._shield.clock(), what, one.fingerprint, self._tenant, by=one.by, why=one.why, data=data)
            tell(self._shield, fact)
