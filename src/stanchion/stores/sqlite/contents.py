"""Listing what is in the file for people, a portion at a time, so that nothing waits for the
reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import Any, Final

from stanchion.kernel.cells import KEEP, NUMBER, TOUCHED, Cell, value_of
from stanchion.kernel.state import CLOCK
from stanchion.stores.seen import Hold, Seen, open_hold, seen
from stanchion.stores.sqlite import rows
from stanchion.stores.sqlite.link import Link

PORTION: Final = 256


def newest(link: Link) -> int:
    """The time of the newest answer in the file."""
    clock, _, at, _ = link.rows(rows.NEWEST, ())[0]
    return int(clock if at is None else max(clock, at))


def one(link: Link, key: str) -> tuple[int, Any]:
    """A cell's number and value."""
    last = newest(link)
    if key == CLOCK:
        return last, None
    for _, cells in link.rows(rows.ROW, (rows.owner_of(key),), rows.owned):
        cell = cells.get(key)
        if cell is not None and cell[TOUCHED] + cell[KEEP] > last:
            return cell[NUMBER], value_of(cell)
    return 0, None


def cells(link: Link, prefix: str, clock: Callable[[], int]) -> Iterator[Seen]:
    """Every cell whose key begins so; one that is not swept yet is left out."""
    last = newest(link)
    now = max(clock(), last)
    tenant, brace, name = prefix.partition("}")
    shared: list[tuple[str, Cell]] = []
    if any(begins.startswith(name[: len(begins)]) for begins in rows.SHARED):
        shared = sorted(_found(link, f"@{tenant}{brace}", prefix, shared=True))
    for key, cell in merge(shared, _found(link, prefix, prefix, shared=False)):
        if cell[TOUCHED] + cell[KEEP] > last:
            yield seen(key, cell, now)


def _found(link: Link, owners: str, prefix: str, shared: bool) -> Iterator[tuple[str, Cell]]:
    """Cells whose keys begin so in the rows of the owners that do; either those that have a row to
    themselves or the others."""
    start = owners
    while True:
        portion = link.rows(rows.ROWS_FROM, (start, PORTION), rows.owned)
        for owner, found in portion:
            if not owner.startswith(owners):
                return
            for key, cell in found.items():
                if key.startswith(prefix) and (key != owner) == shared:
                    yield key, cell
        if len(portion) < PORTION:
            return
        start = portion[-1][0] + "\0"


def holds(link: Link, clock: Callable[[], int]) -> Iterator[Hold]:
    """Every hold that is not settled."""
    now = max(clock(), newest(link))
    after = (-1, 0, 0)
    while True:
        found = link.rows(rows.HOLDS_FROM, (*after, PORTION), rows.held_of)
        for *held, hold_id, seq in found:
            yield open_hold(hold_id, held, now)
            after = (held[0], held[3], seq)
        if len(found) < PORTION:
            return


def hold(link: Link, hold_id: str, clock: Callable[[], int]) -> Hold | None:
    """The hold of one batch; `None` where it is settled, or unknown."""
    now = max(clock(), newest(link))
    for held in link.rows(rows.HOLD, (hold_id,), rows.held_of):
        return open_hold(hold_id, held, now)
    return None
