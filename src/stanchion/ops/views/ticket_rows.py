"""A ticket in words: what is asked, everything there is to know of it, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.questions import CALL, CHOICES, DANGERS, NO_ANSWER
from stanchion.approvals.ticket import Kind, State, Ticket
from stanchion.kernel.declared import sink_values
from stanchion.kernel.stages import CAUGHT, Stage
from stanchion.ops.views.amounts import UNITS, amount, in_json, in_pages, shown, span
from stanchion.ops.views.people import TicketView

WORDS: Final = {
    State.DENIED: "denied",
    State.WITHDRAWN: "approval withdrawn",
    State.REVIEWED: "reviewed",
}
"""What an answer is called, where it is no approval."""
LAID_OUT: Final = frozenset({"args", "content", "beside", "evidence", "values", "origin", "call"})
"""What may have several lines; everything else is a name or a sentence."""
OF_A_CALL: Final = frozenset({"args", "content", "evidence", "why", "acts on"})
"""What a question about values has in rows of its own."""
ONLY_NO: Final = (
    "It can only be denied: it is too long to be shown in full, or was changed after it was asked."
)
"""What whoever answers a ticket reads that is not shown whole."""


def ticket_rows(ticket: TicketView, now: int) -> list[tuple[str, str]]:
    """Everything that a person needs to decide about a ticket, or that became of it: labels, and
    words for each, which may have several lines."""
    rows = [*_rows(ticket, now)]
    if ticket.kind is Kind.VALUE:
        rows = [*_question(ticket), *[one for one in rows if one[0] not in OF_A_CALL]]
    return [one for one in rows if one[1]]


def headline(ticket: TicketView) -> str:
    who = f"agent {ticket.agent}" if ticket.agent else "an agent"
    if ticket.kind is Kind.REVIEW:
        return (
            f"{who} called {ticket.about} past {ticket.guard}, and it ran: was that right? An "
            f"operator reviews it"
        )
    if ticket.kind is Kind.VALUE:
        may = f"use {pairs(ticket.content)}" if ticket.content else "be called"
        return f"{DANGERS[ticket.deed.effect]}: may {ticket.tool} {may} in this task? ({who} asks)"
    if ticket.kind is Kind.RUN:
        return f"{who}: will you look at its run?"
    if ticket.kind is Kind.EFFECT:
        return f"{ticket.tool}: has it happened? {who} found that it began and never ended"
    match ticket.stage, ticket.tool:
        case Stage.TOOL_CALL, tool:
            return f"{who} wants to call {tool}"
        case stage, "":
            return f"{who}: {CAUGHT[Stage(stage)]}"
        case stage, tool:
            return f"{who}: {tool}, {CAUGHT[Stage(stage)]}"


def _rows(ticket: TicketView, now: int) -> Iterator[tuple[str, str]]:
    yield (
        "ticket",
        ticket.id
        if ticket.generation == 1
        else f"{ticket.id}, asked for the {_th(ticket.generation)} time",
    )
    yield "kind", str(ticket.kind) if ticket.kind is not Kind.ACTION else ""
    yield "args" if ticket.stage == Stage.TOOL_CALL else "content", in_pages(ticket.content)
    beside = {name: value for name, value in ticket.beside.items() if value not in (0, "", None)}
    yield "changed", pairs(ticket.edits) if ticket.edits else ""
    yield (
        "beside",
        in_pages({_named(name): _unit(name, value) for name, value in beside.items()})
        if beside
        else "",
    )
    yield "evidence", in_pages(ticket.evidence) if ticket.evidence else ""
    yield "why", ticket.message
    yield "guard", f"{ticket.guard} ({ticket.code})" if ticket.guard else ""
    yield "risk", ticket.risk
    yield "effect", ticket.deed.effect
    yield "acts on", pairs(sink_values(ticket.deed.sinks, ticket.content))
    yield "agents", ", ".join(ticket.askers) if len(ticket.askers) > 1 else ""
    yield "task", ticket.task
    yield "run", ticket.run
    yield "tenant", ticket.tenant if ticket.tenant != "default" else ""
    yield "asks", _asks(ticket)
    yield "opened", f"{shown(ticket.opened_at)}, {span(now - ticket.opened_at)} ago"
    yield "yes", _votes(ticket)
    yield "answer", _answer(ticket)
    yield "comment", ticket.comment
    yield "until", _until(ticket, now)
    yield "used by", ticket.used_by
    yield "policy", ticket.policy
    yield "digest", ticket.digest


def _question(ticket: TicketView) -> Iterator[tuple[str, str]]:
    """What there is to know of a question about values, and last what happens without an
    answer."""
    told = dict(ticket.evidence)
    call, choices = told.pop(CALL, None), told.pop(CHOICES, {})
    values = ticket.content if isinstance(ticket.content, dict) else {}
    yield "values", "\n".join([pairs({name: value}) for name, value in values.items()])
    yield "origin", "\n".join([f"{name}: {in_pages(words)}" for name, words in told.items()])
    yield "pick", pairs(choices) if choices else ""
    yield "default", f"no: without an answer {NO_ANSWER}" if ticket.state is State.OPEN else ""
    yield "call", in_pages(call)


def _asks(ticket: TicketView) -> str:
    """The roles that are asked, and those that may answer as well."""
    others = [role for role in ticket.roles if role not in ticket.told]
    if not ticket.told or ticket.state is not State.OPEN:
        return " or ".join(ticket.roles)
    return (
        f"{' and '.join(ticket.told)}; {' and '.join(others)} may answer too"
        if others
        else " and ".join(ticket.told)
    )


def _votes(ticket: TicketView) -> str:
    """How many have said yes to what takes several."""
    if ticket.takes <= 1 or ticket.state not in (State.OPEN, State.APPROVED, State.USED):
        return ""
    who = f": {', '.join(ticket.said_yes)}" if ticket.said_yes else ""
    return f"{len(ticket.said_yes)} of {ticket.takes}, each with their own key{who}"


def _answer(ticket: TicketView) -> str:
    if not ticket.answered_by:
        return ""
    word = WORDS.get(ticket.state, "approved")
    role = f", as {ticket.answered_as}" if ticket.answered_as else ""
    proof = "" if ticket.proven else ", unproven"
    reach = f", for {ticket.reach}" if ticket.reach and ticket.scope is not Scope.ONCE else ""
    fast = ", within two seconds" if ticket.fast else ""
    return f"{word} by {ticket.answered_by}{role}{reach}{proof}, {shown(ticket.answered_at)}{fast}"


def _until(ticket: TicketView, now: int) -> str:
    match ticket.state:
        case State.OPEN if ticket.review is not None:
            due = ticket.review.due_at
            left = (
                f"{span(due - now)} left"
                if now < due
                else f"overdue for {span(now - due)}; it is still owed"
            )
            return f"{shown(due)}, when the review is due, {left}"
        case State.OPEN:
            then = "; then it is refused" if ticket.kind.starts else ""
            return f"{shown(ticket.expires_at)}, {time_left(ticket, now)} left to answer{then}"
        case State.APPROVED:
            return f"{shown(ticket.grant_until)}, {time_left(ticket, now)} left to repeat the call"
        case State.EXPIRED:
            return (
                f"{shown(ticket.grant_until if ticket.grant_until else ticket.expires_at)}, "
                f"which is over"
            )
        case _:
            return ""


def time_left(ticket: TicketView, now: int) -> str:
    """How long a ticket can be answered, or its approval used; for a review, until it is due."""
    ends = (
        ticket.review.due_at
        if ticket.review is not None and ticket.state is State.OPEN
        else ticket.ends_at
    )
    return "" if ends is None else span(max(0, ends - now))


def pairs(values: dict[str, Any]) -> str:
    """Arguments with their values, in one line."""
    return ", ".join(f"{name}={in_json(value)}" for name, value in values.items())


def _named(name: str) -> str:
    return {"duration_ms": "lasts", "cost_microusd": "cost"}.get(name, name)


def _unit(name: str, value: Any) -> Any:
    """A number of an event with its unit."""
    return amount(name, value) if name in UNITS and isinstance(value, int) else value


def _th(number: int) -> str:
    ending = (
        {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        if number % 100 not in (11, 12, 13)
        else "th"
    )
    return f"{number}{ending}"


def outcome(ticket: TicketView) -> str:
    """What an answer has come to."""
    asked = ", ".join(one for one in ticket.askers if one)
    about = f"ticket {ticket.id} ({ticket.about}, asked by {asked if asked else 'an agent'})"
    match ticket.state:
        case State.OPEN:
            more = ticket.takes - len(ticket.said_yes)
            people = "another person has" if more == 1 else f"{more} other people have"
            return (
                f"{about} has {len(ticket.said_yes)} yes of {ticket.takes}: {people} to say yes as "
                f"well"
            )
        case State.USED:
            return f"{about} is answered, and what it was about is settled"
        case State.APPROVED:
            return f"{about} is approved{_reach(ticket)}"
        case State.REVIEWED:
            return f"{about} is reviewed"
        case _:
            return f"{about} is {ticket.state}: the agent is refused, and reads why"


def _reach(ticket: TicketView) -> str:
    lasts = f"until {shown(ticket.grant_until)} ({span(ticket.grant_until - ticket.answered_at)})"
    proof = "signed" if ticket.proven else "unproven"
    if ticket.kind is Kind.RUN:
        return f", {proof}: it says that somebody has looked, and lets nothing through"
    if ticket.kind is Kind.VALUE and not ticket.edits:
        return f", {proof}: {ticket.tool} may use these values in this task, {lasts}"
    if ticket.edits:
        return f", {proof}: the call goes ahead once, with {pairs(ticket.edits)}, {lasts}"
    if ticket.scope is Scope.ONCE:
        return f", {proof}: the same call goes ahead once under this policy, {lasts}"
    return f" for {ticket.reach if ticket.reach else ticket.scope}, {proof}, {lasts}"


def covered(ticket: Ticket, scope: str) -> str:
    """What a yes to a ticket lets through, as far as it reaches."""
    once = "these values in this task" if ticket.kind is Kind.VALUE else "this very call, once"
    return f"a yes covers: {once if scope == Scope.ONCE else scope}"
