"""Grants: a yes that reaches further than one call, kept beside the tickets while it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer
from stanchion.approvals.digest import MOST_BYTES, Deed, hashed
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope, matches, said
from stanchion.approvals.ticket import Kind, Ticket
from stanchion.kernel.content import content_of
from stanchion.kernel.declared import LASTING
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import key

MOST: Final = 256
"""How many grants hold for a tenant at the most."""


class Grant(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Somebody's yes to an action (`deed`) for `agents`, as far as its scope reaches, until its
    time is over. It comes from the ticket of that id and generation."""

    ticket: str
    generation: int
    scope: Scope
    deed: Deed
    agents: tuple[str, ...]
    run: str = ""
    pattern: dict[str, str] = {}
    until: int
    answer: Answer

    @property
    def id(self) -> str:
        """What it is called: its ticket and which one of that id."""
        return f"{self.ticket}.{self.generation}"


def grants_key(tenant: str) -> str:
    """Where a tenant's grants are kept."""
    return key(tenant, "grants")


def grants_of(value: Any) -> tuple[Grant, ...]:
    """The grants that a record tells; none where it cannot be read."""
    try:
        return typed.convert([] if value is None else value, tuple[Grant, ...])
    except msgspec.ValidationError:
        return ()


def grant_of(ticket: Ticket, pattern: dict[str, str]) -> Grant:
    """The grant that an approved ticket amounts to."""
    assert ticket.answer is not None
    return Grant(
        ticket=ticket.id,
        generation=ticket.generation,
        scope=ticket.scope,
        deed=ticket.deed,
        agents=ticket.answer.act.agents,
        run=ticket.run if ticket.scope is Scope.RUN else "",
        pattern=pattern,
        until=ticket.grant_until,
        answer=ticket.answer,
    )


def added(grants: tuple[Grant, ...], grant: Grant, now: int) -> tuple[Grant, ...]:
    """The grants that hold, with one more; `TicketError` where they are too many."""
    holding = tuple([one for one in grants if now < one.until and one.id != grant.id])
    if len(holding) >= MOST:
        raise TicketError(
            f"{MOST} grants are in force already: revoke some of them, `stanchion tickets list` "
            f"shows them"
        )
    return (*holding, grant)


def without(grants: tuple[Grant, ...], ticket: Ticket) -> tuple[Grant, ...]:
    """The grants but for the one that comes from a ticket as it was asked for now."""
    return tuple(
        [one for one in grants if (one.ticket, one.generation) != (ticket.id, ticket.generation)]
    )


def covers(grant: Grant, event: Event, deed: Deed, agent: str) -> bool:
    """Whether a grant is for an action: of the same tool under the same policy, asked for by the
    same guards or fewer, by one of its agents, and within its scope. Whether its time is over the
    store says."""
    given = grant.deed
    same = (given.stage, given.tool, given.policy) == (deed.stage, deed.tool, deed.policy)
    if not same or not set(deed.guards) <= set(given.guards) or agent not in grant.agents:
        return False
    if deed.risk == "critical" or deed.effect in LASTING:
        return False
    match grant.scope:
        case Scope.RUN:
            return grant.run in (event.run.id, *event.run.parents) and _same_call(given, deed)
        case Scope.TASK:
            return bool(given.task) and given.task == deed.task and _same_call(given, deed)
        case Scope.TIME:
            return _same_call(given, deed)
        case Scope.PATTERN:
            return given.task == deed.task and _fits(grant.pattern, given, deed, content_of(event))
        case _:
            return False


def is_as_signed(grant: Grant) -> bool:
    """Whether a grant says what was answered, and nothing else."""
    act = grant.answer.act
    return (
        act.yes
        and act.subject == grant.ticket
        and act.generation == grant.generation
        and act.digest == grant.deed.digest
        and act.policy == grant.deed.policy
        and act.agents == grant.agents
        and act.until == grant.until
        and act.scope == said(grant.scope, grant.run, grant.pattern)
    )


def _same_call(given: Deed, deed: Deed) -> bool:
    """Whether two actions are the same but for the guards that ask, the task and what is shown of
    them."""
    return given.what == deed.what


def _fits(pattern: dict[str, str], given: Deed, deed: Deed, args: Any) -> bool:
    """Whether a call's arguments fit: those that a pattern names fit it, and all others are the
    same. Whom or what it acts on is always the same."""
    if not isinstance(args, dict) or not pattern or given.parts.keys() != deed.parts.keys():
        return False
    if not pattern.keys().isdisjoint(deed.sinks):
        return False
    return all(
        matches(pattern[name], args[name]) if name in pattern else given.parts[name] == part
        for name, part in deed.parts.items()
    )


EDITED: Final = frozenset({Kind.ACTION, Kind.VALUE, Kind.EFFECT})
"""What a yes can be to with changes: an action that starts on it, and what is known of an
effect."""


def checked_edits(
    ticket: Ticket, edits: Mapping[str, Any], scope: Scope = Scope.ONCE
) -> dict[str, Any]:
    """What a yes changes of a ticket's arguments; `TicketError` where it cannot be changed so."""
    if not edits:
        return {}
    args = ticket.content
    if (
        ticket.kind not in EDITED
        or ticket.stage != Stage.TOOL_CALL
        or not isinstance(args, dict)
        or not args
    ):
        raise TicketError(
            f"ticket `{ticket.id}` has no arguments to change: approve it as it is, or deny it"
        )
    if scope is not Scope.ONCE:
        raise TicketError(
            f"a changed call can only be approved once, not for a {scope}: leave `scope` out"
        )
    unknown = [name for name in edits if name not in args]
    if unknown:
        known = ", ".join(f"`{name}`" for name in args)
        raise TicketError(f"the call has no argument `{unknown[0]}`: change one or more of {known}")
    try:
        digests = {name: hashed(value) for name, value in edits.items()}
        long = len(repr(dict(edits))) > MOST_BYTES // 4
    except (TypeError, ValueError, RecursionError):
        raise TicketError(
            "an argument can only be changed to plain data: text, numbers, lists, mappings"
        ) from None
    if long:
        raise TicketError(
            "the changed arguments are too long to be shown in full: deny the ticket instead"
        )
    if all(digests[name] == hashed(args[name]) for name in edits):
        raise TicketError("the edits change nothing: these are the arguments that were asked for")
    return dict(edits)
