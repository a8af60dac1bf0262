"""Holds: what a batch took until it is settled, and the memory of batches carried out before."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from stanchion.kernel.cells import CellState, change
from stanchion.kernel.state import Reply, Settle

REMEMBERED: Final = 8_192
"""How many settled batches an in-process store recognises at least, and how many lapsed holds at
most."""

HELD, LAPSED = 0, 1

Taken = list[tuple[str, int, bool, int, int]]
"""What a hold holds, line by line: key, amount, whether it stays charged at expiry, bucket,
unit."""


def hold(
    state: CellState, batch_id: str, taken: Taken, reply: Reply, now: int, hold_ms: int
) -> None:
    """Keep what a batch took. Holds of one duration fall due in order, so each duration has a
    queue."""
    due = now + hold_ms
    queue = state.due.get(hold_ms)
    if queue is None:
        queue = state.due[hold_ms] = deque()
    queue.append((due, batch_id))
    state.undo.append((state.holds, batch_id, None))
    state.holds[batch_id] = [HELD, taken, reply, due]
    if state.dirty is not None:
        state.dirty.ids.add(batch_id)


def done(state: CellState, batch_id: str, reply: Reply) -> None:
    """Remember an answer. Two generations of batches are kept, so that forgetting costs nothing."""
    state.undo.append((state.recent, batch_id, state.recent.get(batch_id)))
    state.recent[batch_id] = reply
    if len(state.recent) >= REMEMBERED:
        state.older, state.recent = state.recent, {}
    if state.dirty is not None:
        state.dirty.ids.add(batch_id)


def seen(state: CellState, batch_id: str) -> Reply:
    """The first answer to a batch that was carried out before."""
    reply = state.recent.get(batch_id) or state.older.get(batch_id)
    return state.holds[batch_id][2] if reply is None else reply


def settle(state: CellState, settles: tuple[Settle, ...]) -> tuple[str, ...]:
    """Close holds with actual amounts, each once."""
    said = []
    for hold_id, actual in settles:
        held = state.holds.get(hold_id)
        if held is None:
            known = hold_id in state.recent or hold_id in state.older
            said.append("again" if known else "unknown")
            continue
        said.append("late" if held[0] == LAPSED else "settled")
        for key, amount, keep, bucket, unit in held[1]:
            if keep:
                correction = (0 if actual is None else actual[unit]) - amount
            else:
                correction = -amount if held[0] == HELD else 0
            if correction:
                change(state, key, correction, bucket)
        state.undo.append((state.holds, hold_id, held))
        del state.holds[hold_id]
        done(state, hold_id, held[2])
    return tuple(said)


def expire(state: CellState, now: int) -> None:
    """Give back the permits of holds that are due; spend stays charged until settled."""
    for queue in state.due.values():
        while queue and queue[0][0] <= now:
            due, hold_id = queue[0]
            held = state.holds.get(hold_id)
            if held is not None and held[0] == HELD and held[3] <= due:
                _lapse(state, hold_id, held)
            queue.popleft()  # last, so that who is cut off before finds it again


def _lapse(state: CellState, hold_id: str, held: list[Any]) -> None:
    """Give back the permits of one hold, as a whole."""
    state.undo.append((held, None, held[:]))
    held[0] = LAPSED
    for key, amount, keep, bucket, _unit in held[1]:
        if not keep:
            change(state, key, -amount, bucket)
    if state.dirty is not None:
        state.dirty.ids.add(hold_id)
    state.lapsed.append(hold_id)
    state.undo.clear()
    while len(state.lapsed) > REMEMBERED:
        _drop(state, state.lapsed[0])
        state.lapsed.popleft()


def _drop(state: CellState, hold_id: str) -> None:
    """Stop waiting for the settlement of a hold that lapsed long ago: its spend stays charged for
    good."""
    held = state.holds.get(hold_id)
    if held is not None and held[0] == LAPSED:
        del state.holds[hold_id]
        if state.dirty is not None:
            state.dirty.ids.add(hold_id)
