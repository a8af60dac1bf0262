"""What a record of a store says, in a few words: nobody has to read how a guard keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import ValidationError

from stanchion import typed
from stanchion.approvals.grants import grants_of
from stanchion.approvals.overrides import reviews_of
from stanchion.approvals.shelf import head_of, page_of
from stanchion.approvals.ticket import Ticket, as_of
from stanchion.guards.breaker import circuit_of
from stanchion.guards.evidence.work import WorkState
from stanchion.guards.handoff import Route
from stanchion.guards.locks.table import table_of
from stanchion.guards.loops import metrics
from stanchion.guards.queue import QueueLine as Waiting
from stanchion.kernel.epoch import Epoch
from stanchion.kernel.state import ANCHOR
from stanchion.ops.views.amounts import counted, shown
from stanchion.ops.views.names import KeyName
from stanchion.ops.views.standing import breaker_of
from stanchion.policy.sequences.guard import PastSteps
from stanchion.runtime.answers.notebook import NOTES, notes_in
from stanchion.runtime.calling.handoffs import ROOM, status_of
from stanchion.runtime.calling.ledger import LedgerEffect
from stanchion.runtime.calling.pins import pins_of
from stanchion.runtime.deciding.allowances import allowances_of
from stanchion.runtime.operating.retention import Retention

LISTED: Final = 20
"""How many locks are named."""

Says = Callable[[Any, int], str]
"""Words a record's value at a time."""


def says(name: KeyName, value: Any, now: int) -> str:
    """What a record holds; empty where its kind is not known, or it cannot be read."""
    known = ANCHOR if name.parts[-1] == ANCHOR else name.parts[0]
    if known == "tickets" and len(name.parts) > 1:
        known = "page"
    try:
        return KINDS[known](value, now) if known in KINDS else ""
    except (ValidationError, LookupError, TypeError, ValueError, AttributeError):
        return ""


def _loops(value: Any, _now: int) -> str:
    if not isinstance(value, str):
        return ""
    seen = metrics(value)
    return f"{counted(seen.total_checks, 'call')} seen, {seen.loops_detected:,} of them in loops"


def _notes(value: Any, _now: int) -> str:
    missing = "" if isinstance(value, bytes) or not value[3] else ", some are missing"
    return f"{counted(len(notes_in(value)), 'note')} of what was read and said{missing}"


def _queue(value: Any, now: int) -> str:
    line = typed.convert(value, Waiting)
    running, waiting = (
        [until for _, until in part if until > now] for part in (line.running, line.waiting)
    )
    return f"{len(running):,} running, {len(waiting):,} waiting"


def _locks(value: Any, now: int) -> str:
    table = table_of(value).at(now)
    told = [
        (
            f"{lock.name} by {lock.agent or lock.run}{'' if lock.exclusive else ', shared,'} until "
            f"{shown(lock.until)}"
        )
        for lock in table.held[:LISTED]
    ]
    more = len(table.held) - len(told)
    told += [f"{more:,} more"] if more else []
    return (
        f"{len(table.held):,} locked, {len(table.waiting):,} "
        f"waiting{': ' if told else ''}{'; '.join(told)}"
    )


def _task(value: Any, _now: int) -> str:
    status = status_of(value)
    told = f"{status.status} by {status.by or status.run} to {status.to} {shown(status.at)}"
    told += f", {counted(status.handoffs, 'handoff')}" if status.handoffs else ""
    warned = [f"{one.code} by {one.guard} in {one.decision}" for one in status.warnings]
    return (
        f"{told}, {counted(len(warned), 'warning')} to review: {'; '.join(warned)}"
        if warned
        else told
    )


def _handoff(value: Any, _now: int) -> str:
    route = typed.convert(value, Route)
    return (
        f"{counted(len(route.sent), 'handoff')} not accepted yet, escalated "
        f"{counted(route.depth, 'time')} in a row"
    )


def _ticket(value: Any, now: int) -> str:
    ticket = as_of(typed.convert(value, Ticket), now)
    return f"{ticket.state}: {ticket.about}{f', asked by {ticket.agent}' if ticket.agent else ''}"


def _effect(value: Any, now: int) -> str:
    effect = typed.convert(value, LedgerEffect)
    late = (
        ", and its outcome is unknown" if effect.state == "started" and now >= effect.until else ""
    )
    return f"{effect.state}: {effect.tool}, {shown(effect.at)}{late}"


def _pins(value: Any, _now: int) -> str:
    kept = pins_of(value)
    told = f"{counted(len(kept.tools), 'definition')} pinned, {len(kept.seen):,} changed since"
    return f"{told}, {len(kept.suspects):,} suspect" if kept.suspects else told


def _sequence(value: Any, _now: int) -> str:
    past = typed.convert(value, PastSteps)
    return f"{counted(past.steps, 'step')}, {len(past.marks):,} remembered"


def _evidence(value: Any, _now: int) -> str:
    work = WorkState.of(value)
    return f"changed last: {work.what}" if work.what else "no code was changed"


def _retention(value: Any, _now: int) -> str:
    kept = typed.convert(value, Retention)
    bounds = [f"older than {kept.days:g} days"] if kept.days is not None else []
    bounds += [f"more than {kept.megabytes:,g} MB"] if kept.megabytes is not None else []
    return (
        f"what is {' or '.join(bounds)} may be removed from the trail"
        if bounds
        else "nothing is removed from the trail"
    )


def _epoch(value: Any, _now: int) -> str:
    epoch = typed.convert(value, Epoch)
    return f"{epoch.how} {shown(epoch.at)}{f' by {epoch.by}' if epoch.by else ''}"


def _topped_up(value: Any, _now: int) -> str:
    return f"last: {value['budget']}, by {value['by']}"


KINDS: Final[dict[str, Says]] = {
    NOTES: _notes,
    "allowed": lambda value, _: counted(len(allowances_of(value)), "allowance"),
    "asking": lambda value, _: f"tickets of {', '.join(value)}",
    "breaker": lambda value, now: breaker_of(circuit_of(value), "", False, now).words,
    "effect": _effect,
    "epoch": _epoch,
    "evidence": _evidence,
    "grants": lambda value, now: counted(sum(one.until > now for one in grants_of(value)), "grant"),
    "handoff": _handoff,
    "locks": _locks,
    "loops": _loops,
    "operators": lambda value, _: counted(len(value), "change"),
    "page": lambda value, _: counted(len(page_of(value)), "ticket"),
    "pinned": lambda _, __: "a policy or a program names operators",
    "pins": _pins,
    "queue": _queue,
    "released": lambda _, __: "given back by an operator",
    "retention": _retention,
    "sequence": _sequence,
    "reviews": lambda value, _: counted(len(reviews_of(value)), "review"),
    ROOM: _task,
    "ticket": _ticket,
    "tickets": lambda value, _: counted(head_of(value).count, "ticket"),
    "time": lambda value, _: f"began {shown(value['began'])}",
    "topped_up": _topped_up,
    "trusted": lambda value, _: counted(len(value), "policy").replace("policys", "policies"),
    "trusted_text": lambda _, __: "the text of a policy that operators have trusted",
    ANCHOR: lambda value, _: f"written as far as record {value[0]:,}",
}
"""How each kind of record is worded, by the first part of its name."""
