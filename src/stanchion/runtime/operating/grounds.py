"""What operating needs of a shield: beside what deciding needs, what operators do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stanchion.runtime.deciding.grounds import Deciding
from stanchion.runtime.standing.states import TERMS

if TYPE_CHECKING:
    from stanchion.approvals.act import Answer
    from stanchion.approvals.answerers import By
    from stanchion.approvals.grants import Grant
    from stanchion.approvals.ticket import Ticket
    from stanchion.kernel.states import Signal, Terms
    from stanchion.runtime.people.trust import Trust


class Operated(Deciding, Protocol):
    """A shield, as far as operators change what it does."""

    @property
    def trust(self) -> Trust:
        """Whether somebody who may has said that a policy may loosen what is in force."""

    def signal(
        self,
        tenant: str | None,
        scope: str,
        signals: tuple[Signal, ...],
        wanted: str,
        why: str,
        by: str | Answer,
        terms: Terms = TERMS,
    ) -> None:
        """Give signals to a state."""

    def release_brake(self) -> None:
        """Let go of the brake that it was started with."""

    def tickets(
        self, tenant: str | None = None, state: str | None = None, *, most: int = 50
    ) -> list[Ticket]:
        """What waits for a person."""

    def grants(self, tenant: str | None = None) -> list[tuple[str, Grant]]:
        """Every yes that reaches further than one call and still holds."""

    def deny(self, id: str, *, by: By, comment: str, tenant: str | None = None) -> Ticket:
        """Refuse what a ticket is about."""

    def revoke(self, grant: str, *, by: str, why: str = "", tenant: str | None = None) -> bool:
        """Take a yes back."""
