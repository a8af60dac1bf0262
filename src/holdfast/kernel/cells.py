"""Cells: what an in-process store holds under a key, a counter with its window or a record with its version."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any, NamedTuple

from holdfast.kernel.state import BUCKETS, CLOCK, IDLE_S, KEPT, Line, Reply

# A cell is [number, value or ring, bucket the live sum is for, live sum, last touched]; a record's bucket is None.
# It is a list, because a store touches several of them in every decision and attributes would double the cost.
NUMBER, BODY, BUCKET, LIVE, TOUCHED = range(5)
Cell = list[Any]

Step = tuple[Cell, int, int, int, bool]
"""A line bound to its cell, for the common case that nothing is found: cell, unit, lowest limit, bucket width,
whether it takes."""


class Bound(NamedTuple):
    """A batch's lines bound to their cells, good until a cell is forgotten.

    There are no steps where two lines share a counter: each must see it as it was before the batch.
    """

    lines: tuple[Line, ...]
    epoch: int
    steps: list[Step] | None
    keys: list[str]
    held: list[tuple[str, int, bool, int, int]]


class State:
    """Everything a store holds. `dirty`, where it is a set, gathers the keys and hold ids that changed."""

    __slots__ = ("bound", "cells", "dirty", "due", "epoch", "forget", "holds", "lapsed", "older", "recent")

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {CLOCK: [0, {}, 0, 0, 0]}
        self.holds: dict[str, list[Any]] = {}
        self.recent: dict[str, Reply] = {}
        self.older: dict[str, Reply] = {}
        self.due: dict[int, deque[tuple[int, str]]] = {}
        self.forget: list[tuple[int, str, int]] = []
        self.lapsed: deque[str] = deque()
        self.bound: dict[int, Bound] = {}
        self.epoch = 0
        self.dirty: set[str] | None = None


def read(state: State, key: str) -> tuple[int, Any]:
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
    """Begin a bucket: drop those the window has left behind."""
    ring = {b: n for b, n in cell[BODY].items() if b > bucket - BUCKETS}
    cell[BODY], cell[BUCKET], cell[LIVE] = ring, bucket, sum(ring.values())


def counter(state: State, key: str, now: int, idle_ms: int) -> Cell:
    """A counter's cell, made where there is none; a number of zero is as good as none."""
    cell = state.cells.get(key)
    if cell is None:
        cell = state.cells[key] = [0, {}, 0, 0, now]
        if idle_ms:
            heapq.heappush(state.forget, (now + idle_ms, key, idle_ms))
    return cell


def add(state: State, key: str, amount: int, width: int, now: int, idle_ms: int) -> None:
    """Add to a counter, in its window's present bucket."""
    cell = counter(state, key, now, idle_ms)
    cell[NUMBER] += amount
    cell[TOUCHED] = now
    if width:
        bucket = now // width
        if bucket != cell[BUCKET]:
            turn(cell, bucket)
        cell[BODY][bucket] = cell[BODY].get(bucket, 0) + amount
        cell[LIVE] += amount
    if state.dirty is not None:
        state.dirty.add(key)


def idle_ms(line: Line) -> int:
    """How long a line's counter is kept untouched: its hold and its window need it longer than its scope does."""
    return line.idle_s * 1000 + line.hold_ms + line.window_ms if line.idle_s else 0


def change(state: State, key: str, amount: int, bucket: int) -> None:
    """Correct what a line took, in the bucket it was taken in; a cell that was forgotten stays forgotten."""
    cell = state.cells.get(key)
    if cell is None:
        return
    cell[NUMBER] += amount
    if bucket >= 0 and bucket in cell[BODY]:
        cell[BODY][bucket] += amount
        if bucket > cell[BUCKET] - BUCKETS:
            cell[LIVE] += amount
    if state.dirty is not None:
        state.dirty.add(key)


def put(state: State, key: str, value: Any, now: int) -> None:
    """Write a record's next version."""
    cell = state.cells.get(key)
    if cell is None:
        cell = state.cells[key] = [0, None, None, 0, 0]
        if not key.endswith(KEPT):
            heapq.heappush(state.forget, (now + IDLE_S * 1000, key, IDLE_S * 1000))
    cell[0] += 1
    cell[1] = value
    cell[4] = now
    if state.dirty is not None:
        state.dirty.add(key)


def forget(state: State, now: int) -> None:
    """Collect cells that nobody touched for as long as their lines said; it never decides anything."""
    while state.forget and state.forget[0][0] <= now:
        _, key, idle_ms = heapq.heappop(state.forget)
        cell = state.cells.get(key)
        if cell is None:
            continue
        if cell[TOUCHED] + idle_ms > now:
            heapq.heappush(state.forget, (cell[TOUCHED] + idle_ms, key, idle_ms))
        else:
            del state.cells[key]
            state.epoch += 1
