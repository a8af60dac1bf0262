"""Rows and what they stand for: a cell, a batch with its answer and what it still holds."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.cells import BODY, BUCKET, Cell
from stanchion.kernel.holds import Taken
from stanchion.kernel.state import Fresh, Reply

pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder().decode
unpack_reply: Final = typed.unpacker(Reply).decode
unpack_taken: Final = msgspec.msgpack.Decoder(list[tuple[str, int, bool, int, int]]).decode

CELLS: Final = (
    "SELECT id, key, number, body, bucket, live, touched, keep, width FROM cell WHERE "
    "key IN (?, ?, ?, ?, ?, ?, ?, ?)"
)
AT_ONCE: Final = 8
"""How many keys one of those asks for."""

CELL: Final = (
    "SELECT id, key, number, body, bucket, live, touched, keep, width FROM cell WHERE key = ?"
)
CELLS_FROM: Final = (
    "SELECT id, key, number, body, bucket, live, touched, keep, width FROM cell "
    "WHERE key >= ? ORDER BY key LIMIT ?"
)
HOLDS_FROM: Final = (
    "SELECT id, status, taken, reply, due, seq FROM batch"
    " WHERE status IS NOT NULL AND (status, due, seq) > (?, ?, ?) ORDER BY status, due, seq LIMIT ?"
)
HOLDS_DUE: Final = (
    "SELECT id, status, taken, reply, due FROM batch WHERE status = 0 AND due <= ? ORDER BY due"
)
BATCH: Final = "SELECT id, status, taken, reply, due FROM batch WHERE id = ?"
NEXT_DUE: Final = "SELECT min(due) FROM batch WHERE status = 0 AND due > ?"
NEWEST: Final = (
    "SELECT (SELECT ms FROM clock), seq, at, (SELECT min(due) FROM batch WHERE status = 0), "
    "(SELECT max(id) FROM cell)"
    " FROM (SELECT 1) LEFT JOIN (SELECT seq, at FROM batch ORDER BY seq DESC LIMIT 1)"
)


def cell_of(row: tuple[Any, ...]) -> Cell:
    """The cell of a row."""
    _id, _key, number, body, bucket, live, touched, keep, width = row
    return [number, {} if body is None else unpack(body), bucket, live, touched, keep, width]


def kept_of(row: tuple[Any, ...]) -> Cell:
    """The cell of a row, as a cache keeps it; its value was read once, so that it is known to be
    one."""
    cell = cell_of(row)
    if cell[BUCKET] is None:
        cell[BODY] = pack(cell[BODY])
    return cell


def unpacked(reply: Reply) -> Reply:
    """An answer that names cells of a cache, with the values of records as anybody reads them
    back."""
    fresh = [
        one if one.value is None else Fresh(one.key, one.number, unpack(one.value))
        for one in reply.fresh
    ]
    return msgspec.structs.replace(reply, fresh=tuple(fresh))


def held_of(status: int, taken: bytes, reply: bytes, due: int) -> list[Any]:
    """The hold of a batch's row, as `kernel.holds` keeps it."""
    took: Taken = unpack_taken(taken)
    return [status, took, unpack_reply(reply), due]
