"""Keeping tickets in a store: read, and changed by compare-and-set on the store's own time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from stanchion.approvals.errors import TicketError
from stanchion.approvals.ticket import Ticket, key_of
from stanchion.kernel import changing
from stanchion.kernel.changing import LEFT
from stanchion.kernel.state import Batch, Records, Reply

Step = Callable[[Ticket | None, int], Ticket | None]
"""Gives the ticket as it is to be from the ticket as it is and the store's time; the same one is left as it is."""


class Kept(NamedTuple):
    """A ticket as it is kept now, its version, what it was before, and the store's time."""

    ticket: Ticket | None
    version: int
    before: Ticket | None
    now: int

    @property
    def changed(self) -> bool:
        """Whether it was written."""
        return self.ticket is not self.before


def change(records: Records, batch_id: str, tenant: str, key: str, step: Step) -> Generator[Batch, Reply, Kept]:
    """Read a ticket and take a step with it: one trip to the store, and one more where something is written."""

    def stepped(value: Any, now: int) -> Any:
        before = read(value)
        after = step(before, now)
        return LEFT if after is before or after is None else msgspec.to_builtins(after)

    made = yield from changing.change(records, batch_id, tenant, key, stepped)
    before = read(made.before)
    return Kept(read(made.value) if made.written else before, made.version, before, made.now)


def read(value: Any) -> Ticket | None:
    """The ticket that a record tells."""
    if value is None:
        return None
    try:
        return msgspec.convert(value, Ticket)
    except msgspec.ValidationError as error:
        raise TicketError(f"a ticket cannot be read: {error}; use the version of Stanchion that wrote it") from None


class Looks(Protocol):
    """A store, as far as people look into it."""

    def look(self, prefix: str = "") -> Iterator[Any]:
        """Every cell whose key begins so."""


def all_in(store: Looks, tenant: str | None = None) -> Iterator[Ticket]:
    """Every ticket in a store, or of one tenant, as it is kept; what cannot be read is left out."""
    prefix = "{" if tenant is None else key_of(tenant, "")
    for cell in store.look(prefix):
        if cell.value is None or "}ticket:" not in cell.key:
            continue
        try:
            ticket = msgspec.convert(cell.value, Ticket)
        except msgspec.ValidationError:
            continue
        if ticket.key == cell.key:
            yield ticket
