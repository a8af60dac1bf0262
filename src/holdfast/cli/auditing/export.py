"""`holdfast audit export`: records for other programs, as JSON lines or Parquet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.audit.export import NoParquet, write_jsonl, write_parquet
from holdfast.audit.reading import Found
from holdfast.cli.auditing.choice import wanted_of
from holdfast.cli.progress import progress
from holdfast.cli.terminal import say
from holdfast.cli.trails import reader_of
from holdfast.cli.trouble import BadInput
from holdfast.stores.memory import wall_ms

FORMATS: Final[dict[str, Callable[[Iterable[Found], BinaryIO], int]]] = {"jsonl": write_jsonl, "parquet": write_parquet}


def export(args: argparse.Namespace) -> int:
    """Write the records that are asked for, oldest first."""
    form = _form(args)
    wanted = wanted_of(args, wall_ms())
    reader = reader_of(args.trail)
    printed = args.out is None and sys.stdout.isatty()
    with _sink(args.out, args.force) as sink, progress("exporting") as told:
        each = reader.forwards(None if printed else told)
        records = (found for found in each if wanted.has(found.stub))
        try:
            count = FORMATS[form](records, sink)
        except NoParquet as error:
            raise BadInput(str(error)) from None
    if args.out is not None:
        say(sys.stderr, f"holdfast: {count:,} records are in {args.out}")
    return 0


def _form(args: argparse.Namespace) -> str:
    form = args.format
    if form is None:
        form = "parquet" if args.out is not None and args.out.endswith(".parquet") else "jsonl"
    if form not in FORMATS:
        raise BadInput(f"`--format` is `{form}`: give one of {', '.join(FORMATS)}")
    if form == "parquet" and args.out is None:
        raise BadInput("a Parquet file is nothing to print: name a file with `--out FILE`")
    if args.force and args.out is None:
        raise BadInput("`--force` is for `--out FILE`: name the file, or leave it out")
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
        raise BadInput(_unwritable(out, error)) from None
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
        raise BadInput(f"`{target}` is a folder: name a file in it")
    if target.exists() and not force:
        raise BadInput(f"`{target}` is there already: name another file, or write over it with `--force`")


def _unwritable(out: str, error: OSError) -> str:
    reason = error.strerror.lower() if error.strerror else str(error)
    return f"`{out}` cannot be written: {reason}; name a file that can"
