"""`stanchion tickets watch`: what waits for a person, and one line for everything that changes,
until Ctrl-C."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Final

from stanchion import Shield
from stanchion.approvals.errors import UnknownTicket
from stanchion.approvals.ticket import Kind, State
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.ticket_lines import STYLES, summary
from stanchion.ops.views.tickets import TicketView, ticket_view
from stanchion.ops.views.times import shown

EVERY_S: Final = 1.0
MOST: Final = 1_000
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
        for one in shield.tickets(tenant, most=MOST)
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


def line(word: str, ticket: TicketView, now: int, terminal: Terminal) -> str:
    """A change in one line: when, what, and which ticket."""
    return (
        f"{shown(now)}  {terminal.paint(f'{word:<10}', STYLES[ticket.state])}  "
        f"{visible(summary(ticket))}"
    )
