"""Finding the records that a command is about, in a folder or a database, and one record among
them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from stanchion.audit.layout import chains
from stanchion.audit.reader import Following, RecordSource, TrailReader
from stanchion.cli.command import Args, AsBadInput, BadInput, in_words
from stanchion.cli.printing import Progress, progress, records
from stanchion.cli.terminal import warn
from stanchion.cli.whose import elsewhere, whose
from stanchion.ops.views.amounts import counted
from stanchion.ops.views.trails import URL, is_database, unread
from stanchion.runtime.standing.places import AUDIT, MEMORY, StateFinder, trail_folder


def database_of(given: str | None) -> str | None:
    """The URL of the database that a command is about; `None` where it is about a folder."""
    named = os.environ.get(AUDIT, "") if given is None else given
    return named if is_database(named) else None


def trail_at(given: str | None, found: StateFinder) -> Path:
    """The folder of the trail: the one that was named, or where shields write to."""
    if is_database(given):
        write = "`stanchion audit export --format trail --out DIR` writes one"
        raise BadInput(
            f"`{URL}` is a database, and this command reads the folder of a trail: {write}"
        )
    with AsBadInput(OSError):
        folder = trail_folder(given, os.environ, found)
    if folder is None:
        where = f"{AUDIT} is `{MEMORY}`" if given is None else f"`{MEMORY}` is not a folder"
        raise BadInput(f"there is no trail to read, because {where}: give the folder of one")
    return folder


def reader_of(given: str | None, found: StateFinder) -> TrailReader:
    """A reader of the trail; one that is not there yet, or cannot be read, is bad input."""
    folder = trail_at(given, found)
    try:
        there = bool(chains(folder))
    except OSError as error:
        raise BadInput(
            f"the trail in `{folder}` cannot be read: {in_words(error)}; give the folder of a trail"
        ) from None
    if not there:
        other = elsewhere(found) if given is None and not os.environ.get(AUDIT, "") else ""
        advice = ": give another folder, or have a shield write there first"
        raise BadInput(f"there is no trail in `{folder}` yet{other if other else advice}")
    return TrailReader(folder)


def no_schema(schema: str | None) -> None:
    """Make sure that no schema was named where there is no database."""
    if schema is not None:
        raise BadInput(
            f"`--schema {schema}` is for a database: give one with `--trail URL`, or leave it out"
        )


@contextmanager
def records_in(args: Args, empty: bool = False, store: str | None = None) -> Iterator[RecordSource]:
    """What reads the records that were named, of a folder or a database; where there are none yet
    that is bad input, unless `empty` says that they may come. `store` is the one that was named
    beside them."""
    given, schema, found = args.trail, args.schema, whose(args.project, store)
    url = database_of(given)
    if url is None:
        no_schema(schema)
        yield TrailReader(trail_at(given, found)) if empty else reader_of(given, found)
        return
    from stanchion.audit.postgres.copy_options import SCHEMA, check_driver

    check_driver()
    from stanchion.audit.postgres.reader import DatabaseReader

    reader = DatabaseReader(url, SCHEMA if schema is None else schema)
    try:
        if not empty and not reader.chains():
            raise BadInput(
                f"there are no records in `{reader.name}` yet: give the database that a trail "
                f"was shipped to"
            )
        yield reader
    finally:
        reader.close()


def progress_in(reader: object, what: str) -> AbstractContextManager[Progress | None]:
    """Progress of work on what a reader reads: in bytes, or of a database in records."""
    return progress(what, None if isinstance(reader, TrailReader) else records)


def tell_unread(*readers: RecordSource | Following) -> int:
    """Say how many lines were met that cannot be read, if any; gives how many."""
    count = len(unread(*readers))
    if count:
        lines = counted(count, "line")
        warn(
            f"{lines} of the trail cannot be read and are left out: see `stanchion audit verify`",
        )
    return count
