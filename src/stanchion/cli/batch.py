"""Batches: events in, one a line; answers out, one a line, each before the next event is read."""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, BinaryIO, Final

from stanchion.cli.answers import CommandRuns, UnreadLine, answer_of, line_of
from stanchion.cli.events import parse, read
from stanchion.runtime.calling.reports import BadEvent


class _Watched(io.RawIOBase):
    """A file descriptor that is read only once it has something, or once a signal has come and was
    handled."""

    def __init__(self, source: int, bell: int) -> None:
        self._source = source
        self._bell = bell

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        ready: list[int] = []
        while self._source not in ready:
            ready = select.select([self._source, self._bell], [], [])[0]
            if self._bell in ready:
                os.read(
                    self._bell, 1
                )  # Python calls the handler before the next instruction: an interrupt is raised
        return os.readv(self._source, [buffer])


@contextmanager
def interruptible(source: BinaryIO) -> Iterator[BinaryIO]:
    """A stream to read instead of the source, of which nothing must have been read yet; the source
    stays open."""
    try:
        descriptor = source.fileno()
    except OSError:  # a stream in memory never waits
        descriptor = -1
    if descriptor < 0 or current_thread() is not main_thread():  # signals are for the main thread
        yield source
        return
    bell, rung = os.pipe()
    os.set_blocking(rung, False)
    before = signal.set_wakeup_fd(rung, warn_on_full_buffer=False)
    try:
        yield io.BufferedReader(_Watched(descriptor, bell))
    finally:
        signal.set_wakeup_fd(before)
        os.close(bell)
        os.close(rung)


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
