"""Locks on files: the system lets go of them however their holder ends, so whoever has one is alive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)

if os.name == "nt":

    def _lock(file: int, wait: bool) -> None:
        import msvcrt

        mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore] # only there
        msvcrt.locking(file, mode, 1)  # type: ignore[attr-defined,unused-ignore] # only there

else:

    def _lock(file: int, wait: bool) -> None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def hold(path: Path) -> int:
    """Make a file and lock it, for as long as this process has it open; gives the open file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        _lock(file, wait=True)
    except BaseException:
        os.close(file)
        raise
    return file


def attempt(path: Path, create: bool = False) -> int | None:
    """Lock a file if nobody has it: the open file, or `None` where somebody does. `FileNotFoundError` where there is
    none, unless it is to be made."""
    file = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0) | _FLAGS, 0o600)
    try:
        _lock(file, wait=False)
    except OSError:
        os.close(file)
        return None
    except BaseException:
        os.close(file)
        raise
    return file
