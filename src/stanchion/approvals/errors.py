"""What goes wrong with tickets; each message says which one, why, and what to do."""

from __future__ import annotations

from stanchion.kernel.shown import Shown


class TicketError(Shown):
    """A ticket cannot be found, or not be answered like that."""


class UnknownTicket(TicketError):
    """There is no ticket with that id, or more than one that it could mean."""


class TicketClosed(TicketError):
    """A ticket was answered already, was used, or has expired."""


class OperatorKeyError(TicketError):
    """An operator's key cannot be read, made or used."""
