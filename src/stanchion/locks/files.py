"""Locks on files and folders: the system lets go of them however their holder ends, so whoever has
one is alive."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0)
PAUSE_S: Final = 0.01
"""At what distance a lock is asked for by one who waits for it."""


def lock(file: int, wait: bool = False, shared: bool = False) -> None:
    """Lock an open file or folder, perhaps after whoever has it, perhaps as one of several; else
    `OSError` where somebody has it."""
    import fcntl

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)


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
        lock(file, shared=True)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
