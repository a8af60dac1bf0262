"""Rows and what they stand for: the cells of an owner, a batch with its answer and what it still
holds."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.cells import Cell
from stanchion.kernel.holds import Taken
from stanchion.kernel.state import Fresh, Reply, as_text

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
