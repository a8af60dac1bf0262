"""Removing what nobody needs any more, a portion at a time: old answers, idle cells, holds that
lapsed long ago."""

from __future__ import annotations

import sqlite3
from typing import Final

from stanchion.kernel.holds import REMEMBERED
from stanchion.stores.sqlite.cache import Cache

EVERY: Final = 256
"""After how many batches there is something to do."""

FORGET_ANSWERS: Final = "DELETE FROM batch WHERE seq > ? AND seq <= ? AND status IS NULL"
FORGET_LAPSED: Final = (
    "DELETE FROM batch WHERE seq IN"
    " (SELECT seq FROM batch WHERE status = 1 ORDER BY due DESC, seq DESC LIMIT -1 OFFSET ?)"
)
END_OF_PORTION: Final = (
    "SELECT count(*), max(id) FROM (SELECT id FROM cell WHERE id > ? ORDER BY id LIMIT ?)"
)
IDLE: Final = "SELECT id, key FROM cell WHERE id > ? AND id <= ? AND touched + keep <= ?"
FORGET_CELL: Final = "DELETE FROM cell WHERE id = ?"


class Tidying:
    """Where the last portion ended. Nothing depends on it: a new process begins at the
    beginning."""

    __slots__ = ("added", "batches", "cell", "seq")

    def __init__(self) -> None:
        self.batches = 0
        self.added = 0
        self.cell = 0
        self.seq = 0

    @property
    def due(self) -> bool:
        """Whether there may be something to remove."""
        return self.batches >= EVERY

    def tidy(self, cursor: sqlite3.Cursor, cache: Cache, now: int) -> None:
        """Remove a portion, in the transaction that is open. Twice as many cells are looked at as
        were added, so that most rows are always in use."""
        last = cache.seq - 2 * REMEMBERED
        if last < self.seq:  # another file was put in its place
            self.seq = 0
        if last > self.seq:
            cursor.execute(FORGET_ANSWERS, (self.seq, last))
            self.seq = last
        cursor.execute(FORGET_LAPSED, (REMEMBERED,))
        if cursor.rowcount:
            cache.left = 0
        self._sweep(cursor, cache, now, max(2 * self.added, EVERY))
        self.added = 0

    def _sweep(self, cursor: sqlite3.Cursor, cache: Cache, now: int, portion: int) -> None:
        """Remove idle cells among as many as that, round and round through the table."""
        for _ in range(2):
            count, end = cursor.execute(END_OF_PORTION, (self.cell, portion)).fetchone()
            if count:
                for cell_id, key in cursor.execute(IDLE, (self.cell, end, now)).fetchall():
                    cursor.execute(FORGET_CELL, (cell_id,))
                    cache.ids.pop(key, None)
            self.cell = end if count == portion else 0
            portion -= count
            if portion == 0:
                return
