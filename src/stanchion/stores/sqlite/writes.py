"""Writing down what a batch changed."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from stanchion.kernel.cells import BODY, BUCKET, KEEP, NUMBER, TOUCHED, WIDTH, Cell
from stanchion.kernel.holds import HELD
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.sqlite.cache import Cache, Row
from stanchion.stores.sqlite.rows import pack, pack_into

CHANGE: Final = "UPDATE kept SET until = ?, cells = ? WHERE id = ?"
ADD: Final = "INSERT INTO kept (until, cells, id, owner) VALUES (?, ?, ?, ?)"
ADD_BATCH: Final = "INSERT INTO batch (seq, id, at, reply) VALUES (?, ?, ?, ?)"
ADD_HOLD: Final = (
    "INSERT INTO batch (seq, id, at, reply, status, due, taken) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
SETTLE: Final = (
    "UPDATE batch SET seq = ?, at = ?, status = NULL, due = NULL, taken = NULL WHERE id = ?"
)
LAPSE: Final = "UPDATE batch SET status = 1 WHERE id = ?"
DROP: Final = "DELETE FROM batch WHERE id = ?"
TELL: Final = "UPDATE clock SET ms = ?"


def write(cursor: sqlite3.Cursor, cache: Cache, batch: Batch, reply: Reply, now: int) -> int:
    """Write a batch that was carried out; gives how many rows of cells are new.

    `sqlite3.IntegrityError`: a batch with that id was carried out before.
    """
    added = write_changes(cursor, cache, batch.id, now)
    held = cache.state.holds.get(batch.id)
    cache.seq += 1
    answer = bytearray()
    pack_into(reply, answer)
    if held is None:
        cursor.execute(ADD_BATCH, (cache.seq, batch.id, now, answer))
    else:
        row = (cache.seq, batch.id, now, answer, HELD, held[3], pack(held[1]))
        cursor.execute(ADD_HOLD, row)
    return added


def write_changes(cursor: sqlite3.Cursor, cache: Cache, batch_id: str, now: int) -> int:
    """Write the rows of the cells that changed and the other batches whose holds did; gives how
    many rows are new."""
    state, dirty, known = cache.state, cache.dirty, cache.known
    added = 0
    for row in set(map(known.__getitem__, dirty.keys)):
        until, cells = kept_of(row, state.cells)
        if row.id:
            cursor.execute(CHANGE, (until, cells, row.id))
            if cursor.rowcount != 1:
                raise sqlite3.DatabaseError("rows of cells are gone")
        elif until:
            cache.last_id += 1
            row.id = cache.last_id
            cursor.execute(ADD, (until, cells, row.id, row.owner))
            added += 1
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
    return added


def kept_of(row: Row, cells: dict[str, Cell]) -> tuple[int, bytearray]:
    """What is written of a row: until when it is kept, 0 where it has no cells, and these."""
    kept, longest = [], 0
    for key in row.keys:
        cell = cells.get(key)
        if cell is None:
            continue
        if cell[BUCKET] is None:
            # What is known of a record is from now on what anybody reads back, no longer the
            # caller's object.
            if type(cell[BODY]) is not msgspec.Raw:
                cell[BODY] = msgspec.Raw(pack(cell[BODY]))
        elif cell[KEEP] < 0:
            if not cell[NUMBER]:
                continue  # nobody wrote to it: as good as none
            cell = [*cell[:KEEP], -cell[KEEP], cell[WIDTH]]
        kept.append((key, cell))
        until = cell[TOUCHED] + cell[KEEP]
        if until > longest:
            longest = until
    written = bytearray()  # SQLite's module looks first whether there is another form of `bytes`
    pack_into(kept, written)
    return longest, written


def tell_time(cursor: sqlite3.Cursor, now: int) -> None:
    """Keep the time of an answer that leaves no other trace, so that no later one is earlier."""
    cursor.execute(TELL, (now,))
