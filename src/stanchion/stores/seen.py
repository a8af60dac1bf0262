"""What people see of a store: its cells and its open holds, one by one."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.cells import BODY, NUMBER, TOUCHED, WIDTH, Cell, value_of
from stanchion.kernel.holds import LAPSED
from stanchion.kernel.state import BUCKETS, text_or_value


class SeenCell(msgspec.Struct, frozen=True, gc=False):
    """A cell: a counter's total or a record's version, the record's value, and what a window holds
    at the time."""

    key: str
    number: int
    value: Any = None
    live: int | None = None
    """What the window of the counter holds; `None` where it has no window."""
    touched_ms: int = 0


class Took(msgspec.Struct, frozen=True, gc=False):
    """What a hold took from one counter. `keeps`: it is spend, which stays charged when the hold
    lapses."""

    key: str
    amount: int
    unit: int
    keeps: bool


class Hold(msgspec.Struct, frozen=True, gc=False):
    """A hold that is not settled, with the id of the batch that took it, and when. `lapsed`: its
    time is over."""

    id: str
    due_ms: int
    lapsed: bool
    took: tuple[Took, ...]
    since_ms: int = 0


def seen(key: str, cell: Cell, now: int) -> SeenCell:
    """A cell as it stands at a time."""
    live = None
    if cell[WIDTH]:
        oldest = now // cell[WIDTH] - BUCKETS
        live = sum([n for bucket, n in cell[BODY].items() if bucket > oldest])
    return SeenCell(key, cell[NUMBER], text_or_value(value_of(cell)), live, cell[TOUCHED])


def open_hold(hold_id: str, held: list[Any], now: int) -> Hold:
    """A hold as it stands at a time, whether or not its expiry was noticed by a batch already."""
    status, taken, reply, due = held
    took = tuple([Took(key, amount, unit, keeps) for key, amount, keeps, _bucket, unit in taken])
    return Hold(hold_id, due, status == LAPSED or due <= now, took, reply.now)
