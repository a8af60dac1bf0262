"""Batches: events in, one a line; answers out, one a line, each before the next event is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from stanchion.cli.check_output import CommandRuns, UnreadLine, answer_of, line_of
from stanchion.cli.events import parse, read
from stanchion.runtime.calling.reports import BadEvent

MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""The longest line that is read; the rest of a longer one is passed over."""

BOM: Final = b"\xef\xbb\xbf"


def answer_lines(source: BinaryIO, sink: BinaryIO, runs: CommandRuns) -> tuple[int, int]:
    """Answer every line; returns how many there were, and how many of them were no events."""
    number = bad = 0
    for number, line in enumerate(_lines(source), start=1):
        try:
            answer = line_of(answer_of(runs.judge(read(_parsed(line)))))
        except BadEvent as error:
            bad += 1
            answer = line_of(UnreadLine(number, str(error)))
        sink.write(answer)
        sink.flush()
    return number, bad


def _parsed(line: bytes | None) -> object:
    if line is None:
        raise BadEvent(
            f"the line is longer than {MAX_LINE_BYTES:,} bytes: send less, or a reference to it"
        )
    if not line.strip():
        raise BadEvent("the line is empty: write one JSON object per line")
    return parse(line)


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream, each as soon as it is complete; `None` stands for one that is too
    long."""
    line = source.readline(MAX_LINE_BYTES + 1).removeprefix(BOM)
    while line:
        if len(line) <= MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
        else:
            while line and not line.endswith(b"\n"):
                line = source.readline(MAX_LINE_BYTES)
            yield None
        line = source.readline(MAX_LINE_BYTES + 1)
