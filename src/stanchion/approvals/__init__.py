"""Tickets: what waits for a person, and what that person answers."""

from stanchion.approvals.bypass import BypassRefused, BypassRequest
from stanchion.approvals.errors import TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.ticket import State, Ticket

__all__ = ["BypassRefused", "BypassRequest", "State", "Ticket", "TicketClosed", "TicketError", "UnknownTicket"]
