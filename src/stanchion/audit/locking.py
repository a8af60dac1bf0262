"""The lock on a chain: one process writes it; the system lets go of it however that process ends."""

from __future__ import annotations

import os
from pathlib import Path

from stanchion.audit.layout import LOCK


def take(chain: Path) -> int | None:
    """Lock a chain; gives the open lock file, or `None` where another writer has it."""
    file = os.open(chain / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock(file)
    except OSError:
        os.close(file)
        return None
    return file


if os.name == "nt":

    def _lock(file: int) -> None:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore] # only there

else:

    def _lock(file: int) -> None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
