"""Writing down what a batch changed."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from stanchion.kernel.cells import BODY
from stanchion.kernel.holds import HELD
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.sqlite.cache import Cache
from stanchion.stores.sqlite.rows import pack

CHANGE_CELL: Final = (
    "UPDATE cell SET number = ?, body = ?, bucket = ?, live = ?, touched = ?, "
    "keep = ?, width = ? WHERE id = ?"
)
ADD_CELL: Final = (
    "INSERT INTO cell (number, body, bucket, live, touched, keep, width, id, key) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ADD_BATCH: Final = (
    "INSERT INTO batch (seq, id, at, reply, status, due, taken) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
SETTLE: Final = (
    "UPDATE batch SET seq = ?, at = ?, status = NULL, due = NULL, taken = NULL WHERE id = ?"
)
LAPSE: Final = "UPDATE batch SET status = 1 WHERE id = ?"
DROP: Final = "DELETE FROM batch WHERE id = ?"
TELL: Final = "UPDATE clock SET ms = ?"


def write(cursor: sqlite3.Cursor, cache: Cache, batch: Batch, reply: Reply, now: int) -> int:
    """Write a batch that was carried out; gives how many cells are new.

    `sqlite3.IntegrityError`: a batch with that id was carried out before.
    """
    added = write_changes(cursor, cache, batch.id, now)
    held = cache.state.holds.get(batch.id)
    cache.seq += 1
    row: tuple[Any, ...] = (cache.seq, batch.id, now, pack(reply), None, None, None)
    if held is not None:
        row = (cache.seq, batch.id, now, pack(reply), HELD, held[3], pack(held[1]))
    cursor.execute(ADD_BATCH, row)
    return added


def write_changes(cursor: sqlite3.Cursor, cache: Cache, batch_id: str, now: int) -> int:
    """Write the cells that changed and the other batches whose holds did; gives how many cells are
    new."""
    state, dirty = cache.state, cache.dirty
    cells, ids = state.cells, cache.ids
    changed: list[tuple[Any, ...]] = []
    added: list[tuple[Any, ...]] = []
    for key in dirty.keys:
        cell = cells.get(key)
        if cell is None:
            continue
        number, body, bucket, live, touched, keep, width = cell
        if bucket is None:
            # What is known of a record is from now on what anybody reads back, no longer the
            # caller's object.
            body = cell[BODY] = pack(body)
        elif keep < 0 and not number:
            continue  # nobody wrote to it: as good as none
        else:
            body, keep = pack(body) if body else None, keep if keep >= 0 else -keep
        if key in ids:
            changed.append((number, body, bucket, live, touched, keep, width, ids[key]))
        else:
            cache.last_id += 1
            ids[key] = cache.last_id
            added.append((number, body, bucket, live, touched, keep, width, cache.last_id, key))
    if changed:
        cursor.executemany(CHANGE_CELL, changed)
        if cursor.rowcount != len(changed):
            raise sqlite3.DatabaseError("rows of cells are gone")
    if added:
        cursor.executemany(ADD_CELL, added)
    dirty.keys.clear()
    dirty.ids.discard(batch_id)
    for other in dirty.ids:
        if other in state.holds:
            cursor.execute(LAPSE, (other,))
        elif other in state.recent or other in state.older:
            cache.seq += 1
            cursor.execute(SETTLE, (cache.seq, now, other))
        else:
            cursor.execute(DROP, (other,))
    dirty.ids.clear()
    return len(added)


def tell_time(cursor: sqlite3.Cursor, now: int) -> None:
    """Keep the time of an answer that leaves no other trace, so that no later one is earlier."""
    cursor.execute(TELL, (now,))
