"""`stanchion audit export`: records for other programs, as JSON lines or Parquet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from stanchion.audit.errors import TrailError
from stanchion.audit.export import NoParquet, write_jsonl, write_parquet
from stanchion.audit.reader import FoundRecord, TrailReader, WantedRecords
from stanchion.cli.auditing.choice import wanted_of
from stanchion.cli.progress import progress, records
from stanchion.cli.terminal import say
from stanchion.cli.trails import database_of, no_schema, records_in, tell_unread, trail_at
from stanchion.cli.trouble import AsBadInput, BadInput, in_words
from stanchion.cli.whose import whose
from stanchion.stores.memory import wall_ms

FORMATS: Final[dict[str, Callable[[Iterable[FoundRecord], BinaryIO], int]]] = {
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}
TRAIL: Final = "trail"
"""The format that is a trail again; only a database has to be written back."""


def export(args: argparse.Namespace) -> int:
    """Write the records that are asked for, oldest first."""
    form = _form(args)
    wanted = wanted_of(args, wall_ms())
    if form == TRAIL:
        return _write_back(args, wanted)
    printed = args.out is None and sys.stdout.isatty()
    with (
        records_in(args) as reader,
        _sink(args.out, args.force) as sink,
        progress("exporting", None if isinstance(reader, TrailReader) else records) as told,
    ):
        heard = None if printed else told
        each = reader.forwards(heard, wanted.since, wanted.until)
        with AsBadInput(NoParquet):
            count = FORMATS[form]((found for found in each if wanted.has(found.stub)), sink)
        tell_unread(reader)
    if args.out is not None:
        say(sys.stderr, f"stanchion: {count:,} records are in {args.out}")
    return 0


def _write_back(args: argparse.Namespace, wanted: WantedRecords) -> int:
    """Write the records of a database into a folder, which is then a trail, byte for byte."""
    url = database_of(args.trail)
    if url is None:
        no_schema(args.schema)
        folder = trail_at(args.trail, whose(args.project))
        raise BadInput(f"`{folder}` is already the folder of a trail: copy it, or give a database")
    if wanted != WantedRecords():
        raise BadInput(
            "a trail can only be exported as a whole, because its records are chained: leave the "
            "filters out"
        )
    from stanchion.audit.postgres import export_trail
    from stanchion.audit.postgres.shipment import SCHEMA

    with AsBadInput(TrailError), progress("exporting", records) as told:
        done = export_trail(
            url, Path(args.out), SCHEMA if args.schema is None else args.schema, told
        )
    said = (
        f"{records(done.records)} of {len(done.chains):,} "
        f"{'chain' if len(done.chains) == 1 else 'chains'}"
    )
    say(sys.stderr, f"stanchion: {said} are in {args.out}: see `stanchion audit verify {args.out}`")
    return 0


def _form(args: argparse.Namespace) -> str:
    form = args.format
    if form is None:
        form = "parquet" if args.out is not None and args.out.endswith(".parquet") else "jsonl"
    if form not in (*FORMATS, TRAIL):
        raise BadInput(f"`--format` is `{form}`: give one of {', '.join((*FORMATS, TRAIL))}")
    if form == TRAIL and (args.out is None or args.force):
        raise BadInput(
            "a trail is a folder: give a new or an empty one with `--out DIR`, without `--force`"
        )
    if form == "parquet" and args.out is None:
        raise BadInput("a Parquet file cannot be printed: give a file with `--out FILE`")
    if args.force and args.out is None:
        raise BadInput("`--force` needs `--out FILE`: give the file, or leave `--force` out")
    return str(form)


@contextmanager
def _sink(out: str | None, force: bool) -> Iterator[BinaryIO]:
    """Where to write: standard output, or a file that gets its name when it is whole."""
    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(out)
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    _refuse(target, force)
    try:
        sink = new.open("xb")
    except OSError as error:
        raise BadInput(f"`{out}` cannot be written: {in_words(error)}; use another file") from None
    try:
        with sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        _refuse(target, force)
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _refuse(target: Path, force: bool) -> None:
    if target.is_dir():
        raise BadInput(f"`{target}` is a folder: give a file in it")
    if target.exists() and not force:
        raise BadInput(
            f"`{target}` already exists: use another file, or overwrite it with `--force`"
        )
