"""What people do, as it may be shown: tickets, grants, allowances, and the operators."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from stanchion.approvals.errors import UnknownTicket
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.grants import Grant
from stanchion.approvals.operators import Roster
from stanchion.approvals.public_key import public_of
from stanchion.approvals.quorum import needed
from stanchion.approvals.ticket import Kind, State, Ticket
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.deciding.allowances import FindingAllowance
from stanchion.runtime.shield import Shield


class OperatorView(Struct, frozen=True):
    """An operator. `key` is the public key as OpenSSH writes it, `agents` are those who work for
    them.

    `pinned`: the policy names them. Otherwise `added_by` is who added them, empty where nobody
    proved who it was, and `since_ms` when.
    """

    name: str
    key: str
    roles: tuple[str, ...]
    agents: tuple[str, ...]
    fingerprint: str
    pinned: bool
    added_by: str = ""
    since_ms: int = 0


def operators(roster: Roster) -> list[OperatorView]:
    """All of them, by name; secrets are hidden in the names of roles and agents."""
    changes = {change.operator.name: change for change in roster.changes}
    found = []
    for one in sorted(roster.operators.values(), key=lambda each: each.name):
        change = changes.get(one.name)
        by, since = ("", 0) if change is None else (change.by, change.at)
        roles, agents = veiled(one.roles), veiled(one.agents)
        fingerprint = public_of(one.key).fingerprint
        found.append(
            OperatorView(one.name, one.key, roles, agents, fingerprint, change is None, by, since)
        )
    return found


class AllowanceView(Struct, frozen=True):
    """That something a guard finds may pass: `once`, or until it is forgotten; in the calls of one
    tool, or in all."""

    fingerprint: str
    once: bool
    tool: str
    why: str
    by: str
    at_ms: int
    proven: bool


def allowance_view(one: FindingAllowance) -> AllowanceView:
    """An allowance as it may be shown."""
    proven = one.answer is not None and one.answer.way.proven
    return veiled(
        AllowanceView(one.fingerprint, one.once, one.tool, one.why, one.by, one.at, proven)
    )


NOBODY: Final = Roster()


class TicketView(Ticket, frozen=True, kw_only=True, omit_defaults=False):
    """A ticket: who wants to do what, why that was stopped, who may answer until when, and what was
    answered.

    `content` is what would go ahead (the arguments of a tool call), `beside` the rest of its event.
    `whole`: all of it is shown, and nothing was changed since it was asked. Times are in
    milliseconds, 0 for what has not happened.
    """

    agent: str
    task: str
    stage: str
    tool: str
    risk: str
    policy: str
    whole: bool
    reach: str
    """How far the answer reaches, in words; empty where there is none."""
    proven: bool
    said_yes: tuple[str, ...]
    """Who has said yes so far."""
    fast: bool
    """Whether the answer came within two seconds."""
    takes: int
    """How many have to say yes."""
    edits: dict[str, Any]
    """The arguments that a yes has changed."""
    digest: str

    @property
    def ends_at(self) -> int | None:
        """When it is over by itself; `None` where it is over already."""
        return {State.OPEN: self.expires_at, State.APPROVED: self.grant_until}.get(self.state)


class GrantView(Struct, frozen=True):
    """A yes that reaches further than one call, while it holds: how far, until when, for whom, to
    what, and whose."""

    id: str
    tenant: str
    scope: Scope
    reach: str
    until: int
    agents: tuple[str, ...]
    about: str
    by: str
    proven: bool


def ticket_view(ticket: Ticket, roster: Roster = NOBODY) -> TicketView:
    """A ticket as it may be shown, where those are the operators; whether it is shown whole is
    judged on it as it is."""
    return veiled(ticket_in_full(ticket, roster))


def ticket_in_full(ticket: Ticket, roster: Roster = NOBODY) -> TicketView:
    """A ticket for whoever signs an answer to it: word for word what was asked."""
    known: dict[str, Any] = {
        **asdict(ticket),
        **{name: getattr(ticket, name) for name in WORKED_OUT},
    }
    reach = "" if ticket.answer is None else ticket.answer.act.scope
    takes = max(needed(ticket, roster), len(ticket.votes))
    return TicketView(**known, takes=takes, reach=reach, digest=ticket.deed.digest)


WORKED_OUT: Final = [
    "agent",
    "task",
    "stage",
    "tool",
    "risk",
    "policy",
    "whole",
    "fast",
    "edits",
    "said_yes",
    "proven",
]
"""What a ticket says of itself beside what is kept of it."""


def grant_view(tenant: str, grant: Grant) -> GrantView:
    """A grant as it may be shown."""
    act, deed = grant.answer.act, grant.deed
    about = deed.tool if deed.tool else deed.stage
    proven = grant.answer.way.proven
    return veiled(
        GrantView(
            grant.id,
            tenant,
            grant.scope,
            act.scope,
            grant.until,
            grant.agents,
            about,
            act.operator,
            proven,
        )
    )


EVERY_S: Final = 1.0
WATCHED: Final = 1_000
"""How many tickets are watched at a time: the most urgent ones."""

Seen = dict[tuple[str, str], TicketView]
"""Tickets by their tenant and id, as they were seen last."""


def watch(
    shield: Shield,
    tenant: str | None,
    kind: Kind | None,
    put: Callable[[str, TicketView], None],
    rest: Callable[[], None] = lambda: time.sleep(EVERY_S),
) -> None:
    """Put what waits, and then every change with the word for it; `rest` is called between two
    looks."""
    seen: Seen = {}
    while True:
        found = look(shield, tenant, kind, seen)
        for word, ticket in changes(seen, found):
            put(word, ticket)
        seen = {
            name: one for name, one in found.items() if one.state in (State.OPEN, State.APPROVED)
        }
        rest()


def look(shield: Shield, tenant: str | None, kind: Kind | None, seen: Seen) -> Seen:
    """What waits now, and what became of tickets that were seen before."""
    roster = shield.authority.known()
    listed = [
        ticket_view(one, roster)
        for one in shield.tickets(tenant, most=WATCHED)
        if kind in (None, one.kind)
    ]
    found = {(one.tenant, one.id): one for one in listed}
    for name, id in seen.keys() - found.keys():
        with contextlib.suppress(UnknownTicket):
            found[name, id] = ticket_view(shield.ticket(id, name), roster)
    return found


def changes(before: Seen, after: Seen) -> Iterator[tuple[str, TicketView]]:
    """What has changed, each with a word for it, in the order in which the tickets were opened."""
    for name, ticket in sorted(after.items(), key=lambda item: (item[1].opened_at, item[0])):
        word = _change(before.get(name), ticket)
        if word:
            yield word, ticket


def _change(before: TicketView | None, ticket: TicketView) -> str:
    if before is None or before.generation != ticket.generation:
        return str(ticket.state)
    if before.state is not ticket.state:
        return str(ticket.state)
    if before.told != ticket.told:
        return "passed on"
    if before.said_yes != ticket.said_yes:
        return f"{len(ticket.said_yes)} of {ticket.takes} yes"
    return "joined" if before.askers != ticket.askers else ""
