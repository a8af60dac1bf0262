"""Tickets: what waits for a person, and what that person answers."""

from stanchion.approvals.errors import TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.ticket import State, Ticket

__all__ = ["State", "Ticket", "TicketClosed", "TicketError", "UnknownTicket"]
