"""Records in a folder or a database: their newest, one by its name, and how few digits tell their
chains apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.audit.anchors import anchors_of
from stanchion.audit.layout import chains
from stanchion.audit.reader import Follower, Found, Progress, Reader, Wanted
from stanchion.audit.verifying.heads import head_file
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError
from stanchion.stores.protocol import Store

if TYPE_CHECKING:
    from stanchion.audit.postgres.reader import DatabaseFollower, DatabaseReader

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


def chains_of(reader: Reader | DatabaseReader) -> list[str]:
    """The names of all chains."""
    return chains(reader.folder) if isinstance(reader, Reader) else reader.chains()


def name_of(reader: Reader | DatabaseReader) -> str:
    """Where the records are, for people."""
    return str(reader.folder) if isinstance(reader, Reader) else reader.name


def follower_of(reader: Reader | DatabaseReader) -> Follower | DatabaseFollower:
    """What sees the records that come."""
    if isinstance(reader, Reader):
        return Follower(reader.folder)
    from stanchion.audit.postgres.reader import DatabaseFollower

    return DatabaseFollower(reader)


def heads_of(reader: Reader | DatabaseReader) -> Iterator[tuple[str, bytes]]:
    """Each chain and its head as it was written; nothing where it has none that can be read."""
    if not isinstance(reader, Reader):
        yield from ((name, head.encode()) for name, head in reader.heads().items())
        return
    for name in chains(reader.folder):
        # Whoever watches may be another user: no link is followed, and nothing is waited for.
        found = head_file(reader.folder / name)
        yield name, b"" if found.raw is None or found.head is None else found.raw.rstrip(b"\n")


def anchors_in(store: Store, folder: Path) -> list[tuple[str, int, str]]:
    """What a store has seen of the trail in a folder: chain, number and hash. By that a missing end
    is missed."""
    try:
        there = chains(folder)
    except OSError:
        there = []
    return anchors_of(((cell.key, cell.value) for cell in store.look()), folder, there)


def unread(*readers: object) -> set[tuple[str, int, int]]:
    """Where lines begin that were met and cannot be read; a database has none."""
    return {
        place
        for reader in readers
        if isinstance(reader, Reader | Follower)
        for place in reader.unread
    }


def digits_of(reader: Reader | DatabaseReader) -> int:
    """How many digits tell the chains apart, and four at least."""
    known = set(chains_of(reader))
    return next(
        (
            count
            for count in range(FEWEST, 16)
            if len({name[:count] for name in known}) == len(known)
        ),
        16,
    )


def record(
    reader: Reader | DatabaseReader, name: str, told: Progress | None = None
) -> Found | None:
    """A record by the id of its decision, or by its place, `CHAIN:SEQ`; the newest where several
    have that id."""
    place = _PLACE.fullmatch(name)
    if place is not None:
        fitting = [chain for chain in chains_of(reader) if chain.startswith(place[1])]
        if len(fitting) > 1:
            raise Ambiguous(f"`{place[1]}` matches {len(fitting)} chains: write more digits of it")
        if fitting:
            return reader.at(fitting[0], int(place[2]))
    return reader.find(name, told) if isinstance(reader, Reader) else reader.find(name)


def newest(
    reader: Reader | DatabaseReader,
    wanted: Wanted,
    most: int,
    told: Progress | None = None,
    behind: Callable[[Found], bool] = lambda _: True,
) -> list[Found]:
    """The newest records that are wanted, oldest of them first."""
    each = filter(behind, chosen(reader, wanted, told))
    return list(islice(each, most))[::-1]


def chosen(
    reader: Reader | DatabaseReader, wanted: Wanted, told: Progress | None = None
) -> Iterator[Found]:
    """All records that are wanted, newest first."""
    return (one for one in _backwards(reader, wanted, told) if wanted.has(one.stub))


def coming(follower: Follower | DatabaseFollower, wanted: Wanted) -> Iterable[Found]:
    """The records that came since it was last asked, as far as they are wanted."""
    return [found for found in follower.new() if wanted.has(found.stub)]


def _backwards(
    reader: Reader | DatabaseReader, wanted: Wanted, told: Progress | None
) -> Iterator[Found]:
    if isinstance(reader, Reader):
        return reader.backwards(told) if wanted.run is None else reader.of_run(wanted.run, told)
    span = (told, wanted.since, wanted.until)
    return reader.backwards(*span) if wanted.run is None else reader.of_run(wanted.run, *span)
