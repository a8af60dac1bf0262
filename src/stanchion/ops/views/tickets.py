"""Tickets and grants as they may be shown: what waits for a person, and what somebody has said yes
to."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.approvals.act import Answer
from stanchion.approvals.bypass import Requested, Review
from stanchion.approvals.digest import Deed
from stanchion.approvals.grants import Grant
from stanchion.approvals.operators import Roster
from stanchion.approvals.quorum import needed
from stanchion.approvals.scope import Scope
from stanchion.approvals.ticket import Kind, State, Ticket
from stanchion.ops.views.veiled import veiled

NOBODY: Final = Roster()


class TicketView(msgspec.Struct, frozen=True, kw_only=True):
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
    id: str
    kind: Kind
    state: State
    tenant: str
    run: str
    deed: Deed
    content: Any
    beside: dict[str, Any]
    evidence: dict[str, Any]
    askers: tuple[str, ...]
    above: tuple[str, ...]
    guard: str
    code: str
    message: str
    roles: tuple[str, ...]
    mode: str
    opened_at: int
    expires_at: int
    answered_by: str
    answered_as: str
    answered_at: int
    comment: str
    scope: Scope
    reach: str
    """How far the answer reaches, in words; empty where there is none."""
    proven: bool
    grant_until: int
    answer: Answer | None
    used_by: str
    generation: int
    page: int
    next_ms: int
    told: tuple[str, ...]
    """The roles that are asked so far; whoever comes after them may answer as well."""
    quorum: int | None
    votes: tuple[Answer, ...]
    said_yes: tuple[str, ...]
    """Who has said yes so far."""
    fast: bool
    """Whether the answer came within two seconds."""
    takes: int
    """How many have to say yes."""
    edits: dict[str, Any]
    """The arguments that a yes has changed."""
    bypass: Requested | None
    review: Review | None
    digest: str

    @property
    def about(self) -> str:
        """What it is about, in a word: the tool, or the stage where there is none."""
        return self.tool if self.tool else self.stage

    @property
    def ends_at(self) -> int | None:
        """When it is over by itself; `None` where it is over already."""
        return {State.OPEN: self.expires_at, State.APPROVED: self.grant_until}.get(self.state)


class GrantView(msgspec.Struct, frozen=True):
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
    known: dict[str, Any] = msgspec.structs.asdict(ticket)
    known |= {
        name: getattr(ticket, name)
        for name in ("agent", "task", "stage", "tool", "risk", "policy", "whole", "fast")
    }
    reach = "" if ticket.answer is None else ticket.answer.act.scope
    takes = max(needed(ticket, roster), len(ticket.votes))
    known |= {"edits": ticket.edits, "said_yes": ticket.said_yes, "takes": takes}
    return TicketView(**known, reach=reach, proven=ticket.proven, digest=ticket.deed.digest)


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
