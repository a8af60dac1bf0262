"""Locks on files and folders: the system lets go of them however their holder ends, so whoever has
one is alive."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
PAUSE_S: Final = 0.01
"""At what distance a lock is asked for by one who waits for it."""

if os.name == "nt":

    def lock(file: int, wait: bool = False) -> None:
        """Lock an open file, perhaps after whoever has it; else `OSError` where somebody does."""
        import msvcrt

        mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore] # only there
        msvcrt.locking(file, mode, 1)  # type: ignore[attr-defined,unused-ignore] # only there

    def _look(file: int) -> None:
        lock(file)

else:

    def lock(file: int, wait: bool = False) -> None:
        """Lock an open file or folder, perhaps after whoever has it; else `OSError` where somebody
        does."""
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _look(file: int) -> None:
        import fcntl

        # Several may look at once, so that nobody takes another who looks for the holder.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def hold(path: Path) -> int:
    """Make a file and lock it, for as long as this process has it open; gives the open file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        lock(file, wait=True)
    except BaseException:
        os.close(file)
        raise
    return file


def attempt(path: Path, create: bool = False) -> int | None:
    """Lock a file if nobody has it: the open file, or `None` where somebody does.
    `FileNotFoundError` where there is none, unless it is to be made."""
    file = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0) | _FLAGS, 0o600)
    try:
        lock(file)
    except BaseException as error:
        os.close(file)
        if isinstance(error, OSError):
            return None
        raise
    return file


def attempt_within(path: Path, wait_s: float) -> int | None:
    """Make a file and lock it, after whoever has it: the open file, or `None` where somebody has it
    all the time."""
    until = time.monotonic() + wait_s
    while (file := attempt(path, create=True)) is None and time.monotonic() < until:
        time.sleep(PAUSE_S)
    return file


def is_held(path: Path) -> bool:
    """Whether somebody has a file or a folder locked; where that cannot be told it is taken to be
    so, and what is not there is free.

    The lock is asked for as one of several readers and given back at once, which gets in nobody's
    way.
    """
    try:
        file = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        _look(file)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
