"""Listing what is in the file for people, a portion at a time, so that nothing waits for the
reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    for row in link.rows(rows.CELL, (key,)):
        cell = _cell(link, row)
        if cell[TOUCHED] + cell[KEEP] > last:
            return cell[NUMBER], value_of(cell)
    return 0, None


def cells(link: Link, prefix: str, clock: Callable[[], int]) -> Iterator[Seen]:
    """Every cell whose key begins so; one that is not swept yet is left out."""
    last = newest(link)
    now = max(clock(), last)
    start = prefix
    while True:
        found = link.rows(rows.CELLS_FROM, (start, PORTION))
        for row in found:
            if not row[1].startswith(prefix):
                return
            cell = _cell(link, row)
            if cell[TOUCHED] + cell[KEEP] > last:
                yield seen(row[1], cell, now)
        if len(found) < PORTION:
            return
        start = found[-1][1] + "\0"


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
    try:
        return open_hold(hold_id, rows.held_of(*row), now)
    except msgspec.MsgspecError as error:
        raise StoreLost(explain(error, link.path, link.busy_s)) from error


def _cell(link: Link, row: tuple[Any, ...]) -> Cell:
    try:
        return rows.cell_of(row)
    except msgspec.MsgspecError as error:
        raise StoreLost(explain(error, link.path, link.busy_s)) from error
