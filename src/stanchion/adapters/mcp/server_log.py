"""The log of a server: what it writes to its standard error, passed on without secrets."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

LONGEST: Final = 65_536
"""How much of a line is read at once."""
END_S: Final = 0.5
"""How long is waited for the last lines of a server that has ended."""
WITHHELD: Final = "[a line of the server's log is withheld: it could not be read]\n"

Hide = Callable[[str], str]
"""Gives a line without the secrets in it."""


@contextmanager
def without_secrets(hide: Hide) -> Iterator[TextIO]:
    """What a server may write its log to; each line of it goes on to our own standard error."""
    reads, writes = os.pipe()
    thread = threading.Thread(target=_pass_on, args=(reads, hide), name="stanchion-server-log", daemon=True)
    thread.start()
    try:
        with os.fdopen(writes, "w") as log:
            yield log
    finally:
        thread.join(END_S)


def _pass_on(reads: int, hide: Hide) -> None:
    with os.fdopen(reads, encoding="utf-8", errors="backslashreplace") as lines:
        while line := lines.readline(LONGEST):
            try:
                shown = hide(line)
            except Exception:  # noqa: BLE001 - a line that nobody has read is not passed on
                shown = WITHHELD
            sys.stderr.write(shown)
            sys.stderr.flush()
