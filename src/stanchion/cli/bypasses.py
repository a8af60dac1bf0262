"""`stanchion tickets bypass` and `review`: requests to go past a guardrail, and what went past one
unanswered."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from stanchion import Shield
from stanchion.approvals.answerers import By
from stanchion.approvals.bypass import NOBODY, Urgency
from stanchion.approvals.ticket import Kind, State
from stanchion.cli.printing import put_json, table
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.trouble import BadInput
from stanchion.ops.views.tickets import TicketView, ticket_view
from stanchion.ops.views.times import span
from stanchion.stores.memory import wall_ms

COLUMNS: Final = (
    "ticket",
    "state",
    "left",
    "agent",
    "about",
    "would lift",
    "urgency",
    "asks",
    "reason",
)
REVIEWS: Final = ("review", "due", "agent", "about", "went past", "why")


def listed(args: argparse.Namespace, shield: Shield) -> int:
    """List what asks to go past a guardrail, or has and is to be reviewed, and say what each would
    lift."""
    kept = shield.tickets(args.tenant, "all" if args.all else None, most=1_000)
    found = [ticket_view(one) for one in kept if one.kind in (Kind.BYPASS, Kind.REVIEW)]
    if args.json:
        put_json(*found)
        return 0
    terminal, now = Terminal.of_stdout(), wall_ms()
    asks = [one for one in found if one.bypass is not None]
    owed = [one for one in found if one.review is not None]
    put_lines(
        [
            *_requests(asks, now, terminal),
            *([""] if asks and owed else ()),
            *_reviews(owed, now, terminal),
        ]
    )
    if not found:
        tell("nobody asks for a bypass, and nothing is to be reviewed")
    return 0


def reviewed(args: argparse.Namespace, shield: Shield, by: By) -> int:
    """End the review of what went past a guardrail unanswered."""
    if not args.comment:
        raise BadInput("`stanchion tickets review` needs `--comment`: say what you found")
    known = shield.ticket(args.id, args.tenant)
    right = not args.wrong
    ended = ticket_view(
        shield.review(known.id, by=by, comment=args.comment, right=right, tenant=known.tenant)
    )
    if args.json:
        put_json(ended)
    else:
        tell(f"review {ended.id} ({ended.about}) is ended: {visible(ended.comment)}")
    return 0


def _requests(tickets: list[TicketView], now: int, terminal: Terminal) -> Iterator[str]:
    rows = [
        (
            one.id,
            str(one.state),
            "" if one.ends_at is None else span(max(0, one.ends_at - now)),
            one.agent,
            one.about,
            one.bypass.guardrail,
            str(one.bypass.urgency),
            _asks(one, now),
            one.bypass.reason,
        )
        for one in tickets
        if one.bypass is not None
    ]
    if rows:
        yield from table(COLUMNS, rows, ("left",), terminal)


def _asks(ticket: TicketView, now: int) -> str:
    """Who may answer, and when it goes ahead although nobody has."""
    one = ticket.bypass
    if one is None or ticket.state is not State.OPEN:
        return "unanswered" if one is not None and one.overridden else ""
    who = "nobody: deny it, or let it be" if ticket.roles == NOBODY else " or ".join(ticket.roles)
    if one.urgency is not Urgency.EMERGENCY or not one.override_ms:
        return who
    left = ticket.opened_at + one.override_ms - now
    return f"{who}; goes ahead {f'in {span(left)}' if left > 0 else 'now'} if nobody answers"


def _reviews(tickets: list[TicketView], now: int, terminal: Terminal) -> Iterator[str]:
    rows = [
        (
            one.id,
            _due(one, now),
            one.agent,
            one.about,
            one.guard,
            str(one.beside.get("bypass", {}).get("reason", "")),
        )
        for one in tickets
        if one.review is not None
    ]
    if rows:
        yield from table(REVIEWS, rows, (), terminal)


def _due(ticket: TicketView, now: int) -> str:
    if ticket.review is None or ticket.state is not State.OPEN:
        return str(ticket.state)
    left = ticket.review.due_at - now
    return f"in {span(left)}" if left > 0 else "overdue"
