"""Answering a ticket about an effect: it is settled in the same step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.approvals.act import Answer
from stanchion.approvals.effects import said_of
from stanchion.approvals.errors import TicketClosed, TicketError
from stanchion.approvals.shelf import read
from stanchion.approvals.ticket import Ticket
from stanchion.runtime.operating.settle_effects import EffectError, settle

if TYPE_CHECKING:
    from stanchion.runtime.deciding.grounds import Deciding


def settle_by(shield: Deciding, ticket: Ticket, answer: Answer) -> Ticket:
    """Settle the effect that a ticket is about as somebody has said, which uses the ticket up;
    `TicketError` where there is nothing to settle any more."""
    effect, happened = said_of(ticket, answer)
    try:
        settle(shield, effect, happened, None, answer, ticket.tenant)
    except EffectError as error:
        raise TicketClosed(f"ticket `{ticket.id}` has nothing to settle: {error}") from None
    after = read(shield.store.read(ticket.key)[1])
    if after is None:
        raise TicketError(f"ticket `{ticket.id}` is gone: its effect is settled")
    return after
