"""Tickets: a durable request for a person, and its life from opening to use; every step is a pure
function."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import Wish
from stanchion.approvals.bypass import Requested, Review, stand
from stanchion.approvals.digest import SHORT, Deed, hashed, is_whole
from stanchion.approvals.errors import TicketClosed
from stanchion.approvals.grant_reach import Scope, edits_of
from stanchion.approvals.rules import Asked
from stanchion.kernel.declared import LASTING
from stanchion.kernel.shown import brief, visible
from stanchion.kernel.state import key
from stanchion.kernel.states import NORMAL

NO_REASON: Final = "no reason was given"

FAST_MS: Final = 2_000
"""Whoever answers sooner has hardly read what is asked."""

MOST_ASKERS: Final = 32
"""How many agents can wait for one ticket."""


class Kind(StrEnum):
    """What a ticket asks. A yes to an action, and to a bypass, lets that action start; a yes to any
    other is a word that somebody has looked, and nothing starts on it."""

    ACTION = "action"
    """May this go ahead, which a guard asks about?"""
    VALUE = "value"
    """May a tool use values in this task that the user did not name?"""
    RUN = "run"
    """A run goes on with what is refused, or asks for somebody: will you look at it?"""
    BYPASS = "bypass"
    """May this go past a guard that refuses it?"""
    REVIEW = "review"
    """An action went past a guard in an emergency: was that right?"""
    EFFECT = "effect"
    """An effect has begun, and nobody has heard of its end: what has become of it?"""

    @property
    def starts(self) -> bool:
        """Whether an action can start on a yes."""
        return self in (Kind.ACTION, Kind.VALUE, Kind.BYPASS)


class State(StrEnum):
    """Where a ticket stands."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    USED = "used"
    WITHDRAWN = "withdrawn"
    """It was approved, and the approval was taken back before it was used."""
    REVIEWED = "reviewed"
    """Somebody has looked at what went past a guard in an emergency."""


NO: Final = (State.DENIED, State.WITHDRAWN)
"""States in which somebody has said no."""


class Ticket(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is asked of a person, why, and what became of it.

    `deed` is what an approval is bound to. `content` is what would go ahead, fit to be shown, and
    `beside` the rest of its event. `askers` are the agents that wait for it, `above` those they
    work for. Times are the store's, in milliseconds. An action that is asked for again when its
    ticket is over opens it anew: `generation` counts how often that was, and an answer is for one
    of them. `page` is where it is listed. `told` are the roles that have been asked so far, one
    more every `next_ms`; `quorum` is how many have to say yes to what is critical, where the policy
    says so, and `votes` each yes where it takes more than one. `bypass` is the request to go past a
    guardrail, `review` what is to be reviewed, where it is one.
    """

    id: str
    kind: Kind = Kind.ACTION
    state: State = State.OPEN
    tenant: str = "default"
    run: str
    deed: Deed
    content: Any = None
    beside: dict[str, Any] = {}
    evidence: dict[str, Any] = {}
    askers: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    guard: str = ""
    code: str = ""
    message: str = ""
    roles: tuple[str, ...] = ()
    mode: str = NORMAL
    opened_at: int
    expires_at: int
    answered_by: str = ""
    answered_as: str = ""
    answered_at: int = 0
    comment: str = ""
    scope: Scope = Scope.ONCE
    grant_until: int = 0
    answer: Answer | None = None
    used_by: str = ""
    generation: int = 1
    page: int = 0
    next_ms: int = 0
    told: tuple[str, ...] = ()
    quorum: int | None = None
    votes: tuple[Answer, ...] = ()
    bypass: Requested | None = None
    review: Review | None = None

    def __repr__(self) -> str:
        """What is asked and how it stands; the content it is about is no part of it."""
        what = " ".join([visible(word) for word in (self.stage, self.tool) if word])
        why = f" because of {self.code}: {brief(self.message)}" if self.code else ""
        return f"<Ticket {self.id} {self.state.value}: {what}{why}>"

    @property
    def key(self) -> str:
        """Where it is kept."""
        return key_of(self.tenant, self.id)

    @property
    def stage(self) -> str:
        """Where the action was caught."""
        return self.deed.stage

    @property
    def tool(self) -> str:
        """The tool that would be called."""
        return self.deed.tool

    @property
    def task(self) -> str:
        """What is worked on."""
        return self.deed.task

    @property
    def risk(self) -> str:
        """How bad it can be."""
        return self.deed.risk

    @property
    def policy(self) -> str:
        """The hash of the policy that asks."""
        return self.deed.policy

    @property
    def agent(self) -> str:
        """Who asked first."""
        return self.askers[0] if self.askers else ""

    @property
    def about(self) -> str:
        """What it is about, in a word: the tool, or the stage where there is none."""
        return self.tool if self.tool else self.stage

    @property
    def proven(self) -> bool:
        """Whether a signature says who answered."""
        return self.answer is not None and self.answer.way.proven

    @property
    def fast(self) -> bool:
        """Whether the last answer came so soon that hardly anybody had read the question."""
        return 0 < self.answered_at < self.opened_at + FAST_MS

    @property
    def once(self) -> bool:
        """Whether the action uses a yes up: one to values is for all calls that ask about them,
        unless it changes the call."""
        answers = self.answers
        return self.kind is not Kind.VALUE or (
            bool(answers) and answers[-1].act.scope != Scope.ONCE
        )

    @property
    def whole(self) -> bool:
        """Whether all of it is shown: nothing was too long, and what is shown is what was asked."""
        kept = all(map(is_whole, (self.content, *self.beside.values())))
        return kept and self.deed.shown == hashed(shown_of(self.content, self.beside))

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer that it rests on: one, or as many as it takes."""
        return self.votes if self.votes else () if self.answer is None else (self.answer,)

    @property
    def said_yes(self) -> tuple[str, ...]:
        """Who has said yes so far."""
        return tuple([one.act.operator for one in self.answers if one.act.yes])

    @property
    def edits(self) -> dict[str, Any]:
        """What a yes changes of the arguments; nothing where it is to the call as it was asked."""
        answers = self.answers
        return edits_of(answers[-1].act.scope) if answers else {}

    @property
    def asked(self) -> Asked:
        """What matters of it for who may answer."""
        critical, high = self.risk == "critical", self.risk == "high"
        agents = (*self.askers, *self.above)
        return Asked(self.roles, critical, self.deed.effect in LASTING, self.mode, agents, high)


def shown_of(content: Any, beside: dict[str, Any]) -> list[Any]:
    """What a person sees of an action, as it is hashed."""
    return [content, beside]


def id_of(deed: Deed) -> str:
    """The id of the ticket about an action."""
    return hashed([deed.what, deed.task, deed.guards, deed.policy])[:SHORT]


def wish_of(ticket: Ticket, scope: str = "once") -> Wish:
    """What somebody is asked who answers a ticket, as far as a yes would reach."""
    return Wish(
        purpose=Purpose.TICKET,
        tenant=ticket.tenant,
        subject=ticket.id,
        generation=ticket.generation,
        digest=ticket.deed.digest,
        said=ticket,
        policy=ticket.policy,
        asked=ticket.asked,
        scope=scope,
        agents=ticket.askers,
    )


def key_of(tenant: str, ticket_id: str) -> str:
    """Where the ticket with that id is kept."""
    return key(tenant, "ticket", ticket_id)


def as_of(ticket: Ticket, now: int) -> Ticket:
    """The ticket as it stands at a time: one that nobody answered, or whose approval was not used,
    has expired."""
    ends = {State.OPEN: ticket.expires_at, State.APPROVED: ticket.grant_until}.get(ticket.state)
    if ends is None or now < ends:
        return (
            ticket
            if ticket.bypass is None or ticket.state is not State.OPEN
            else _asking_now(ticket, now)
        )
    return msgspec.structs.replace(ticket, state=State.EXPIRED)


def _asking_now(ticket: Ticket, now: int) -> Ticket:
    """A request for a bypass with those who may say yes to it at a time."""
    assert ticket.bypass is not None
    roles = stand(ticket.bypass, ticket.opened_at, now).roles
    return ticket if roles == ticket.roles else msgspec.structs.replace(ticket, roles=roles)


def listed_until(ticket: Ticket) -> int:
    """Until when a ticket is worth listing: while it waits for an answer, or its approval for the
    action."""
    return {State.OPEN: ticket.expires_at, State.APPROVED: ticket.grant_until}.get(ticket.state, 0)


def is_over(ticket: Ticket, now: int) -> bool:
    """Whether the action can be asked for anew: the ticket was used, is known to have expired, or
    was answered for others (a grant, which is kept apart). A denial stands for as long as the
    ticket would have been open; one of values as long as their task."""
    if ticket.state in NO:
        return ticket.kind is not Kind.VALUE and now >= ticket.expires_at
    if ticket.state is State.APPROVED:
        return ticket.scope is not Scope.ONCE or not (ticket.once or now < ticket.grant_until)
    return ticket.state in (State.USED, State.EXPIRED)


def answered(ticket: Ticket, now: int, answer: Answer, scope: Scope = Scope.ONCE) -> Ticket:
    """The ticket with somebody's answer. A no to an approval that nobody has used yet takes it
    back."""
    standing = as_of(ticket, now)
    if answer.act.generation != ticket.generation:
        raise TicketClosed(
            f"ticket `{ticket.id}` was asked for again since: the answer is for request "
            f"{answer.act.generation}, and this is request {ticket.generation}; look at the ticket "
            f"again"
        )
    taken_back = standing.state is State.APPROVED and not answer.act.yes
    if standing.state is not State.OPEN and not taken_back:
        raise TicketClosed(f"ticket `{ticket.id}` {fate(standing)}")
    state = State.APPROVED if answer.act.yes else State.WITHDRAWN if taken_back else State.DENIED
    if ticket.review is not None:
        state = State.REVIEWED
    return msgspec.structs.replace(
        ticket,
        state=state,
        answered_by=answer.act.operator,
        answered_as=answer.act.role,
        answered_at=now,
        comment=answer.act.comment,
        scope=scope,
        grant_until=answer.act.until if state is State.APPROVED else 0,
        answer=answer,
    )


def use(ticket: Ticket, call: str) -> Ticket:
    """The ticket as it is when a call has started on it."""
    if not ticket.kind.starts:
        raise TicketClosed(
            f"ticket `{ticket.id}` is about a {ticket.kind}: no action can start on it"
        )
    if ticket.state is not State.APPROVED:
        raise TicketClosed(
            f"ticket `{ticket.id}` is {ticket.state}: only an approved one can be used"
        )
    return msgspec.structs.replace(ticket, state=State.USED, used_by=call)


def reopen(ticket: Ticket, before: Ticket | None, now: int, for_ms: int) -> Ticket:
    """The ticket opened now, for so long; `before` is what its place held."""
    generation = 1 if before is None else before.generation + 1
    return msgspec.structs.replace(
        ticket, opened_at=now, expires_at=now + for_ms, generation=generation
    )


def joined(ticket: Ticket, wanted: Ticket) -> Ticket:
    """An open ticket that one more agent waits for; the same one where that is known, or too many
    do."""
    askers = tuple(dict.fromkeys((*ticket.askers, *wanted.askers)))
    above = tuple(dict.fromkeys((*ticket.above, *wanted.above)))
    if (
        (askers, above) == (ticket.askers, ticket.above)
        or len(askers) > MOST_ASKERS
        or len(above) > MOST_ASKERS
    ):
        return ticket
    return msgspec.structs.replace(ticket, askers=askers, above=above)


def fate(ticket: Ticket) -> str:
    """What became of a ticket that is not open, and what to do."""
    again = "it is opened again when the action is asked for again"
    if ticket.kind is Kind.VALUE and ticket.state in NO:
        return f"was already denied, by `{ticket.answered_by}`, for all of this task"
    match ticket.state:
        case State.APPROVED:
            return (
                f"is already approved, by `{ticket.answered_by}`: have the action repeated, or "
                f"deny it"
            )
        case State.DENIED | State.WITHDRAWN:
            return f"was already denied, by `{ticket.answered_by}`: {again} later"
        case State.REVIEWED:
            return f"was already reviewed, by `{ticket.answered_by}`"
        case State.USED if ticket.bypass is not None and ticket.bypass.overridden:
            return (
                f"went ahead unanswered, in an emergency: `stanchion tickets list` has its "
                f"review; {again}"
            )
        case State.USED:
            return f"was approved by `{ticket.answered_by}` and has been used: {again}"
        case _:
            return f"has expired: {again}"
