"""Tickets: what waits for a person, and what that person answers."""

from holdfast.approvals.errors import TicketClosed, TicketError, UnknownTicket
from holdfast.approvals.ticket import State, Ticket

__all__ = ["State", "Ticket", "TicketClosed", "TicketError", "UnknownTicket"]
