"""The SQLite store: one file, a connection for each process, a cache that is dropped when another
process writes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from heapq import merge
from pathlib import Path
from typing import Any, Final

from stanchion.kernel.carry import carry_out
from stanchion.kernel.cells import KEEP, NUMBER, TOUCHED, Cell, value_of
from stanchion.kernel.holds import REMEMBERED
from stanchion.kernel.state import CLOCK, EPOCH, Batch, Reply, StoreForgot, StoreLost
from stanchion.stores.memory import wall_ms
from stanchion.stores.seen import Hold, SeenCell, open_hold, seen
from stanchion.stores.sqlite.cache import (
    BATCH,
    HOLD,
    HOLDS_FROM,
    NEWEST,
    ROW,
    ROWS_FROM,
    SHARED,
    Cache,
    held_of,
    owned,
    owner_of,
    unpack_reply,
    unpacked,
)
from stanchion.stores.sqlite.connection import TROUBLES, SqliteLink
from stanchion.stores.sqlite.troubles import explain, locked
from stanchion.stores.track import Track

PORTION: Final = 256
"""How many rows are read at a time for people, so that nothing waits for the reader."""

# Removing what nobody needs any more, a portion at a time: old answers, idle rows, holds that
# lapsed long ago.

EVERY: Final = 256
"""After how many batches there is something to do."""

FORGET_ANSWERS: Final = "DELETE FROM batch WHERE seq > ? AND seq <= ? AND status IS NULL"
FORGET_LAPSED: Final = (
    "DELETE FROM batch WHERE seq IN"
    " (SELECT seq FROM batch WHERE status = 1 ORDER BY due DESC, seq DESC LIMIT -1 OFFSET ?)"
)
END_OF_PORTION: Final = (
    "SELECT count(*), max(id) FROM (SELECT id FROM kept WHERE id > ? ORDER BY id LIMIT ?)"
)
IDLE: Final = "FROM kept WHERE id > ? AND id <= ? AND until <= ?"


class Tidying:
    """Where the last portion ended. Nothing depends on it: a new process begins at the
    beginning."""

    def __init__(self) -> None:
        self.batches = 0
        self.added = 0
        self.row = 0
        self.seq = 0

    def tidy(self, cursor: sqlite3.Cursor, cache: Cache, now: int) -> None:
        """Remove a portion, in the transaction that is open. Twice as many rows are looked at as
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
        """Remove idle rows among as many as that, round and round through the table."""
        for _ in range(2):
            count, end = cursor.execute(END_OF_PORTION, (self.row, portion)).fetchone()
            if count:
                idle = (self.row, end, now)
                for (owner,) in cursor.execute(f"SELECT owner {IDLE}", idle).fetchall():
                    if owner in cache.rows:
                        cache.rows[owner].id = None
                cursor.execute(f"DELETE {IDLE}", idle)
            self.row = end if count == portion else 0
            portion -= count
            if portion == 0:
                return


UNWRITABLE: Final = (OverflowError, UnicodeEncodeError)
UNWRITTEN: Final = ("", 0, -1)
"""What a process has written last where it has written nothing: id, place in the order, time."""


class SqliteStore:
    """State in one file, shared by threads and processes of one host.

    The file is opened at once: `StoreError` says what is wrong with it. Later a batch that cannot
    be carried out raises `StoreLost`; when the trouble is over the store works again by itself.
    What was answered survives the death of the process; when the whole host dies the last answers
    may be lost, though never a part of one.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Callable[[], int] = wall_ms,
        *,
        busy_s: float = 5.0,
        reading: bool = False,
    ) -> None:
        """Open a file, and make it where there is none.

        `busy_s` is how long a batch waits while another process writes. With `reading` the store is
        for looking only: it makes no file and carries nothing out.
        """
        self._clock = clock
        self._reading = reading
        self._link = SqliteLink(Path(os.path.abspath(path)), busy_s, reading)
        self.path: Final = self._link.path
        """The file."""
        self._tidying = Tidying()
        self._track = Track()
        self._wrote: tuple[str, int, int] = UNWRITTEN
        self._last = 0

    @property
    def place(self) -> str:
        """The file, as a name of the store."""
        return f"sqlite:{self._link.path}"

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; `StoreLost` where the file cannot be written."""
        link = self._link
        with link.lock:
            reply = self._carry(batch, link.busy_s)
            if reply is None:
                raise StoreLost(locked(link.path, link.busy_s))
            if self._tidying.batches >= EVERY:
                self._tidy()
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """Carry a batch out at once if nobody else is at it; otherwise a thread waits, and the loop
        does not."""
        reply = self.carry_at_once(batch)
        if reply is not None:
            return reply
        from asyncio import to_thread

        return await to_thread(self.carry, batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        last, _ = self._times()
        if key == CLOCK:
            return last, None
        for _, cells in self._link.rows(ROW, (owner_of(key),), owned):
            cell = cells.get(key)
            if cell is not None and cell[TOUCHED] + cell[KEEP] > last:
                return cell[NUMBER], value_of(cell)
        return 0, None

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so, in the order of their keys; one that is not swept yet is
        left out."""
        last, now = self._times()
        tenant, brace, name = prefix.partition("}")
        shared: list[tuple[str, Cell]] = []
        if any(begins.startswith(name[: len(begins)]) for begins in SHARED):
            shared = sorted(self._found(f"@{tenant}{brace}", prefix, shared=True))
        for key, cell in merge(shared, self._found(prefix, prefix, shared=False)):
            if cell[TOUCHED] + cell[KEEP] > last:
                yield seen(key, cell, now)

    def _found(self, owners: str, prefix: str, shared: bool) -> Iterator[tuple[str, Cell]]:
        """Cells whose keys begin so in the rows of the owners that do; either those that have a row
        to themselves or the others."""
        start = owners
        while True:
            portion = self._link.rows(ROWS_FROM, (start, PORTION), owned)
            for owner, found in portion:
                if not owner.startswith(owners):
                    return
                for key, cell in found.items():
                    if key.startswith(prefix) and (key != owner) == shared:
                        yield key, cell
            if len(portion) < PORTION:
                return
            start = portion[-1][0] + "\0"

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        _, now = self._times()
        after = (-1, 0, 0)
        while True:
            found = self._link.rows(HOLDS_FROM, (*after, PORTION), held_of)
            for *held, hold_id, seq in found:
                yield open_hold(hold_id, held, now)
                after = (held[0], held[3], seq)
            if len(found) < PORTION:
                return

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold with that id; `None` where it is settled, or unknown."""
        _, now = self._times()
        each = self._link.rows(HOLD, (hold_id,), held_of)
        return open_hold(hold_id, each[0], now) if each else None

    def _times(self) -> tuple[int, int]:
        """The time of the newest answer in the file, and the time now."""
        clock, _, at, _ = self._link.rows(NEWEST, ())[0]
        last = int(clock if at is None else max(clock, at))
        return last, max(self._clock(), last)

    def close(self) -> None:
        """Close the file."""
        self._link.close()

    def carry_at_once(self, batch: Batch) -> Reply | None:
        """Carry a batch out if nobody else is at it; `None` where somebody is."""
        link = self._link
        if link.cursor is None or self._tidying.batches >= EVERY:
            return None
        with link.lock.within(0) as held:
            return self._carry(batch, 0) if held else None

    def _carry(self, batch: Batch, wait_s: float) -> Reply | None:
        """Carry a batch out in one transaction; `None` where others are writing for longer than
        that."""
        link = self._link
        if self._reading:
            raise StoreLost(f"`{link.path}` is open read-only: nothing can be written")
        try:
            cursor = link.begin(wait_s)
            if cursor is None:
                return None
            return self._in_transaction(link, cursor, batch, self._clock())
        except TROUBLES as error:
            link.let_go()
            raise StoreLost(explain(error, link.path, link.busy_s)) from error
        except UNWRITABLE as error:
            link.undo()
            says = (
                f"batch {batch.id!a} has values that the file cannot store ({error}): use other "
                "names, or smaller amounts"
            )
            raise StoreLost(says) from error

    def _in_transaction(
        self, link: SqliteLink, cursor: sqlite3.Cursor, batch: Batch, now: int
    ) -> Reply:
        version = cursor.execute("PRAGMA data_version").fetchone()[0]
        cache = link.cache
        if cache is None or cache.version != version or cache.left <= 0:
            cache = link.cache = Cache(cursor, version)
            self._last = max(self._last, cache.now)
            if self._lacks(cursor, cache):
                cache.left = 0
                self._lose(link, cursor, batch, self._wrote[2])
        if now > self._last:
            self._last = now
        else:
            now = self._last
        state, batch_id = cache.state, batch.id
        if batch_id in state.recent or batch_id in state.holds or batch_id in state.older:
            cursor.execute("ROLLBACK")
            return carry_out(state, batch, now)
        for key in cache.load(cursor, batch, now):
            if key not in state.cells and self._track.knows(key, now):
                self._lose(link, cursor, batch, self._wrote[2])
        reply = carry_out(state, batch, now)
        if reply.stale:
            first = _first_answer(cursor, batch)
            if first is not None:
                link.undo()
                return first
            reply = unpacked(reply)
        try:
            self._tidying.added += cache.write(cursor, batch, reply, now)
        except sqlite3.IntegrityError:
            link.undo()
            first = _first_answer(cursor, batch)
            if first is None:
                raise
            return first
        cursor.execute("COMMIT")
        self._tidying.batches += 1
        if not reply.stale:
            self._wrote = (batch.id, cache.seq, now)
        return self._track.keep(batch, reply)

    def _lacks(self, cursor: sqlite3.Cursor, cache: Cache) -> bool:
        """Whether the file no longer has what this process wrote last. So it is where another file,
        or an older copy, was put in its place; a file that is only written on is not read anew."""
        batch_id, seq, _ = self._wrote
        return (
            batch_id != ""
            and cache.seq - seq < REMEMBERED
            and cursor.execute(BATCH, (batch_id,)).fetchone() is None
        )

    def _lose(self, link: SqliteLink, cursor: sqlite3.Cursor, batch: Batch, since: int) -> None:
        """Take nothing from a file that has lost what it held, unless an operator has said to go on
        with it."""
        if not batch.lines or batch.lines[0].key == EPOCH:
            return
        row = cursor.execute(ROW, (EPOCH,)).fetchone()
        cell = None if row is None else owned(*row)[1].get(EPOCH)
        epoch = (0, None) if cell is None else (cell[NUMBER], value_of(cell))

        def tell(lost: Batch) -> None:
            link.undo()
            self._carry(lost, link.busy_s)

        try:
            self._track.lose(since, epoch, self.place, tell)
        except StoreForgot:
            link.undo()
            raise
        self._wrote = UNWRITTEN

    def _tidy(self) -> None:
        """Remove what nobody needs and fold the log into the file; what fails here is tried again
        later."""
        link, tidying = self._link, self._tidying
        tidying.batches = 0
        try:
            cursor, cache = link.begin(0), link.cache
            if cursor is None:
                return
            if cache is None:  # nothing is known of the file yet, or it is another one by now
                link.undo()
                return
            tidying.tidy(cursor, cache, self._last)
            cursor.execute("COMMIT")
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except (sqlite3.Error, StoreLost):
            link.let_go()


def _first_answer(cursor: sqlite3.Cursor, batch: Batch) -> Reply | None:
    """The answer to a batch with that id that was carried out before this cache began."""
    row = cursor.execute(BATCH, (batch.id,)).fetchone()
    return None if row is None else unpack_reply(row[3])
