"""Answering tickets: found in the store, changed there, and written down; what cannot be recorded is not answered."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from stanchion.approvals.errors import TicketError
from stanchion.approvals.finding import named
from stanchion.approvals.keeping import Kept, all_in, change
from stanchion.approvals.ticket import GRANT_S, LONGEST_S, State, Ticket, approve, as_of, deny
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact, Journal
from stanchion.kernel.state import Records
from stanchion.policy.veil import Veil
from stanchion.runtime.drivers import drive
from stanchion.runtime.errors import NoRun
from stanchion.runtime.turns import Turns
from stanchion.runtime.veiling import NO_VEIL, fact_veiled
from stanchion.runtime.waiting import Waiting
from stanchion.stores.protocol import Store

Answer = Callable[[Ticket, int], Ticket]


class Tickets:
    """The tickets in a store, for people: what waits, and their answers."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        clock: Callable[[], int],
        waiting: Waiting | None = None,
        veil: Veil = NO_VEIL,
    ) -> None:
        self.store = store
        self._journal = journal
        self._clock = clock
        self._veil = veil
        self._waiting = Waiting() if waiting is None else waiting
        self._records: Records = {}

    @property
    def answering(self) -> Any:
        """Nothing here asks: only runs do."""
        raise NoRun("lookups belong to a run")

    @property
    def turns(self) -> Turns:
        """Nothing here races: a change is tried again by itself."""
        return Turns()

    def listed(self, tenant: str | None = None, state: State | str | None = None) -> list[Ticket]:
        """Tickets as they stand, the one that ends first at the top; those over come last, the newest first."""
        now = self._clock()
        wanted = None if state is None else State(state)
        found = [as_of(ticket, now) for ticket in all_in(self.store, tenant)]
        found = [ticket for ticket in found if wanted is None or ticket.state is wanted]
        return sorted(found, key=_urgency)

    def find(self, ticket_id: str) -> Ticket:
        """A ticket by its id, or by as much of it as is unique, as it stands."""
        return as_of(named(all_in(self.store), ticket_id), self._clock())

    def approve(self, ticket_id: str, by: str, comment: str = "", for_s: float = GRANT_S, role: str = "") -> Ticket:
        """Say yes to a ticket: its action may start once, within `for_s` seconds."""
        if not 0 < for_s <= LONGEST_S:
            most = f"give a number of seconds up to {LONGEST_S:g}, or approve it again later"
            raise TicketError(f"an approval cannot be used for `{for_s:g}` s: {most}")
        for_ms = max(1, int(for_s * 1000))
        found, by, comment = self.find(ticket_id), self._veil.name(by), self._veil.words(comment)
        return self._answer(found, lambda ticket, now: approve(ticket, now, by, comment, role, for_ms))

    def deny(self, ticket_id: str, by: str, comment: str = "", role: str = "") -> Ticket:
        """Say no to a ticket, or take an approval back that is not used yet."""
        found, by, comment = self.find(ticket_id), self._veil.name(by), self._veil.words(comment)
        return self._answer(found, lambda ticket, now: deny(ticket, now, by, comment, role))

    def _answer(self, found: Ticket, answer: Answer) -> Ticket:
        try:
            if self._journal.trouble:
                self._journal.probe()
            kept = self._change(found, lambda ticket, now: None if ticket is None else answer(ticket, now))
            ticket = kept.ticket
            if ticket is None:
                raise TicketError(f"ticket `{found.id}` is gone: let the action be repeated, which opens it again")
            self._write_down(kept, ticket)
        except AuditLost as lost:
            why = f"the audit trail cannot be written: {lost}"
            raise TicketError(f"ticket `{found.id}` is not answered, because {why}; answer it when it can be") from lost
        self._waiting.wake(ticket.key)
        return ticket

    def _write_down(self, kept: Kept, ticket: Ticket) -> None:
        data = {
            "digest": ticket.digest,
            "about": ticket.about,
            "agent": ticket.agent,
            "as": ticket.answered_as,
            "grant_until": ticket.grant_until,
        }
        fact = Fact(ticket.answered_at, f"ticket.{ticket.state}", ticket.id, ticket.tenant, ticket.run)
        try:
            fact = fact._replace(by=ticket.answered_by, why=ticket.comment, data=data)
            self._journal.tell(fact_veiled(self._veil, fact))
        except AuditLost:
            self._change(ticket, lambda now_kept, _: kept.before if now_kept == ticket else now_kept)
            raise

    def _change(self, found: Ticket, step: Callable[[Ticket | None, int], Ticket | None]) -> Kept:
        batch = f"ticket-{os.urandom(8).hex()}"
        return drive(change(self._records, batch, found.tenant, found.key, step), self)


def _urgency(ticket: Ticket) -> tuple[int, int, str]:
    match ticket.state:
        case State.OPEN:
            return 0, ticket.expires_at, ticket.id
        case State.APPROVED:
            return 1, ticket.grant_until, ticket.id
        case _:
            return 2, -max(ticket.opened_at, ticket.answered_at), ticket.id
