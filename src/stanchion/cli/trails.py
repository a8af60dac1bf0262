"""Finding the records that a command is about, in a folder or a database, and one record among them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.audit.errors import TrailError
from stanchion.audit.following import Follower
from stanchion.audit.layout import chains, refuse_former
from stanchion.audit.reading import Found, Reader
from stanchion.cli.progress import Told
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.runtime.places import AUDIT, MEMORY, trail_folder
from stanchion.runtime.state_places import Whose

if TYPE_CHECKING:
    from stanchion.audit.postgres.reading import DatabaseFollower, DatabaseReader

CHECKS: Final = "checks"
"""The folder, in that of the state, of the trail that `stanchion check` keeps for `stanchion explain`."""

FEWEST: Final = 4
URL: Final = "postgresql://…"
"""How the URL of a database is called: it may hold a password, which is for no message."""

_PLACE: Final = re.compile(r"([0-9a-f]{1,16}):(\d{1,18})")


def checks_folder(found: Whose) -> Path:
    """Where `stanchion check` keeps what it decides; `OSError` where there is no such place."""
    return found.state.folder / CHECKS


def is_database(name: str | None) -> bool:
    """Whether a trail's name is the URL of a database."""
    return name is not None and name.lower().startswith(("postgresql://", "postgres://"))


def said(name: str) -> str:
    """A trail's name as it may be repeated."""
    return URL if is_database(name) else name


def database_of(given: str | None) -> str | None:
    """The URL of the database that a command is about; `None` where it is about a folder."""
    named = os.environ.get(AUDIT, "") if given is None else given
    return named if is_database(named) else None


def trail_at(given: str | None, found: Whose) -> Path:
    """The folder of the trail: the one that was named, or where shields write to."""
    if is_database(given):
        write = "`stanchion audit export --format trail --out DIR` writes one"
        raise BadInput(f"`{URL}` is a database, and this command reads the folder of a trail: {write}")
    try:
        folder = trail_folder(given, os.environ, found)
    except OSError as error:
        raise BadInput(str(error)) from None
    if folder is None:
        where = f"{AUDIT} is `{MEMORY}`" if given is None else f"`{MEMORY}` is no folder"
        raise BadInput(f"there is no trail to read, because {where}: name the folder of one")
    return folder


def reader_of(given: str | None, found: Whose) -> Reader:
    """A reader of the trail; one that is not there yet, or cannot be read, is bad input."""
    folder = trail_at(given, found)
    try:
        there = bool(chains(folder))
        refuse_former(folder)
    except TrailError as error:
        raise BadInput(str(error)) from None
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else str(error)
        raise BadInput(f"the trail in `{folder}` cannot be read: {reason}; name the folder of a trail") from None
    if not there:
        raise BadInput(f"there is no trail in `{folder}` yet: name another folder, or let a shield write there first")
    return Reader(folder)


def no_schema(schema: str | None) -> None:
    """Make sure that no schema was named where there is no database."""
    if schema is not None:
        raise BadInput(f"`--schema {schema}` is for a database: name one with `--trail URL`, or leave it out")


@contextmanager
def records_in(
    given: str | None, found: Whose, schema: str | None, empty: bool = False
) -> Iterator[Reader | DatabaseReader]:
    """What reads the records that were named, of a folder or a database; where there are none yet that is bad input,
    unless `empty` says that they may come."""
    url = database_of(given)
    if url is None:
        no_schema(schema)
        yield Reader(trail_at(given, found)) if empty else reader_of(given, found)
        return
    from stanchion.audit.postgres.driver import check_driver
    from stanchion.audit.postgres.shipping import SCHEMA

    try:
        check_driver()
        from stanchion.audit.postgres.reading import DatabaseReader

        reader = DatabaseReader(url, SCHEMA if schema is None else schema)
        try:
            if not empty and not reader.chains():
                raise BadInput(f"there are no records in `{reader.name}` yet: name what a trail was shipped to")
            yield reader
        finally:
            reader.close()
    except TrailError as error:
        raise BadInput(str(error)) from None


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
    from stanchion.audit.postgres.reading import DatabaseFollower

    return DatabaseFollower(reader)


def tell_unread(*readers: object) -> int:
    """Say how many lines were met that cannot be read, if any; gives how many."""
    count = len(met(*readers))
    if count:
        lines = "1 line" if count == 1 else f"{count:,} lines"
        say(sys.stderr, f"stanchion: {lines} of the trail cannot be read, and left out: see `stanchion audit verify`")
    return count


def met(*readers: object) -> set[tuple[str, int, int]]:
    """Where lines begin that were met and cannot be read; a database has none."""
    return {place for reader in readers if isinstance(reader, Reader | Follower) for place in reader.unread}


def digits_of(folder: Path) -> int:
    """How many digits tell the chains of a trail apart, and four at least."""
    return digits_among(chains(folder))


def digits_among(names: Iterable[str]) -> int:
    """How many digits tell some chains apart, and four at least."""
    known = set(names)
    return next((count for count in range(FEWEST, 16) if len({name[:count] for name in known}) == len(known)), 16)


def place_of(found: Found, digits: int) -> str:
    """A record's place, short enough to type: the first digits of its chain, and its number there."""
    return f"{found.chain[:digits]}:{found.stub.seq}"


def record(reader: Reader | DatabaseReader, name: str, told: Told | None = None) -> Found | None:
    """A record by the id of its decision, or by its place, `CHAIN:SEQ`; the newest where several have that id."""
    place = _PLACE.fullmatch(name)
    if place is not None:
        fitting = [chain for chain in chains_of(reader) if chain.startswith(place[1])]
        if len(fitting) > 1:
            raise BadInput(f"`{place[1]}` is the beginning of {len(fitting)} chains: write more digits of it")
        if fitting:
            return reader.at(fitting[0], int(place[2]))
    return reader.find(name, told) if isinstance(reader, Reader) else reader.find(name)
