"""Tickets as people read them: tables of many, and everything that is known of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.approvals.bypass import NOBODY, Urgency
from stanchion.approvals.ticket import Kind, State
from stanchion.cli.printing import Layout, row
from stanchion.cli.terminal import Terminal, visible
from stanchion.ops.views.amounts import in_json, shown, span
from stanchion.ops.views.people import TicketView
from stanchion.ops.views.ticket_rows import (
    LAID_OUT,
    ONLY_NO,
    headline,
    pairs,
    ticket_rows,
    time_left,
)

STYLES: Final = {
    State.OPEN: "asks",
    State.APPROVED: "good",
    State.USED: "dim",
    State.EXPIRED: "dim",
    State.DENIED: "bad",
    State.WITHDRAWN: "bad",
    State.REVIEWED: "good",
}
SHORT: Final = 60
"""How much of the arguments stands in a list; `stanchion tickets show` has them whole."""


def ticket_table(now: int) -> Layout:
    """How tickets become a table, as they stand at a time."""
    return Layout(
        ("ticket", "kind", "state", "age", "left", "agent", "about", "arguments", "risk", "why"),
        lambda one: (
            one.id,
            str(one.kind),
            _state(one),
            span(now - one.opened_at),
            time_left(one, now),
            one.agent,
            one.about,
            _short(one),
            one.risk,
            one.message,
        ),
        ("age", "left"),
        styles=lambda one: {"state": STYLES[one.state]},
    )


def summary(ticket: TicketView) -> str:
    """A ticket in one line: which one, of which kind, who wants what, why, and who is asked or has
    answered."""
    who = ticket.agent if ticket.agent else "an agent"
    about = f"{ticket.about}({_short(ticket)})" if ticket.content is not None else ticket.about
    about = f"{about}, {ticket.risk}: {ticket.message}"
    if ticket.kind is Kind.VALUE:
        about = ticket.message  # it has all of that, and the danger first
    kind = "" if ticket.kind is Kind.ACTION else f" [{ticket.kind}]"
    asks = (
        f"; asks {' and '.join(ticket.told)}" if ticket.told and ticket.state is State.OPEN else ""
    )
    refused = ticket.state in (State.DENIED, State.WITHDRAWN) or not ticket.said_yes
    by = (
        f"; by {ticket.answered_by if refused else ', '.join(ticket.said_yes)}"
        if ticket.answered_by
        else ""
    )
    said = f": {ticket.comment}" if ticket.comment else ""
    return f"{ticket.id}{kind} {who}: {about}{asks}{by}{said}"


def grant_table(now: int) -> Layout:
    """How what somebody has said yes to for longer than one call becomes a table."""
    return Layout(
        ("grant", "holds for", "left", "agents", "about", "by", "proof"),
        lambda one: (
            one.id,
            one.reach,
            span(max(0, one.until - now)),
            ", ".join(one.agents),
            one.about,
            one.by,
            "signed" if one.proven else "unproven",
        ),
        ("left",),
    )


def whole(ticket: TicketView, now: int, terminal: Terminal) -> Iterator[str]:
    """Everything that a person needs to decide about a ticket, or that became of it."""
    state = terminal.paint(str(ticket.state).upper(), STYLES[ticket.state])
    yield f"{state}  {visible(headline(ticket))}"
    yield ""
    for label, words in ticket_rows(ticket, now):
        yield from row(label, words if label in LAID_OUT else visible(words), terminal)
    if ticket.state is State.OPEN and not ticket.whole:
        yield from ("", f"  {ONLY_NO}")


def _state(ticket: TicketView) -> str:
    """Where a ticket stands, with how many have said yes where it takes several."""
    partly = ticket.state is State.OPEN and ticket.said_yes
    return (
        f"{ticket.state}, {len(ticket.said_yes)} of {ticket.takes}" if partly else str(ticket.state)
    )


def _short(ticket: TicketView) -> str:
    """What would go ahead or did, in one line that is cut where it is long. What a yes has changed
    comes first, with what was asked for: whoever reads only the line must not take that for what
    ran."""
    content = ticket.content
    if content is None:
        return ""
    if not isinstance(content, dict):
        return _cut(content if isinstance(content, str) else in_json(content), SHORT)
    edits = ticket.edits if ticket.kind.starts else {}
    changed = [
        f"{name}={_value(value)} (changed from {_value(content.get(name))})"
        for name, value in edits.items()
    ]
    rest = _cut(pairs({name: value for name, value in content.items() if name not in edits}), SHORT)
    return ", ".join([*changed, *([rest] if rest else [])])


def _value(value: Any) -> str:
    return _cut(in_json(value), SHORT // 2)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def bypass_table(now: int) -> Layout:
    """How requests to go past a guardrail become a table: what each would lift, and who is
    asked."""
    return Layout(
        ("ticket", "state", "left", "agent", "about", "would lift", "urgency", "asks", "reason"),
        lambda one: (
            one.id,
            str(one.state),
            "" if one.ends_at is None else span(max(0, one.ends_at - now)),
            one.agent,
            one.about,
            one.bypass.guardrail,
            str(one.bypass.urgency),
            _asks_bypass(one, now),
            one.bypass.reason,
        ),
        ("left",),
    )


def review_table(now: int) -> Layout:
    """How reviews of what went past a guardrail become a table."""
    return Layout(
        ("review", "due", "agent", "about", "went past", "why"),
        lambda one: (
            one.id,
            _due(one, now),
            one.agent,
            one.about,
            one.guard,
            str(one.beside.get("bypass", {}).get("reason", "")),
        ),
    )


def _asks_bypass(ticket: TicketView, now: int) -> str:
    """Who may answer, and when it goes ahead although nobody has."""
    one = ticket.bypass
    if one is None or ticket.state is not State.OPEN:
        return "unanswered" if one is not None and one.overridden else ""
    who = "nobody: deny it, or let it be" if ticket.roles == NOBODY else " or ".join(ticket.roles)
    if one.urgency is not Urgency.EMERGENCY or not one.override_ms:
        return who
    left = ticket.opened_at + one.override_ms - now
    return f"{who}; goes ahead {f'in {span(left)}' if left > 0 else 'now'} if nobody answers"


def _due(ticket: TicketView, now: int) -> str:
    if ticket.review is None or ticket.state is not State.OPEN:
        return str(ticket.state)
    left = ticket.review.due_at - now
    return f"in {span(left)}" if left > 0 else "overdue"


def change_line(word: str, ticket: TicketView, now: int, terminal: Terminal) -> str:
    """A change in one line: when, what, and which ticket."""
    return (
        f"{shown(now)}  {terminal.paint(f'{word:<10}', STYLES[ticket.state])}  "
        f"{visible(summary(ticket))}"
    )
