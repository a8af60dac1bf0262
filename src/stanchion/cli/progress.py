"""Progress of long work: one line on a terminal, redrawn and in the end erased; nothing anywhere
else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from stanchion.ops.views.amounts import size

EVERY_S: Final = 0.1
AFTER_S: Final = 0.3
"""Work that is done by then shows no progress at all."""

_ERASE: Final = "\r\x1b[K"

Told = Callable[[int, int], None]
"""Hears how much is done, of how much: bytes of files, or records of a database."""


class Progress:
    """Draws how far some work is."""

    def __init__(
        self,
        what: str,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        amount: Callable[[int], str] | None = None,
    ) -> None:
        self._what, self._stream, self._clock = what, stream, clock
        self._amount = size if amount is None else amount
        self._next = clock() + AFTER_S
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is; drawn only now and then."""
        now = self._clock()
        if now < self._next or total <= 0:
            return
        self._next = now + EVERY_S
        self._drawn = True
        share = min(100, done * 100 // total)
        self._stream.write(
            f"{_ERASE}{self._what}  {self._amount(done)} of {self._amount(total)}  {share}%"
        )
        self._stream.flush()

    def erase(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._drawn = False
            self._stream.write(_ERASE)
            self._stream.flush()


@contextmanager
def progress(what: str, amount: Callable[[int], str] | None = None) -> Iterator[Progress | None]:
    """Progress on standard error while something is done; `None` where nobody would see it. It is
    told in bytes, unless `amount` says how."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    drawn = Progress(what, sys.stderr, amount=amount)
    try:
        yield drawn
    finally:
        drawn.erase()


def records(count: int) -> str:
    """A number of records as people read it."""
    return f"{count:,} records" if count != 1 else "1 record"
