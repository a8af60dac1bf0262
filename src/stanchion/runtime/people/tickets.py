"""Tickets for people: what waits, and their answers; what cannot be recorded is not answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.approvals.act import GRANT_S, Answer
from stanchion.approvals.answerers import By, Wish
from stanchion.approvals.errors import AnswerRefused, TicketError, UnknownTicket
from stanchion.approvals.grant_reach import Scope, checked_pattern, edits_of, reach, said
from stanchion.approvals.grants import (
    Grant,
    added,
    checked_edits,
    grant_of,
    grants_key,
    grants_of,
    without,
)
from stanchion.approvals.operators import Roster
from stanchion.approvals.overrides import check_answer, fact_of, told_of
from stanchion.approvals.quorum import needed, turn, voted
from stanchion.approvals.rules import Asked
from stanchion.approvals.shelf import (
    LEAST,
    TENANTS,
    KeptTicket,
    all_in,
    change,
    head_key,
    head_of,
    listed,
    named as one_of,
    page_key,
    read,
    relisted,
    tenants_of,
)
from stanchion.approvals.ticket import (
    FAST_MS,
    Kind,
    State,
    Ticket,
    as_of,
    key_of,
    listed_until,
    wish_of,
)
from stanchion.approvals.words import check_reason
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.audit.redaction import masked
from stanchion.kernel.events import RunInfo
from stanchion.kernel.gates import Paused, ending_key, stop_of, with_stop
from stanchion.kernel.shown import visible
from stanchion.kernel.state import ABSENT
from stanchion.runtime.asides import aside
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import change_together_now, drive, new_batch
from stanchion.runtime.people.authority import told
from stanchion.runtime.standing.veil import tell
from stanchion.telemetry.kinds import AskedNotice

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield


def is_due(ticket: Ticket, roster: Roster, now: int) -> bool:
    """Whether a role is asked by now that has not been told. Who cannot tell who the operators are
    tells nobody."""
    if ticket.next_ms <= 0 or ticket.state is not State.OPEN or roster.trouble:
        return False
    role = turn(ticket, roster, now).role
    return bool(role) and role not in ticket.told


def pass_on(shield: Shield, ticket: Ticket, roster: Roster, batch_id: str) -> Flow[KeptTicket]:
    """Ask whose turn it is by the store's time. Of all processes that notice, the one tells that
    has written it down: a step is told once, and not at all where that process is killed in
    between."""

    def told(kept: Ticket | None, now: int) -> Ticket | None:
        if kept is None or not is_due(as_of(kept, now), roster, now):
            return kept
        return msgspec.structs.replace(kept, told=(*kept.told, turn(kept, roster, now).role))

    made = yield from change(shield.records, batch_id, ticket.tenant, ticket.key, told)
    if made.changed and made.ticket is not None:
        _write_down(shield, made.ticket, made.now)
    return made


def context(ticket: Ticket) -> dict[str, object]:
    """What whoever is asked has to know of a ticket at first sight; `stanchion tickets show` has
    all of it."""
    return {
        "digest": ticket.deed.digest,
        "about": ticket.about,
        "expires_at": ticket.expires_at,
        "kind": str(ticket.kind),
        "asks": ticket.told[-1] if ticket.told else "",
        "agent": ticket.agent,
        "task": ticket.task,
        "risk": ticket.risk,
        "guard": ticket.guard,
    }


MOST_SHOWN: Final = 2_500
"""How many characters of what would go ahead a notice has at most."""


def asked_notice(ticket: Ticket) -> AskedNotice:
    """What those are told who may answer a ticket elsewhere."""
    body = msgspec.json.format(msgspec.json.encode(ticket.content), indent=2).decode()
    shown = "\n".join([visible(line) for line in body.splitlines()])
    fits = len(shown) <= MOST_SHOWN and ticket.whole
    return AskedNotice(ticket.deed.digest, ticket.generation, shown if fits else "")


def _write_down(shield: Shield, ticket: Ticket, now: int) -> None:
    fact = Fact(
        now, "ticket.passed", ticket.id, ticket.tenant, ticket.run, ticket.agent, ticket.message
    )
    try:
        tell(shield, fact._replace(data=context(ticket)), ticket.deed.tool, asked_notice(ticket))
    except AuditLost as lost:
        aside(f"it is not recorded that ticket `{ticket.id}` passes to the next role", lost)


FIRST: Final = 50
"""How many tickets are listed unless more are asked for."""

LIVE: Final = frozenset({State.OPEN, State.APPROVED})


class Tickets:
    """The tickets in a store, for people: what waits, and their answers."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._store = shield.store

    def waiting(self, tenant: str | None = None, most: int = FIRST) -> list[Ticket]:
        """What waits for a person, and what was approved and is not used yet, the one that ends
        first at the top."""
        now = self._shield.clock()
        found: list[Ticket] = []
        for one in self._tenants(tenant):
            self._look_after(one)
            live = (ticket for ticket in self._filed(one, now) if _is_live(as_of(ticket, now)))
            found += islice(live, most)
        return self._passed_on(sorted(found, key=urgency)[:most], now)

    def _passed_on(self, tickets: list[Ticket], now: int) -> list[Ticket]:
        """Tickets as they are listed, where those whose time has come have been passed on to the
        next role."""
        if not any(one.state is State.OPEN and one.next_ms for one in tickets):
            return tickets
        roster = self._shield.authority.known()
        return [self._pass_on(one, roster) if is_due(one, roster, now) else one for one in tickets]

    def _pass_on(self, ticket: Ticket, roster: Roster) -> Ticket:
        flow = pass_on(self._shield, ticket, roster, new_batch("ticket"))
        after = drive(flow, self._shield).ticket
        return ticket if after is None else after

    def count(self, tenant: str | None = None) -> int:
        """How many tickets are listed as waiting; some of them may be over by now."""
        read = self._store.read
        return sum([head_of(read(head_key(one))[1]).count for one in self._tenants(tenant)])

    def every(self, tenant: str | None = None) -> list[Ticket]:
        """Every ticket that is kept, those that are over last; reads all of them."""
        now = self._shield.clock()
        return sorted([as_of(ticket, now) for ticket in all_in(self._store, tenant)], key=urgency)

    def grants(self, tenant: str | None = None) -> list[tuple[str, Grant]]:
        """What holds beyond one call, with the tenant it holds for."""
        now = self._shield.clock()
        tenants = self._tenants(tenant)
        kept = [(one, grants_of(self._store.read(grants_key(one))[1])) for one in tenants]
        found = [(one, grant) for one, grants in kept for grant in grants if now < grant.until]
        roster = self._shield.authority.known() if found else Roster()
        return [(one, grant) for one, grant in found if self._stands(roster, grant)]

    def _stands(self, roster: Roster, grant: Grant) -> bool:
        """Whether whoever gave it still may."""
        asked = Asked((grant.answer.act.role,))
        return not self._shield.authority.doubt(roster, grant.answer, asked, grant.scope)

    def find(self, ticket_id: str, tenant: str | None = None) -> Ticket:
        """A ticket by its id, or by as much of it as is unique, as it stands."""
        if not isinstance(ticket_id, str):
            raise UnknownTicket(
                "there is no ticket id: check `refused.waits` before you use `refused.ticket`"
            )
        wanted = ticket_id.strip().lower()
        if len(wanted) < LEAST:
            raise UnknownTicket(
                f"`{ticket_id}` is too short: write at least {LEAST} digits of the id"
            )
        tenants = self._tenants(tenant)
        exact = [read(self._store.read(key_of(one, wanted))[1]) for one in tenants]
        known = [ticket for ticket in exact if ticket is not None and ticket.id == wanted]
        if not known:
            known = [ticket for one in tenants for ticket in all_in(self._store, one, wanted)]
        if not known:  # the id of a request for a bypass
            every = [ticket for one in tenants for ticket in all_in(self._store, one)]
            known = [one for one in every if one.bypass is not None and one.bypass.id == wanted]
        return as_of(one_of(known, ticket_id), self._shield.clock())

    def wish(
        self,
        ticket: Ticket,
        scope: Scope = Scope.ONCE,
        pattern: dict[str, str] | None = None,
        edits: Mapping[str, Any] | None = None,
    ) -> Wish:
        """What somebody is asked who answers a ticket; `TicketError` where a yes cannot reach so
        far, or not change what it is to."""
        edited = checked_edits(ticket, {} if edits is None else edits, scope)
        if masked(edited) is not edited:
            raise TicketError(
                "the changed arguments contain a secret, and an answer is recorded: deny it instead"
            )
        pattern = (
            checked_pattern(pattern if pattern else {}, ticket.content, ticket.deed.sinks)
            if scope is Scope.PATTERN
            else {}
        )
        if scope is not Scope.ONCE and not ticket.kind.starts:
            raise TicketError(
                f"nothing starts on a ticket about a {ticket.kind}: a yes to it is not for a "
                f"{scope}"
            )
        if scope is Scope.TASK and not ticket.task:
            raise TicketError("the run has no task: say yes for the run, or for a time")
        if not ticket.whole:
            whole = "it is too long to be shown in full, or was changed after it was asked"
            raise TicketError(f"ticket `{ticket.id}` can only be denied: {whole}")
        return wish_of(ticket, said(scope, ticket.run, pattern, edited))

    def answer(
        self,
        ticket_id: str,
        by: By,
        *,
        yes: bool,
        comment: str = "",
        for_s: float = GRANT_S,
        scope: Scope = Scope.ONCE,
        pattern: dict[str, str] | None = None,
        edits: Mapping[str, Any] | None = None,
        tenant: str | None = None,
        generation: int | None = None,
    ) -> Ticket:
        """Say yes or no to a ticket, or take an approval back that is not used yet. `edits` are
        arguments that a yes changes."""
        veil = self._shield.policy.veil
        ticket = self.find(ticket_id, tenant)
        if generation is not None and generation != ticket.generation:
            raise AnswerRefused(
                f"ticket `{ticket.id}` was asked for again in the meantime: look at it again"
            )
        check_answer(ticket, yes, scope, edits)
        by = veil.name(by) if isinstance(by, str) else by
        if not yes:
            check_reason(comment)
        wish = self.wish(ticket, scope, pattern, edits) if yes else wish_of(ticket)
        answer = self._shield.authority.said(
            wish, by, yes=yes, comment=veil.words(comment), for_s=for_s
        )
        return self._keep(ticket, answer, scope, {} if pattern is None else pattern)

    def carried(self, answer: Answer) -> Ticket:
        """Take an answer to a ticket that was signed elsewhere."""
        act = answer.act
        ticket = self.find(act.subject, act.tenant)
        scope, pattern = reach(act.scope) if act.yes else (Scope.ONCE, {})
        if not act.yes:
            check_reason(act.comment)
        check_answer(ticket, act.yes, scope, edits_of(act.scope) if act.yes else None)
        wish = (
            self.wish(ticket, scope, pattern, edits_of(act.scope)) if act.yes else wish_of(ticket)
        )
        return self._keep(
            ticket, self._shield.authority.said(wish, answer, yes=act.yes), scope, pattern
        )

    def revoke(self, grant_id: str, by: str, why: str = "", tenant: str = "default") -> bool:
        """Take a grant back; says whether there was one. Anybody may: it lets nothing through."""
        records, name = self._shield.records, grants_key(tenant)
        gone: list[Grant] = []

        def left(_now: int) -> dict[str, Any]:
            known = grants_of(records.get(name, ABSENT)[1])
            gone[:] = [one for one in known if one.id == grant_id]
            left = [one for one in known if one.id != grant_id]
            return {name: msgspec.to_builtins(left)} if gone else {}

        change_together_now(self._shield, "revoke", tenant, (name,), left)
        for one in gone:
            self._shield.authority.spend(one.answer)
            fact = Fact(self._shield.clock(), "grant.revoked", one.id, tenant, one.run, by, why)
            tell(
                self._shield, fact._replace(data={"scope": str(one.scope), "about": one.deed.tool})
            )
        return bool(gone)

    def _keep(self, found: Ticket, answer: Answer, scope: Scope, pattern: dict[str, str]) -> Ticket:
        """Keep an answer with its ticket, and a grant with the others, in one step, with which a
        run goes on that waits for it; then write it down. A yes to a ticket about an effect settles
        that."""
        if found.kind is Kind.EFFECT and answer.act.yes:
            return self._shield.settle_by(found, answer)
        shield, records, tenant = self._shield, self._shield.records, found.tenant
        grants, page, run = (
            grants_key(tenant),
            page_key(tenant, found.page),
            ending_key(tenant, found.run),
        )
        changed: list[tuple[Ticket, Ticket, int]] = []
        authority = shield.authority
        roster = authority.known()

        def new(now: int) -> dict[str, Any]:
            ticket = read(records.get(found.key, ABSENT)[1])
            if ticket is None:
                raise TicketError(
                    f"ticket `{found.id}` is gone: have the action repeated, which opens it again"
                )
            asked = ticket.asked
            takes = needed(ticket, roster)
            after = voted(
                ticket,
                now,
                answer,
                scope,
                takes,
                lambda vote: not authority.doubt(roster, vote, asked),
            )
            changed[:] = [(ticket, after, now)]
            listing = relisted(records.get(page, ABSENT)[1], found.id, listed_until(after))
            written = {found.key: msgspec.to_builtins(after), page: listing}
            stood = records.get(run, ABSENT)[1]
            if after.state is not State.OPEN and _pauses(stood, found.id):
                written[run] = with_stop(stood, None)
            known = grants_of(records.get(grants, ABSENT)[1])
            left = without(known, ticket)
            if answer.act.yes and scope is not Scope.ONCE:
                left = added(known, grant_of(after, pattern), now)
            return written if left == known else {**written, grants: msgspec.to_builtins(left)}

        try:
            if shield.journal.trouble:
                shield.journal.probe()
            keys = (found.key, page, grants, run)
            change_together_now(shield, "ticket", tenant, keys, new)
            self._write_down(*changed[0], answer)
        except AuditLost as lost:
            why = f"the audit trail cannot be written: {lost}"
            raise TicketError(
                f"ticket `{found.id}` is not answered, because {why}; answer it when it can be"
            ) from lost
        except TicketError as error:
            self.refuse(found, answer.act.operator, answer.act.generation, str(error))
            raise
        before, after, _ = changed[0]
        if not answer.act.yes:
            for one in before.answers:
                shield.authority.spend(one)
        shield.waiting.wake(found.key)
        return after

    def _write_down(self, before: Ticket, ticket: Ticket, now: int, answer: Answer) -> None:
        fast = {"fast": True} if now < ticket.opened_at + FAST_MS else {}
        data = {
            "digest": ticket.deed.digest,
            "about": ticket.about,
            "agents": answer.act.agents,
            "as": answer.act.role,
            "generation": ticket.generation,
            "scope": answer.act.scope,
            "grant_until": ticket.grant_until,
            **fast,
            **told(answer),
            **({"agent": True} if self._shield.authority.is_agent(answer.act.operator) else {}),
            **told_of(ticket),
        }
        what = "ticket.voted" if ticket.state is State.OPEN else fact_of(ticket)
        at = ticket.answered_at if ticket.answered_at else self._shield.clock()
        fact = Fact(at, what, ticket.id, ticket.tenant, ticket.run)
        try:
            tell(
                self._shield,
                fact._replace(by=answer.act.operator, why=answer.act.comment, data=data),
            )
            if ticket.bypass is not None and ticket.state is not State.OPEN:
                about = RunInfo(ticket.run, ticket.agent, task=ticket.task, tenant=ticket.tenant)
                self._shield.telemetry.bypass(ticket.bypass.guardrail, str(ticket.state), about)
        except AuditLost:
            self._put_back(before, ticket)
            raise

    def _put_back(self, before: Ticket, ticket: Ticket) -> None:
        """Have a ticket as it was before an answer that could not be recorded, unless something
        came of it since."""
        records, name, page = (
            self._shield.records,
            grants_key(ticket.tenant),
            page_key(ticket.tenant, ticket.page),
        )

        def back(_now: int) -> dict[str, Any]:
            if read(records.get(ticket.key, ABSENT)[1]) != ticket:
                return {}
            left = without(grants_of(records.get(name, ABSENT)[1]), ticket)
            listing = relisted(records.get(page, ABSENT)[1], ticket.id, listed_until(before))
            return {
                ticket.key: msgspec.to_builtins(before),
                name: msgspec.to_builtins(left),
                page: listing,
            }

        keys = (ticket.key, name, page)
        change_together_now(self._shield, "ticket", ticket.tenant, keys, back)

    def refuse(self, ticket: Ticket, by: str, generation: int, why: str) -> None:
        """Write down that somebody's answer to a ticket did not count."""
        now, data = self._shield.clock(), {"purpose": "ticket", "generation": generation}
        fact = Fact(now, "answer.refused", ticket.id, ticket.tenant, ticket.run, by, why)
        tell(self._shield, fact._replace(data=data))

    def _look_after(self, tenant: str) -> None:
        from stanchion.runtime.people.missed_reviews import tell_missed

        tell_missed(self._shield, tenant)

    def _tenants(self, tenant: str | None) -> tuple[str, ...]:
        return tenants_of(self._store.read(TENANTS)[1]) if tenant is None else (tenant,)

    def _filed(self, tenant: str, now: int) -> Iterator[Ticket]:
        """A tenant's tickets that are worth listing, page after page."""
        for number, _ in head_of(self._store.read(head_key(tenant))[1]).pages:
            for ticket_id in listed(self._store.read(page_key(tenant, number))[1], now):
                ticket = read(self._store.read(key_of(tenant, ticket_id))[1])
                if ticket is not None and ticket.page == number:
                    yield ticket


def _is_live(ticket: Ticket) -> bool:
    """Whether a ticket waits for somebody, or an approval of one call for that call; the rest are
    grants."""
    return ticket.state in LIVE and (ticket.state is State.OPEN or ticket.scope is Scope.ONCE)


def _pauses(value: Any, ticket: str) -> bool:
    """Whether a run waits for a ticket, by its record."""
    told = stop_of(value)
    return isinstance(told, Paused) and told.ticket == ticket


def urgency(ticket: Ticket) -> tuple[int, int, str]:
    """What tickets are sorted by: those that wait, those approved, those that are over."""
    match ticket.state:
        case State.OPEN:
            return 0, ticket.expires_at, ticket.id
        case State.APPROVED:
            return 1, ticket.grant_until, ticket.id
        case _:
            return 2, -max(ticket.opened_at, ticket.answered_at), ticket.id
