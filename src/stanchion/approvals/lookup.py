"""Finding a ticket by its id, or by as much of it as tells it from the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.approvals.errors import UnknownTicket
from stanchion.approvals.ticket import Ticket

LEAST: Final = 4
"""How much of an id is needed."""


def named(tickets: Iterable[Ticket], ticket_id: str) -> Ticket:
    """The one ticket among those whose ids begin so."""
    found = list(tickets)
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(f"`{ticket.id}`" for ticket in found[:3])
        raise UnknownTicket(
            f"`{ticket_id}` matches {len(found)} tickets, such as {some}: write more digits of it"
        )
    raise UnknownTicket(f"there is no ticket `{ticket_id}`: see `stanchion tickets list --all`")
