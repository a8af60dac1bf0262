"""Reading that Ctrl-C always ends: a signal that comes just before the read begins does not wait
for the next line."""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, BinaryIO


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
