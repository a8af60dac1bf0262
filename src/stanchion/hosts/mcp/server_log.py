"""The log of a server: what it writes to its standard error, passed on without secrets."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

LONGEST: Final = 65_536
"""How many bytes are read together at most."""
PAUSE_MS: Final = 50
"""Lines that come within so long of each other are read together: a secret may go over several of
them."""
END_S: Final = 0.5
"""How long is waited for the last lines of a server that has ended."""
WITHHELD: Final = "[lines of the server's log are withheld: they could not be read]\n"

Hide = Callable[[str], str]
"""Gives lines without the secrets in them."""


@contextmanager
def without_secrets(hide: Hide) -> Iterator[TextIO]:
    """What a server may write its log to; all of it goes on to our own standard error."""
    reads, writes = os.pipe()
    thread = threading.Thread(
        target=_pass_on, args=(reads, hide), name="stanchion-server-log", daemon=True
    )
    thread.start()
    try:
        with os.fdopen(writes, "w") as log:
            yield log
    finally:
        thread.join(END_S)


def _pass_on(reads: int, hide: Hide) -> None:
    for lines in _together(reads):
        try:
            shown = hide(lines)
        except Exception:  # noqa: BLE001 - lines that nobody has read are not passed on
            shown = WITHHELD
        sys.stderr.write(shown)
        sys.stderr.flush()


def _together(reads: int) -> Iterator[str]:
    """Whole lines, as many as come without a pause; a line that is too long for that in parts."""
    waiting, ready = b"", select.poll()
    ready.register(reads, select.POLLIN)
    with os.fdopen(reads, "rb", buffering=0) as log:
        while True:
            if waiting and (len(waiting) >= LONGEST or not ready.poll(PAUSE_MS)):
                whole, rest = _whole(waiting)
                if whole:
                    yield whole.decode(errors="backslashreplace")
                    waiting = rest
            came = log.read(LONGEST)
            if not came:
                break
            waiting += came
    if waiting:
        yield waiting.decode(errors="backslashreplace")


def _whole(waiting: bytes) -> tuple[bytes, bytes]:
    """The whole lines of what has come, and the rest; all of it where a line is too long."""
    lines, end, rest = waiting.rpartition(b"\n")
    if not end and len(waiting) >= LONGEST:
        return waiting, b""
    return lines + end, rest
