"""Tickets: what waits for a person, and what that person answers.

The names below are found when they are asked for: most processes need none of them.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest
    from stanchion.approvals.errors import BypassRefused, TicketClosed, TicketError, UnknownTicket
    from stanchion.approvals.ticket import State, Ticket

__all__ = [
    "BypassRefused",
    "BypassRequest",
    "State",
    "Ticket",
    "TicketClosed",
    "TicketError",
    "UnknownTicket",
]

_HOMES = {
    "bypass": ("BypassRequest",),
    "errors": ("BypassRefused", "TicketClosed", "TicketError", "UnknownTicket"),
    "ticket": ("State", "Ticket"),
}
"""Where each public name lives."""


if not TYPE_CHECKING:  # a checker that saw it would take every name for one of ours

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                from importlib import import_module

                found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return found
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
