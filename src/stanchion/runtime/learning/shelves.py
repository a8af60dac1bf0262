"""Where experience is kept: beside the store that a shield has, or that a command names."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from stanchion import typed
from stanchion.audit.errors import TrailError
from stanchion.experience.incident import DAY_MS, Incident, line_of
from stanchion.experience.shelf import PORTION, Shelf, ShelfError
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
        from stanchion.audit.postgres.experience import PostgresShelf

        try:
            return PostgresShelf(inner.conninfo, reading=reading)
        except TrailError as error:
            raise ShelfError(str(error)) from None
    if hasattr(inner, "address") and hasattr(inner, "prefix"):
        from stanchion.stores.experience.redis import RedisShelf
        from stanchion.stores.redis.pool import Pool

        return RedisShelf(Pool(inner.address, inner.timeout_s, CONNECTIONS), inner.prefix)
    return _in_memory(store)[1]


def _in_memory(store: Any) -> tuple[str, MemoryShelf]:
    with _lock:
        known = _memory.get(store)
        if known is None:
            known = _memory[store] = (f"memory {next(_numbers)}", MemoryShelf())
        return known


FAR: Final = 1 << 47
"""A time that nothing happens after."""
PRACTICES: Final = 10_000
"""How many practices leave at a time."""
TAIL: Final = 64 * 1024 * 1024
"""How much of an archive is read at the most to know what its last portion was."""

Save = Callable[[list[Incident]], None]


class IncidentRetention(NamedTuple):
    """What stays: incidents of so many days, and so many of them at the most."""

    days: int
    rows: int


class LeftIncidents(NamedTuple):
    """How much has left: incidents, and practices that nobody has used for as long."""

    incidents: int
    practices: int


def prune(
    shelf: Shelf, keep: IncidentRetention, now_ms: int, archive: Path | None = None
) -> LeftIncidents:
    """Have incidents leave that are too old or too many, the oldest first. With an `archive` they
    are appended to it and are on the disk before they leave, so that nothing is lost wherever this
    is interrupted. Counters stay."""
    before_ms = now_ms - keep.days * DAY_MS
    if archive is None:
        gone = _until_none(lambda: shelf.forget_before(before_ms, PORTION))
        gone += _beyond(shelf, keep.rows, lambda _: None)
    else:
        with Archive(archive) as file:
            gone = _saved(shelf, before_ms, file.save)
            gone += _beyond(shelf, keep.rows, file.save)
    return LeftIncidents(gone, _until_none(lambda: shelf.forget_practices(before_ms, PRACTICES)))


def _saved(shelf: Shelf, before_ms: int, save: Save) -> int:
    gone = 0
    while old := shelf.oldest(before_ms, PORTION):
        save(old)
        gone += shelf.forget(old)
    return gone


def _beyond(shelf: Shelf, rows: int, save: Save) -> int:
    gone, excess = 0, shelf.count() - rows
    while gone < excess and (old := shelf.oldest(FAR, min(PORTION, excess - gone))):
        save(old)
        gone += max(1, shelf.forget(old))
    return gone


def _until_none(forget: Callable[[], int]) -> int:
    gone = 0
    while more := forget():
        gone += more
    return gone


class Archive:
    """A file of JSON lines that is only added to. A line that was torn when somebody was
    interrupted is taken away: it had not left the store. What the last portion holds is not written
    twice."""

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        self._file: Final = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if new:
            _sync_folder(path.parent)
        self._last: Final = self._mended()

    def save(self, incidents: list[Incident]) -> None:
        """Add incidents, and wait until they are on the disk."""
        data = b"".join([line_of(one) for one in incidents if one.id not in self._last])
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        os.fsync(self._file)

    def _mended(self) -> frozenset[str]:
        size = os.fstat(self._file).st_size
        start = max(0, size - TAIL)
        tail = os.pread(self._file, size - start, start)
        whole = tail.rfind(b"\n") + 1
        if whole < len(tail):
            os.ftruncate(self._file, start + whole)
        lines = tail[:whole].splitlines()[-PORTION:]
        return frozenset([found for line in lines if (found := _id_of(line))])

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        os.close(self._file)


class _Line(msgspec.Struct):
    id: str = ""


def _id_of(line: bytes) -> str:
    try:
        return typed.decode(line, _Line).id
    except msgspec.MsgspecError:
        return ""


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
