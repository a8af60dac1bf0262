"""Keeping tickets in a store: read, and changed by compare-and-set on the store's own time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from holdfast.approvals.errors import TicketError
from holdfast.approvals.ticket import Ticket, key_of
from holdfast.kernel.engine import TRIES
from holdfast.kernel.state import ABSENT, CLOCK, Batch, Records, Reply, StoreLost, When

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
    """Read a ticket and take a step with it: one trip to the store, and one more where something is written.

    The first trip expects what cannot be, so that it only tells the time and the ticket as it is.
    """
    version, value = records.get(key, ABSENT)
    expects = ((key, version, version + 1), (CLOCK, 0, 1))
    reply = yield Batch(f"{batch_id}.0", tenant, False, expects)
    for turn in range(1, TRIES + 1):
        for fresh in reply.fresh:
            if fresh.key == key:
                records[key] = (fresh.number, fresh.value)
        version, value = records.get(key, ABSENT)
        before = read(value)
        after = step(before, reply.now)
        if after is before or after is None:
            return Kept(before, version, before, reply.now)
        put = (key, msgspec.to_builtins(after), When.JUDGED, 0, 0)
        reply = yield Batch(f"{batch_id}.{turn}", tenant, True, ((key, version, version + 1),), puts=(put,))
        if not reply.stale:
            records[key] = (version + 1, put[1])
            return Kept(after, version + 1, before, reply.now)
    raise StoreLost(f"`{key}` changed {TRIES} times meanwhile: try again")


def read(value: Any) -> Ticket | None:
    """The ticket that a record tells."""
    if value is None:
        return None
    try:
        return msgspec.convert(value, Ticket)
    except msgspec.ValidationError as error:
        raise TicketError(f"a ticket cannot be read: {error}; use the version of Holdfast that wrote it") from None


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
