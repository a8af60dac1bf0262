"""Tickets that are no question about a whole call: about effects that began and whose end nobody
has heard of, and about values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.digest import Deed, hashed
from stanchion.approvals.errors import TicketClosed, TicketError
from stanchion.approvals.grant_reach import edits_of
from stanchion.approvals.ticket import Kind, State, Ticket, answered, as_of, id_of, key_of, shown_of
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.stages import Stage

EFFECT_FORM: Final = "stanchion-effect-1"
HAPPENED: Final = "happened"
EFFECT: Final = "effect"


def _deed(tenant: str, effect: str, tool: str = "", risk: str = "medium", shown: str = "") -> Deed:
    """What the ticket about an effect is bound to. Its id follows from the effect alone, whoever
    finds it."""
    what = hashed([EFFECT_FORM, tenant, effect])
    return Deed(stage=Stage.TOOL_CALL.value, tool=tool, risk=risk, what=what, shown=shown)


def ticket_id(tenant: str, effect: str) -> str:
    """The id of the ticket about an effect."""
    return id_of(_deed(tenant, effect))


def about_effect(
    tenant: str, effect: str, tool: str, risk: str, about: dict[str, Any], agents: list[str]
) -> Ticket:
    """What is asked of a person about an effect that a call has begun; it is not open yet. `agents`
    are whoever found it, and those they work for."""
    content, beside = {HAPPENED: True}, {EFFECT: effect, **about}
    deed = _deed(tenant, effect, tool, risk, hashed(shown_of(content, beside)))
    return Ticket(
        id=id_of(deed),
        kind=Kind.EFFECT,
        tenant=tenant,
        run=str(about.get("run", "")),
        deed=deed,
        content=content,
        beside=beside,
        askers=tuple(agents[:1]),
        above=tuple(agents[1:]),
        message=(
            f"a call of tool `{tool}` began this and never reported an outcome: has it happened?"
        ),
        roles=(OPERATOR,),
        opened_at=0,
        expires_at=0,
    )


def said_of(ticket: Ticket, answer: Answer) -> tuple[str, bool]:
    """The effect that a ticket is about, and whether it has happened by somebody's yes."""
    happened = {**ticket.content, **edits_of(answer.act.scope)}[HAPPENED]
    if type(happened) is not bool:
        raise TicketError(
            f"`{HAPPENED}` is `true` or `false`: it cannot be changed to anything else"
        )
    return str(ticket.beside[EFFECT]), happened


def settled(ticket: Ticket, now: int, answer: Answer) -> Ticket | None:
    """The ticket when its effect is settled: used up, by whoever has said what came of it. `None`
    where it is not open, and the answer was to something else; `TicketClosed` where it was to
    this."""
    if answer.act.purpose is Purpose.TICKET:
        answered(ticket, now, answer)
    elif as_of(ticket, now).state is not State.OPEN:
        return None
    if ticket.kind is not Kind.EFFECT:
        raise TicketClosed(
            f"ticket `{ticket.id}` is about a {ticket.kind}, and not about an effect"
        )
    return msgspec.structs.replace(
        ticket,
        state=State.USED,
        answered_by=answer.act.operator,
        answered_as=answer.act.role,
        answered_at=now,
        comment=answer.act.comment,
        answer=answer,
        used_by=str(ticket.beside[EFFECT]),
    )


VALUES_FORM: Final = "stanchion-ticket-3"
"""The form of what is hashed here: an answer about values is none about a call."""

MOST: Final = 32
"""How many values of one question are also looked up one by one, for a no to each."""

DANGERS: Final = {
    "irreversible": "it cannot be taken back",
    "privilege": "somebody else gains control",
    "outward": "others see it at once",
    "local": "it changes something here",
    "read": "it may carry out what was read",
    "": "nobody has declared what it does",
}
"""What can come of a wrong yes, by the declared effect of the tool."""

CALL: Final = "the call"
CHOICES: Final = "choices"
"""Under which names a ticket has the call that asks first, and values to pick from."""

NO_ANSWER: Final = "it is refused"
"""What happens where nobody answers."""


class AskedPiece(NamedTuple):
    """One thing that a guard asks about: the guard, its code, the argument and the hash of a value
    in it. Both are empty where the question is about the tool."""

    guard: str
    code: str
    name: str = ""
    value: str = ""


def values_deed(deed: Deed, tenant: str, asked: Iterable[AskedPiece]) -> Deed:
    """What a yes to values is bound to: tool, task, first run and the tool's own declaration, and
    not the rest of the call, the agent or the policy. `deed` is that of the call, with both."""
    pieces = sorted(dict.fromkeys(asked))
    same = [VALUES_FORM, tenant, deed.root, deed.stage, deed.tool, deed.risk, deed.declared]
    return msgspec.structs.replace(
        deed,
        guards=tuple(sorted({one.guard for one in pieces})),
        policy="",
        what=hashed([*same, pieces]),
        parts={},
    )


def alone(deed: Deed, tenant: str, asked: Iterable[AskedPiece]) -> tuple[str, ...]:
    """Where the tickets are kept about each of several values alone: a no to one of them is a no to
    all."""
    pieces = dict.fromkeys(asked)
    several = pieces if 1 < len(pieces) <= MOST else ()
    return tuple([key_of(tenant, id_of(values_deed(deed, tenant, [one]))) for one in several])


def in_words(deed: Deed, values: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """A question about values in one sentence: the danger first, and last what happens without an
    answer."""
    stands = [f"{name}: {words}" for name, words in evidence.items() if isinstance(words, str)]
    named = ", ".join(
        f"{name}={msgspec.json.encode(value).decode()}" for name, value in values.items()
    )
    may = f"may `{deed.tool}` use {named}" if named else f"may `{deed.tool}` be called"
    words = "; ".join([*stands, f"without an answer {NO_ANSWER}"])
    return f"{DANGERS[deed.effect]}: {may} in this task? {words}"
