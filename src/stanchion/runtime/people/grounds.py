"""What people's rooms need of a shield: beside what holds, who may answer, and who waits for an
answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from stanchion.runtime.standing.grounds import Grounds

if TYPE_CHECKING:
    from stanchion.approvals.act import Answer
    from stanchion.approvals.ticket import Ticket
    from stanchion.runtime.people.authority import Authority
    from stanchion.runtime.people.waiting import Waiting


class Answered(Grounds, Protocol):
    """A shield, as far as people answer for it."""

    authority: Authority
    """Who may do what only an operator may."""

    waiting: Waiting
    """Who waits for an answer in this process."""

    def settle_by(self, ticket: Ticket, answer: Answer) -> Ticket:
        """Settle the effect that a ticket is about by somebody's yes."""

    presence: Any
    """This process, as others find it; `None` where its state is its own."""
