"""What the server's function says, as a reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.kernel.state import Fresh, Reply
from stanchion.stores.postgres import wire

unpack: Final = msgspec.msgpack.Decoder().decode

STALE: Final = 2
FORGOT: Final = 3
SETTLED: Final = ("settled", "again", "late", "unknown")


def reply_of(sent: bytes, names: Callable[[], list[str]]) -> Reply | None:
    """The reply, `None` where the server lacks what it must know. `names` gives the keys that the
    numbers of a stale one stand for."""
    row = wire.read_row(sent)
    said = wire.read_numbers(row[0] or b"")
    if said[1] == STALE:
        return _stale(said, row[1], names())
    if said[1] == FORGOT:
        return None
    count = said[2]
    values = said[4 : 4 + count]
    end = 4 + count
    actions: tuple[int, ...] = ()
    if said[3]:
        actions = said[end : end + count]
        end += count
    return Reply(
        said[0], False, said[1] == 1, values, actions, tuple([SETTLED[code] for code in said[end:]])
    )


def _stale(said: tuple[int, ...], sent: bytes | None, names: list[str]) -> Reply:
    values = [None if value is None else unpack(value) for value in wire.read_elements(sent or b"")]
    cells = zip(said[2::2], said[3::2], values, strict=True)
    return Reply(
        said[0],
        True,
        fresh=tuple([Fresh(names[place], number, value) for place, number, value in cells]),
    )


def value_of(sent: bytes | None) -> Any:
    """A record's value; a counter has none."""
    return None if sent is None else unpack(sent)
