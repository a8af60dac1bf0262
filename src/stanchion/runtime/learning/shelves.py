"""Where experience is kept: beside the store that a shield has, or that a command names."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.locks import Lock
from stanchion.stores.experience.memory import MemoryShelf

SQLITE: Final = "sqlite:"
POSTGRES: Final = "postgresql:"
CONNECTIONS: Final = 2

_lock = Lock()
_memory: WeakKeyDictionary[Any, tuple[str, MemoryShelf]] = WeakKeyDictionary()
_numbers: Final = count(1)


def place_of(store: Any) -> str:
    """What a store is called in this process, so that shields on the same store share what they
    know."""
    place = getattr(store, "place", "")
    return place if isinstance(place, str) and place else _in_memory(store)[0]


def shelf_of(store: Any, reading: bool = False) -> Shelf:
    """The shelf beside a store. One that is nowhere, or of a kind that we do not know, has its own
    in memory."""
    inner = getattr(store, "inner", store)
    place = getattr(inner, "place", "")
    if not isinstance(place, str) or not place:
        return _in_memory(store)[1]
    if place.startswith(SQLITE):
        from stanchion.stores.experience.sqlite import SqliteShelf, beside

        return SqliteShelf(beside(Path(place.removeprefix(SQLITE))), reading)
    if place.startswith(POSTGRES) and hasattr(inner, "conninfo"):
        from stanchion.audit.errors import TrailError
        from stanchion.audit.postgres.experience import PostgresShelf

        try:
            return PostgresShelf(inner.conninfo, reading=reading)
        except TrailError as error:
            raise ShelfError(str(error)) from None
    if hasattr(inner, "address") and hasattr(inner, "prefix"):
        from stanchion.stores.experience.redis import RedisShelf
        from stanchion.stores.redis.pool import RedisPool

        return RedisShelf(RedisPool(inner.address, inner.timeout_s, CONNECTIONS), inner.prefix)
    return _in_memory(store)[1]


def _in_memory(store: Any) -> tuple[str, MemoryShelf]:
    with _lock:
        known = _memory.get(store)
        if known is None:
            known = _memory[store] = (f"memory {next(_numbers)}", MemoryShelf())
        return known
