"""Finding a ticket by its id, or by as much of it as tells it from the others."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from stanchion.approvals.errors import UnknownTicket
from stanchion.approvals.ticket import Ticket


def named(tickets: Iterable[Ticket], ticket_id: str) -> Ticket:
    """The one ticket whose id is that, or begins so."""
    wanted = ticket_id.strip().lower()
    known = list(tickets)
    fitting = [ticket for ticket in known if wanted and ticket.id.startswith(wanted)]
    exact = [ticket for ticket in fitting if ticket.id == wanted]
    found = exact if exact else fitting
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(f"`{ticket.id}`" for ticket in found[:3])
        raise UnknownTicket(f"`{ticket_id}` could be {len(found)} tickets, such as {some}: write more of it")
    near = get_close_matches(wanted, [ticket.id for ticket in known], 3, 0.5)
    hint = f"did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else "see `stanchion tickets list --all`"
    raise UnknownTicket(f"there is no ticket `{ticket_id}`: {hint}")
