"""`holdfast audit tail`: the newest records, and with `--follow` those that come."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from holdfast.audit.choosing import Wanted
from holdfast.audit.export import line_of
from holdfast.audit.following import Follower
from holdfast.audit.reading import Found, Reader
from holdfast.cli.auditing.choice import wanted_of
from holdfast.cli.progress import progress
from holdfast.cli.record_line import Lines
from holdfast.cli.terminal import Terminal, put
from holdfast.cli.trails import digits_of, reader_of, trail_at
from holdfast.stores.memory import wall_ms

SHOWN: Final = 20
EVERY_S: Final = 0.5


def tail(args: argparse.Namespace) -> int:
    """Show the newest records, oldest of them first."""
    wanted = wanted_of(args, wall_ms())
    most = SHOWN if args.lines is None else args.lines
    reader = Reader(trail_at(args.trail)) if args.follow else reader_of(args.trail)
    show = _json if args.json else _words(digits_of(reader.folder))
    if args.follow:
        follow(reader, wanted, most, show, lambda: time.sleep(EVERY_S))
    show(newest(reader, wanted, most))
    return 0


def newest(reader: Reader, wanted: Wanted, most: int, behind: Callable[[Found], bool] = lambda _: True) -> list[Found]:
    """The newest records that are wanted, oldest of them first."""
    with progress("looking") as told:
        each = reader.backwards(told) if wanted.run is None else reader.of_run(wanted.run, told)
        found = list(islice((one for one in each if wanted.has(one.stub) and behind(one)), most))
    return found[::-1]


def follow(
    reader: Reader, wanted: Wanted, most: int, show: Callable[[Iterable[Found]], None], pause: Callable[[], None]
) -> None:
    """Show the newest records and then those that come, until somebody interrupts."""
    follower = Follower(reader.folder)
    show(newest(reader, wanted, most, follower.is_behind))
    while True:
        show([found for found in follower.new() if wanted.has(found.stub)])
        pause()


def _json(records: Iterable[Found]) -> None:
    sys.stdout.buffer.write(b"".join(line_of(found) for found in records))
    sys.stdout.buffer.flush()


def _words(digits: int) -> Callable[[Iterable[Found]], None]:
    lines = Lines(Terminal.of(sys.stdout, os.environ), digits)

    def show(records: Iterable[Found]) -> None:
        for found in records:
            for line in lines.of(found):
                put(sys.stdout, line)

    return show
