"""Cells: what an in-process store holds under a key, a counter with its window or a record with its
version."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any, Final

from stanchion.kernel.state import BUCKETS, CLOCK, FOREVER, IDLE_S, KEPT, Line, Reply
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.undo import Entry

# A cell is [number, value or ring, bucket the live sum is for, live sum, last touched, how long it
# is kept untouched, width of its window's buckets]. A record's bucket is None. How long it is kept
# is negative until it is written to. It is a list, because a store touches several of them in every
# decision and attributes would double the cost.
NUMBER, BODY, BUCKET, LIVE, TOUCHED, KEEP, WIDTH = range(7)
Cell = list[Any]

Step = tuple[Cell, int, int, int, bool]
"""A line bound to its cell, for the common case that nothing is found: cell, unit, lowest limit,
bucket width, whether it takes."""


class BoundLines(NamedTuple):
    """A batch's lines bound to their cells, good until a cell is forgotten.

    Where two lines share a counter, its one step has something to say: each must see the counter as
    it was before the batch. `keys` are those it takes from, each with its unit; `longer` are cells
    that it will keep longer than they are kept so far; `registers` are the lines that push.
    """

    lines: tuple[Line, ...]
    steps: list[Step]
    keys: list[tuple[str, int]]
    held: list[tuple[str, int, bool, int, int]]
    longer: list[tuple[str, Cell, int]]
    registers: list[tuple[Cell, Line]]


UNBOUND: Final = BoundLines((), [], [], [], [], [])
"""How no lines are bound."""


class Dirty:
    """What changed since a durable store wrote it down: keys of cells, ids of batches."""

    __slots__ = ("ids", "keys")

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.ids: set[str] = set()


class CellState:
    """Everything a store holds. `undo` gathers what stood where a batch writes; `dirty`, if there
    is one, what changes."""

    __slots__ = (
        "bound",
        "cells",
        "dirty",
        "due",
        "forget",
        "holds",
        "lapsed",
        "older",
        "recent",
        "undo",
    )

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {CLOCK: [0, {}, 0, 0, 0, FOREVER, 0]}
        self.holds: dict[str, list[Any]] = {}
        self.recent: dict[str, Reply] = {}
        self.older: dict[str, Reply] = {}
        self.due: dict[int, deque[tuple[int, str]]] = {}
        self.forget: list[tuple[int, str]] = []
        self.lapsed: deque[str] = deque()
        self.bound: dict[int, BoundLines] = {}
        self.dirty: Dirty | None = None
        self.undo: list[Entry] = []


def read(state: CellState, key: str) -> tuple[int, Any]:
    """A cell's number and, if it is a record, its value."""
    cell = state.cells.get(key)
    return (0, None) if cell is None else (cell[NUMBER], value_of(cell))


def value_of(cell: Cell) -> Any:
    """A record's value; a counter has none."""
    return cell[BODY] if cell[BUCKET] is None else None


def live(cell: Cell, width: int, now: int) -> int:
    """What a window holds now; the sum is kept until the next bucket begins."""
    bucket = now // width
    if cell[BUCKET] != bucket:
        turn(cell, bucket)
    total: int = cell[LIVE]
    return total


def turn(cell: Cell, bucket: int) -> None:
    """Begin a bucket: drop those the window has left behind. The bucket is written last: whoever is
    cut off before leaves a cell that is turned again."""
    ring = {b: n for b, n in cell[BODY].items() if b > bucket - BUCKETS}
    cell[BODY], cell[LIVE], cell[BUCKET] = ring, sum(ring.values()), bucket


def counter(state: CellState, key: str, now: int, idle_ms: int) -> Cell:
    """A counter's cell, made where there is none; a number of zero is as good as none."""
    cell = state.cells.get(key)
    if cell is None:
        if idle_ms < FOREVER:
            heapq.heappush(state.forget, (now + idle_ms, key))
        cell = state.cells[key] = [0, {}, 0, 0, now, -idle_ms, 0]
    return cell


def keep(state: CellState, key: str, cell: Cell, idle_ms: int, now: int) -> None:
    """Keep a cell untouched for as long as the longest of those who write it say; who only looks
    has no say."""
    before = cell[KEEP]
    if idle_ms > before:
        if before < 0:
            cell[TOUCHED] = now
        if idle_ms < -before:
            heapq.heappush(state.forget, (now + idle_ms, key))
        cell[KEEP] = idle_ms
        if state.dirty is not None:
            state.dirty.keys.add(key)


def add(state: CellState, key: str, amount: int, width: int, now: int, idle_ms: int) -> None:
    """Add to a counter, in its window's present bucket."""
    cell = counter(state, key, now, idle_ms)
    keep(state, key, cell, idle_ms, now)
    bucket = now // width if width else -1
    if width:
        cell[WIDTH] = width
        if bucket != cell[BUCKET]:
            turn(cell, bucket)
    state.undo.append((cell, NUMBER, cell[NUMBER]))
    cell[NUMBER] += amount
    cell[TOUCHED] = now
    if width:
        state.undo.append((cell, LIVE, cell[LIVE]))
        state.undo.append((cell[BODY], bucket, cell[BODY].get(bucket)))
        cell[BODY][bucket] = cell[BODY].get(bucket, 0) + amount
        cell[LIVE] += amount
    if state.dirty is not None:
        state.dirty.keys.add(key)


def idle_ms(line: Line) -> int:
    """How long a line's counter is kept untouched: its hold and its window need it longer than its
    scope does."""
    return line.idle_s * 1000 + line.hold_ms + line.window_ms if line.idle_s else FOREVER


def change(state: CellState, key: str, amount: int, bucket: int) -> None:
    """Correct what a line took, in the bucket it was taken in; a cell that was forgotten stays
    forgotten."""
    cell = state.cells.get(key)
    if cell is None or cell[KEEP] < 0:
        return
    state.undo.append((cell, NUMBER, cell[NUMBER]))
    cell[NUMBER] += amount
    if bucket >= 0 and bucket in cell[BODY]:
        state.undo.append((cell, LIVE, cell[LIVE]))
        state.undo.append((cell[BODY], bucket, cell[BODY][bucket]))
        cell[BODY][bucket] += amount
        if bucket > cell[BUCKET] - BUCKETS:
            cell[LIVE] += amount
    if state.dirty is not None:
        state.dirty.keys.add(key)


def put(state: CellState, key: str, value: Any, now: int) -> None:
    """Write a record's next version."""
    cell = state.cells.get(key)
    if cell is None:
        cell = [0, None, None, 0, 0, FOREVER, 0]
        if not key.endswith(KEPT):
            cell[KEEP] = IDLE_S * 1000
            heapq.heappush(state.forget, (now + IDLE_S * 1000, key))
        state.cells[key] = cell
    state.undo.append((cell, None, cell[:]))
    cell[0] += 1
    cell[1] = value
    cell[2] = None
    cell[4] = now
    if state.dirty is not None:
        state.dirty.keys.add(key)


def forget(state: CellState, now: int) -> None:
    """Collect cells that nobody touched for as long as their lines said; it never decides
    anything."""
    while state.forget and state.forget[0][0] <= now:
        key = state.forget[0][1]
        cell = state.cells.get(key)
        if cell is not None:
            until = cell[TOUCHED] + abs(cell[KEEP])
            if until > now:
                heapq.heapreplace(state.forget, (until, key))
                continue
            state.bound.clear()  # before it is gone: what is bound to it must not be written to
            del state.cells[key]
        heapq.heappop(state.forget)
