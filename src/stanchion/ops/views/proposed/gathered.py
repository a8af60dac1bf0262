"""Answers of people in a trail, and the calls that they were about; the newest of them, and not
more than a number."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.approvals.act import LONGEST_S
from stanchion.approvals.scope import Scope
from stanchion.approvals.standing import CRITICAL, Call
from stanchion.approvals.ticket import Kind
from stanchion.audit.notes import FACT, FactNote
from stanchion.audit.reader import FoundRecord, Source
from stanchion.audit.rebuilt import withheld
from stanchion.audit.record import INTENT, RecordEntry, canonical
from stanchion.kernel.actions import Action
from stanchion.kernel.declared import LASTING
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.risk import ASKS

MOST_ANSWERS: Final = 10_000
"""How many answers are looked at; older ones are left out."""
LARGEST: Final = 4_096
"""How long the arguments of a call may be, in bytes, to be compared with others."""
APPROVED: Final = "ticket.approved"
REFUSED: Final = ("ticket.denied", "ticket.withdrawn")
OPENED: Final = "ticket.opened"


class Answered(NamedTuple):
    """Somebody's answer to a ticket: whether a signature says whose it is, and for which agents it
    was."""

    ticket: str
    by: str
    at_ms: int
    yes: bool
    proven: bool
    about: str
    agents: tuple[str, ...] = ()


class Case(NamedTuple):
    """An answer, and the call that it was about; `None` where the trail does not have the call as
    it was."""

    answer: Answered
    call: Call | None


class Gathered(NamedTuple):
    """What was found, newest first, and whether there are more answers than are looked at."""

    cases: tuple[Case, ...]
    more: bool


def gathered(reader: Source, tenant: str, since_ms: int) -> Gathered:
    """The answers of a tenant's people since then, with their calls."""
    answers: list[Answered] = []
    calls: dict[str, str] = {}
    wanted: set[str] = set()
    more = False
    for found in reader.of_kinds((FACT,)):
        if found.stub.at < since_ms - LONGEST_S * 1000:
            break
        told = found.told()
        if told is None or told.tenant != tenant:
            continue
        if told.what == OPENED and told.about in wanted and told.data.get("kind") != Kind.VALUE:
            calls[told.about] = str(told.data.get("call", ""))
        elif told.what in (APPROVED, *REFUSED) and found.stub.at >= since_ms:
            more = len(answers) >= MOST_ANSWERS
            if not more:
                answers.append(_answered(told))
                wanted.add(told.about)
    known = _calls(reader, frozenset(calls.values()))
    return Gathered(
        tuple([Case(answer, known.get(calls.get(answer.ticket, ""))) for answer in answers]), more
    )


def _answered(told: FactNote) -> Answered:
    proven, about = told.data.get("proven") is True, str(told.data.get("about", ""))
    agents = told.data.get("agents")
    named = tuple(map(str, agents)) if isinstance(agents, list | tuple) else ()
    # Who changes the call says no to the one that was asked for.
    yes = told.what == APPROVED and not str(told.data.get("scope", "")).startswith(f"{Scope.ONCE} ")
    return Answered(told.about, told.by, told.at, yes, proven, about, named)


def _calls(reader: Source, ids: frozenset[str]) -> dict[str, Call]:
    """The calls with these ids that waited for a person, as they were recorded. A ticket about
    anything else, such as a run that somebody should look at, is no question about a call."""
    if not ids:
        return {}
    waiting = (
        each
        for each in reader.forwards()
        if each.stub.id in ids and each.stub.action == Action.ESCALATE.name
    )
    found = ((each.stub.id, call_of(each)) for each in waiting)
    return {name: call for name, call in found if call is not None}


def call_of(found: FoundRecord) -> Call | None:
    """The tool call that a record is about; `None` where it is about something else, or does not
    have it as it was."""
    if found.stub.kind != INTENT or found.stub.stage != Stage.TOOL_CALL:
        return None
    try:
        entry = found.entry()
    except msgspec.MsgspecError:
        return None
    args = entry.content
    if not isinstance(args, dict) or withheld(args) or len(canonical(args)) > LARGEST:
        return None
    asked = asked_in(entry)
    critical = entry.risk == CRITICAL or ASKS in asked
    once_only = critical or not LASTING.isdisjoint(entry.traits)
    return Call(entry.tool, args, asked, entry.agent, entry.task, once_only)


def asked_in(entry: RecordEntry) -> tuple[str, ...]:
    """The guards that ask for a person in a record."""
    asks = [said.guard for said in entry.findings if said.action == Action.ESCALATE.name]
    return tuple(sorted(dict.fromkeys(asks)))
