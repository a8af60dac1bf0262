"""What goes wrong with tickets and operators; each message says which one, why, and what to do."""

from __future__ import annotations

from stanchion.kernel.shown import Shown


class TicketError(Shown):
    """A ticket cannot be found, or not be answered like that."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)


class UnknownTicket(TicketError):
    """There is no ticket with that id, or more than one that it could mean."""


class TicketClosed(TicketError):
    """A ticket was answered already, was used, or has expired."""


class AnswerRefused(TicketError):
    """An answer does not count: nobody may give it like that, it is late, or it is not what was
    asked."""


class BypassRefused(TicketError):
    """A bypass cannot be asked for like that; nothing has changed."""


class OperatorError(TicketError):
    """Operators cannot be changed like that, or what is kept of them cannot be trusted."""


class OperatorKeyError(TicketError):
    """An operator's key cannot be read, made or used."""
