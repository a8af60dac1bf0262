"""Listing what is in the file for people, a portion at a time, so that nothing waits for the
reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import merge
from typing import Any, Final

import msgspec

from stanchion.kernel.cells import KEEP, NUMBER, TOUCHED, Cell, value_of
from stanchion.kernel.state import CLOCK, StoreLost
from stanchion.stores.seen import Hold, Seen, open_hold, seen
from stanchion.stores.sqlite import rows
from stanchion.stores.sqlite.link import Link
from stanchion.stores.sqlite.troubles import explain

PORTION: Final = 256


def newest(link: Link) -> int:
    """The time of the newest answer in the file."""
    clock, _, at, _, _ = link.rows(rows.NEWEST, ())[0]
    return int(clock if at is None else max(clock, at))


def one(link: Link, key: str) -> tuple[int, Any]:
    """A cell's number and value."""
    last = newest(link)
    if key == CLOCK:
        return last, None
    with explained(link):
        cell = rows.cell_in(link.rows(rows.ROW, (rows.owner_of(key),)), key)
    if cell is None or cell[TOUCHED] + cell[KEEP] <= last:
        return 0, None
    return cell[NUMBER], value_of(cell)


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
        portion = link.rows(rows.ROWS_FROM, (start, PORTION))
        for _id, owner, packed in portion:
            if not owner.startswith(owners):
                return
            with explained(link):
                found = rows.cells_of(packed)
            for key, cell in found:
                if key.startswith(prefix) and (key != owner) == shared:
                    yield key, cell
        if len(portion) < PORTION:
            return
        start = portion[-1][1] + "\0"


def holds(link: Link, clock: Callable[[], int]) -> Iterator[Hold]:
    """Every hold that is not settled."""
    now = max(clock(), newest(link))
    after = (-1, 0, 0)
    while True:
        found = link.rows(rows.HOLDS_FROM, (*after, PORTION))
        for hold_id, status, taken, reply, due, _seq in found:
            yield _hold(link, hold_id, (status, taken, reply, due), now)
        if len(found) < PORTION:
            return
        after = (found[-1][1], found[-1][4], found[-1][5])


def hold(link: Link, hold_id: str, clock: Callable[[], int]) -> Hold | None:
    """The hold of one batch; `None` where it is settled, or unknown."""
    now = max(clock(), newest(link))
    found = [row[1:] for row in link.rows(rows.BATCH, (hold_id,)) if row[1] is not None]
    return _hold(link, hold_id, found[0], now) if found else None


def _hold(link: Link, hold_id: str, row: tuple[Any, ...], now: int) -> Hold:
    with explained(link):
        return open_hold(hold_id, rows.held_of(*row), now)


@contextmanager
def explained(link: Link) -> Iterator[None]:
    """Say of a row that cannot be read what is wrong with the file."""
    try:
        yield
    except msgspec.MsgspecError as error:
        raise StoreLost(explain(error, link.path, link.busy_s)) from error
