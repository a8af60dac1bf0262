"""What a process knows of the file, as a `CellState` to carry batches out on; it holds until
somebody else writes."""

from __future__ import annotations

import heapq
import sqlite3
from collections import deque
from collections.abc import Iterable
from operator import itemgetter
from typing import Annotated, Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.cells import (
    BODY,
    BUCKET,
    KEEP,
    NUMBER,
    TOUCHED,
    UNBOUND,
    WIDTH,
    Cell,
    CellState,
    Dirty,
)
from stanchion.kernel.holds import HELD, Taken
from stanchion.kernel.state import FOREVER, Batch, Fresh, LiveRecord, Reply, as_text

# Rows and what they stand for: the cells of an owner, a batch with its answer and what it still
# holds.

pack: Final = msgspec.msgpack.Encoder(enc_hook=as_text).encode
pack_into: Final = msgspec.msgpack.Encoder().encode_into
unpack: Final = msgspec.msgpack.Decoder().decode
unpack_reply: Final = typed.unpacker(Reply).decode
unpack_taken: Final = msgspec.msgpack.Decoder(list[tuple[str, int, bool, int, int]]).decode
cells_of: Final = typed.unpacker(
    list[tuple[str, Annotated[Cell, msgspec.Meta(min_length=7, max_length=7)]]]
).decode
"""The cells of a row, with their keys."""

SHARED: Final = ("errors:", "health:", "loops:", "reliability:", "steps:")
"""How cells begin, behind their tenant, that may have a row together with others."""

ROWS: Final = "SELECT id, owner, cells FROM kept WHERE owner IN (?, ?, ?, ?, ?, ?, ?, ?)"
AT_ONCE: Final = 8
"""How many owners one of those asks for."""

ROW: Final = "SELECT owner, cells FROM kept WHERE owner = ?"
ROWS_FROM: Final = "SELECT owner, cells FROM kept WHERE owner >= ? ORDER BY owner LIMIT ?"
HOLDS_FROM: Final = (
    "SELECT status, taken, reply, due, id, seq FROM batch"
    " WHERE status IS NOT NULL AND (status, due, seq) > (?, ?, ?) ORDER BY status, due, seq LIMIT ?"
)
HOLD: Final = "SELECT status, taken, reply, due FROM batch WHERE id = ? AND status IS NOT NULL"
HOLDS_DUE: Final = (
    "SELECT id, status, taken, reply, due FROM batch WHERE status = 0 AND due <= ? ORDER BY due"
)
BATCH: Final = "SELECT id, status, taken, reply, due FROM batch WHERE id = ?"
NEXT_DUE: Final = "SELECT min(due) FROM batch WHERE status = 0 AND due > ?"
NEWEST: Final = (
    "SELECT (SELECT ms FROM clock), seq, at, (SELECT min(due) FROM batch WHERE status = 0)"
    " FROM (SELECT 1) LEFT JOIN (SELECT seq, at FROM batch ORDER BY seq DESC LIMIT 1)"
)


def owner_of(key: str) -> str:
    """Whose row a cell is in: what every decision writes of a run, or of a tool, is in one row, so
    that it is written at once. Any other cell has a row to itself. No owner has more cells than a
    policy has guards, however many names an agent invents."""
    tenant, _, name = key.partition("}")
    match name.split(":"):
        case [("errors" | "loops" | "steps"), *_, "run", run]:
            return f"@{tenant}}}run:{run}"
        case ["errors", "tool", tool] | ["health", tool] | ["reliability", tool, _]:
            return f"@{tenant}}}tool:{tool}"
        case _:
            return key


def owned(owner: str, packed: bytes) -> tuple[str, dict[str, Cell]]:
    """The owner of a row, and its cells by their keys."""
    return owner, dict(cells_of(packed))


def unpacked(reply: Reply) -> Reply:
    """An answer that names cells of a cache, with the values of records as anybody reads them
    back."""
    fresh = [
        one if one.value is None else Fresh(one.key, one.number, unpack(one.value))
        for one in reply.fresh
    ]
    return msgspec.structs.replace(reply, fresh=tuple(fresh))


def held_of(status: int, taken: bytes, reply: bytes, due: int, *rest: Any) -> list[Any]:
    """The hold of a batch's row, as `kernel.holds` keeps it; then whatever else is in the row."""
    took: Taken = unpack_taken(taken)
    return [status, took, unpack_reply(reply), due, *rest]


MOST_CELLS: Final = 20_000
MOST_BATCHES: Final = 50_000
"""A cache that knows more cells, or served more batches, is dropped: what is needed is read
again."""

CHANGE: Final = "UPDATE kept SET until = ?, cells = ? WHERE id = ?"
ADD: Final = "INSERT INTO kept (until, cells, owner) VALUES (?, ?, ?)"
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

_key: Final = itemgetter(0)

LOADED: Final = -1
"""The queue of holds that were read from the file; no hold lasts that long."""


class KeptRow:
    """A row of the file that was looked for: its number, if there is one, and the keys of which
    a cell is in it, or would be."""

    __slots__ = ("id", "keys", "owner")

    def __init__(self, owner: str) -> None:
        self.id: int | None = None
        self.owner = owner
        self.keys: list[str] = []

    def packed(self, cells: dict[str, Cell]) -> tuple[int, bytearray]:
        """What is written of it: until when it is kept, 0 where it has no cells, and these."""
        kept, longest = [], 0
        for key in self.keys:
            cell = cells.get(key)
            if cell is None:
                continue
            if cell[BUCKET] is None:
                # What is known of a record is from now on what anybody reads back, no longer the
                # caller's object.
                if type(body := cell[BODY]) is not msgspec.Raw:
                    plain = body.text() if isinstance(body, LiveRecord) else body
                    cell[BODY] = msgspec.Raw(pack(plain))
            elif cell[KEEP] < 0:
                if not cell[NUMBER]:
                    continue  # nobody wrote to it: as good as none
                cell = [*cell[:KEEP], -cell[KEEP], cell[WIDTH]]
            kept.append((key, cell))
            until = cell[TOUCHED] + cell[KEEP]
            if until > longest:
                longest = until
        written = (
            bytearray()
        )  # SQLite's module looks first whether there is another form of `bytes`
        pack_into(kept, written)
        return longest, written


class Cache:
    """A part of the file: `rows` are those that were read, by owner, `known` the same by the keys
    that were asked for.

    Values of records are in its cells as they are in the file, packed; most are written many times
    before anybody asks for one. Only what a batch has put, and is not written yet, is the caller's
    object.
    """

    def __init__(self, cursor: sqlite3.Cursor, version: int) -> None:
        self.version = version
        self.state = CellState()
        self.dirty = self.state.dirty = Dirty()
        self.known: dict[str, KeptRow] = {}
        self.rows: dict[str, KeptRow] = {}
        self.left = MOST_BATCHES
        """For how many batches more it is good."""
        clock, seq, at, due = cursor.execute(NEWEST).fetchone()
        self.seq: int = 0 if seq is None else seq
        self.now: int = clock if at is None else max(clock, at)
        self.due: int = FOREVER if due is None else due

    def load(self, cursor: sqlite3.Cursor, batch: Batch, now: int) -> list[str]:
        """Read what a batch touches and is not known yet: cells, the holds it settles, holds that
        are due. Gives the keys that were read."""
        self.left -= 1
        state, known, lines = self.state, self.known, batch.lines
        wanted: list[str] = []
        for key in map(_key, (*batch.expects, *batch.puts)):
            if key not in known:
                wanted.append(key)
        if state.bound.get(id(lines), UNBOUND).lines is not lines:
            wanted += self._missing(map(_key, lines))
        for hold_id, _ in batch.settles:
            if (
                hold_id not in state.holds
                and hold_id not in state.recent
                and hold_id not in state.older
            ):
                wanted += self._load_batch(cursor, hold_id)
        if now >= self.due:
            wanted += self._load_due(cursor, now)
        if wanted:
            self._load_cells(cursor, wanted, now)
        return wanted

    def _load_batch(self, cursor: sqlite3.Cursor, batch_id: str) -> list[str]:
        """Read a batch that is to be settled; gives the keys it holds something of."""
        row = cursor.execute(BATCH, (batch_id,)).fetchone()
        if row is None:
            return []
        _, status, taken, reply, due = row
        if status is None:
            self.state.recent[batch_id] = unpack_reply(reply)
            return []
        held = self.state.holds[batch_id] = held_of(status, taken, reply, due)
        return self._missing(map(_key, held[1]))

    def _load_due(self, cursor: sqlite3.Cursor, now: int) -> list[str]:
        """Read all holds that are due, for `expire` to find them; gives the keys they hold
        something of."""
        queue = self.state.due.setdefault(LOADED, deque())
        keys: list[str] = []
        for hold_id, status, taken, reply, due in cursor.execute(HOLDS_DUE, (now,)).fetchall():
            if hold_id not in self.state.holds:
                held = self.state.holds[hold_id] = held_of(status, taken, reply, due)
                keys += map(_key, held[1])
            queue.append((due, hold_id))
        (following,) = cursor.execute(NEXT_DUE, (now,)).fetchone()
        self.due = FOREVER if following is None else following
        return self._missing(keys)

    def _missing(self, keys: Iterable[str]) -> list[str]:
        return [key for key in keys if key not in self.known]

    def _load_cells(self, cursor: sqlite3.Cursor, keys: list[str], now: int) -> None:
        """Read cells, and those that share a row with them. One that nobody touched for as long as
        it is kept is absent, whether or not it is swept yet."""
        asked = [(key, owner_of(key)) for key in keys]
        owners = list(dict.fromkeys([owner for _, owner in asked if owner not in self.rows]))
        self.rows |= {owner: KeptRow(owner) for owner in owners}
        for at in range(0, len(owners), AT_ONCE):
            some = owners[at : at + AT_ONCE]
            for row_id, owner, packed in cursor.execute(
                ROWS, (*some, *[None] * (AT_ONCE - len(some)))
            ).fetchall():
                self.rows[owner].id = row_id
                for key, cell in cells_of(packed):
                    self._enter(key, self.rows[owner])
                    until = cell[TOUCHED] + cell[KEEP]
                    if until > now:
                        if cell[BUCKET] is None:
                            cell[BODY] = msgspec.Raw(pack(cell[BODY]))
                        self.state.cells[key] = cell
                        if cell[KEEP] < FOREVER:
                            heapq.heappush(self.state.forget, (until, key))
        for key, owner in asked:
            if key not in self.known:
                self._enter(key, self.rows[owner])
        if len(self.known) > MOST_CELLS:
            self.left = 0

    def _enter(self, key: str, row: KeptRow) -> None:
        self.known[key] = row
        row.keys.append(key)

    def write(self, cursor: sqlite3.Cursor, batch: Batch, reply: Reply, now: int) -> int:
        """Write a batch that was carried out, or what time alone has changed where its answer is
        stale: the rows of the cells that changed, the other batches whose holds did, and the answer
        itself. Gives how many rows of cells are new.

        `sqlite3.IntegrityError`: a batch with that id was carried out before.
        """
        state, dirty, batch_id = self.state, self.dirty, batch.id
        added = 0
        for row in set(map(self.known.__getitem__, dirty.keys)):
            until, cells = row.packed(state.cells)
            if row.id:
                cursor.execute(CHANGE, (until, cells, row.id))
                if cursor.rowcount != 1:
                    raise sqlite3.DatabaseError("rows of cells are gone")
            elif until:
                cursor.execute(ADD, (until, cells, row.owner))
                row.id = cursor.lastrowid
                added += 1
        dirty.keys.clear()
        dirty.ids.discard(batch_id)
        for other in dirty.ids:
            if other in state.holds:
                cursor.execute(LAPSE, (other,))
            elif other in state.recent or other in state.older:
                self.seq += 1
                cursor.execute(SETTLE, (self.seq, now, other))
            else:
                cursor.execute(DROP, (other,))
        dirty.ids.clear()
        if reply.stale:
            # No answer that leaves no other trace may be later than the next one.
            cursor.execute(TELL, (now,))
            return added
        self.seq += 1
        answer = bytearray()
        pack_into(reply, answer)
        held = state.holds.get(batch_id)
        if held is None:
            cursor.execute(ADD_BATCH, (self.seq, batch_id, now, answer))
        else:
            row_of = (self.seq, batch_id, now, answer, HELD, held[3], pack(held[1]))
            cursor.execute(ADD_HOLD, row_of)
        return added
