"""Records in a folder or a database: their newest, one by its name, and how few digits tell their
chains apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from stanchion.audit.anchors import anchors_of
from stanchion.audit.layout import chains
from stanchion.audit.reader import Following, FoundRecord, Progress, RecordSource, WantedRecords
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError
from stanchion.stores.protocol import Store

FEWEST: Final = 4
URL: Final = "postgresql://…"
"""How the URL of a database is called: it may hold a password, which is for no message."""

_PLACE: Final = regex(r"([0-9a-f]{1,16}):(\d{1,18})")


class Ambiguous(StanchionError, ValueError):
    """The digits of a place are the beginning of several chains."""


def is_database(name: str | None) -> bool:
    """Whether a trail's name is the URL of a database."""
    return name is not None and name.lower().startswith(("postgresql://", "postgres://"))


def said(name: str) -> str:
    """A trail's name as it may be repeated."""
    return URL if is_database(name) else name


def anchors_in(store: Store, folder: Path) -> list[tuple[str, int, str]]:
    """What a store has seen of the trail in a folder: chain, number and hash. By that a missing end
    is missed."""
    try:
        there = chains(folder)
    except OSError:
        there = []
    return anchors_of(((cell.key, cell.value) for cell in store.look()), folder, there)


def unread(*readers: RecordSource | Following) -> set[tuple[str, int, int]]:
    """Where lines begin that were met and cannot be read; a database has none."""
    return {place for reader in readers for place in reader.unread}


def digits_of(reader: RecordSource) -> int:
    """How many digits tell the chains apart, and four at least."""
    known = set(reader.chains())
    return next(
        (
            count
            for count in range(FEWEST, 16)
            if len({name[:count] for name in known}) == len(known)
        ),
        16,
    )


def record(reader: RecordSource, name: str, told: Progress | None = None) -> FoundRecord | None:
    """A record by the id of its decision, or by its place, `CHAIN:SEQ`; the newest where several
    have that id."""
    place = _PLACE.fullmatch(name)
    if place is not None:
        fitting = [chain for chain in reader.chains() if chain.startswith(place[1])]
        if len(fitting) > 1:
            raise Ambiguous(f"`{place[1]}` matches {len(fitting)} chains: write more digits of it")
        if fitting:
            return reader.at(fitting[0], int(place[2]))
    return reader.find(name, told)


def newest(
    reader: RecordSource,
    wanted: WantedRecords,
    most: int,
    told: Progress | None = None,
    behind: Callable[[FoundRecord], bool] = lambda _: True,
) -> list[FoundRecord]:
    """The newest records that are wanted, oldest of them first."""
    each = filter(behind, chosen(reader, wanted, told))
    return list(islice(each, most))[::-1]


def chosen(
    reader: RecordSource, wanted: WantedRecords, told: Progress | None = None
) -> Iterator[FoundRecord]:
    """All records that are wanted, newest first."""
    span = (told, wanted.since, wanted.until)
    each = reader.backwards(*span) if wanted.run is None else reader.of_run(wanted.run, *span)
    return filter(lambda one: wanted.has(one.stub), each)


def coming(follower: Following, wanted: WantedRecords) -> Iterable[FoundRecord]:
    """The records that came since it was last asked, as far as they are wanted."""
    return [found for found in follower.new() if wanted.has(found.stub)]
