"""`stanchion audit tail`: the newest records, and with `--follow` those that come."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from typing import Final

from stanchion.audit.export import line_of
from stanchion.audit.reader import FoundRecord, Source, TrailReader, WantedRecords
from stanchion.cli.auditing.choice import wanted_of
from stanchion.cli.progress import progress, records
from stanchion.cli.record_line import Lines
from stanchion.cli.terminal import Terminal, put_lines
from stanchion.cli.trails import records_in, tell_unread
from stanchion.kernel.shown import json_safe
from stanchion.ops.views.records import record_view
from stanchion.ops.views.trails import coming, digits_of, newest, unread
from stanchion.stores.memory import wall_ms

SHOWN: Final = 20
EVERY_S: Final = 0.5


def tail(args: argparse.Namespace) -> int:
    """Show the newest records, oldest of them first."""
    wanted = wanted_of(args, wall_ms())
    most = SHOWN if args.lines is None else args.lines
    with records_in(args, empty=bool(args.follow)) as reader:
        show = _json if args.json else _words(digits_of(reader))
        if args.follow:
            follow(reader, wanted, most, show, lambda: time.sleep(EVERY_S))
        show(_newest(reader, wanted, most))
        tell_unread(reader)
    return 0


def _newest(
    reader: Source,
    wanted: WantedRecords,
    most: int,
    behind: Callable[[FoundRecord], bool] = lambda _: True,
) -> list[FoundRecord]:
    with progress("looking", None if isinstance(reader, TrailReader) else records) as told:
        return newest(reader, wanted, most, told, behind)


def follow(
    reader: Source,
    wanted: WantedRecords,
    most: int,
    show: Callable[[Iterable[FoundRecord]], None],
    pause: Callable[[], None],
) -> None:
    """Show the newest records and then those that come, until somebody interrupts."""
    follower = reader.follow()
    show(_newest(reader, wanted, most, follower.is_behind))
    told = tell_unread(reader)
    while True:
        show(coming(follower, wanted))
        if len(unread(reader, follower)) > told:
            told = tell_unread(reader, follower)
        pause()


def _json(records: Iterable[FoundRecord]) -> None:
    sys.stdout.buffer.write(b"".join(json_safe(line_of(found)) for found in records))
    sys.stdout.buffer.flush()


def _words(digits: int) -> Callable[[Iterable[FoundRecord]], None]:
    lines = Lines(Terminal.of_stdout(), digits)

    def show(records: Iterable[FoundRecord]) -> None:
        for found in records:
            put_lines(lines.of(record_view(found)))

    return show
