"""Tickets for tests that need no runtime: one about a payment, and somebody's answer to it."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.approvals.act import Answer, Way
from stanchion.approvals.digest import Deed, hashed
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.ticket import Ticket, answered, id_of, shown_of, wish_of


def asked(content: Any = None, beside: dict[str, Any] | None = None, **more: Any) -> Ticket:
    """A ticket that is open."""
    about = {name: more.pop(name) for name in list(more) if name in Deed.__struct_fields__}
    content = {"to": "ACME", "amount": 5} if content is None else content
    beside = {} if beside is None else beside
    deed = Deed(
        **{
            "stage": "tool_call",
            "tool": "pay",
            "task": "invoices",
            "guards": ("ask-first",),
            "policy": "a" * 64,
            "what": hashed(content),
            "shown": hashed(shown_of(content, beside)),
            **about,
        }
    )
    given = {"run": "r1", "askers": ("bot",), "opened_at": 1_000, "expires_at": 61_000, **more}
    return Ticket(
        **{"id": id_of(deed), "deed": deed, "content": content, "beside": beside, **given}
    )


def answer(
    ticket: Ticket, yes: bool = True, by: str = "ann", until: int = 50_000, **more: Any
) -> Answer:
    """Somebody's answer to a ticket, which nobody has checked."""
    act = wish_of(ticket, more.pop("scope", "once")).act(
        by, more.pop("role", "boss"), until, yes, more.pop("why", "")
    )
    return Answer(
        act=msgspec.structs.replace(act, **more), way=Way.KEY, key="SHA256:k", signature="00"
    )


def said(
    ticket: Ticket, at: int, yes: bool = True, scope: Scope = Scope.ONCE, **more: Any
) -> Ticket:
    """A ticket with somebody's answer."""
    return answered(ticket, at, answer(ticket, yes, **more), scope)
