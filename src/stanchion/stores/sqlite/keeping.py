"""Keeping the files of a store from being taken away, and knowing when they were.

SQLite's own locks belong to the process: whoever opens and closes the file anywhere in it drops them all, and the next
process to end takes itself for the last one and removes the log. So a lock that belongs to one open file stands beside
them, where the system has such locks; and what is at the paths is compared with what was opened.
"""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import struct
import sys
from pathlib import Path
from typing import Final

if sys.platform == "linux":
    import fcntl

SHARED: Final = (0x4000_0002, 510)
"""The bytes that everybody who has a database open locks for reading: first and count."""

ABSENT: Final = (0, 0)

Inode = tuple[int, int]


def files_of(path: Path) -> tuple[str, str, str]:
    """The files of a store: the database, its log, and the index of that, which processes share."""
    return str(path), f"{path}-wal", f"{path}-shm"


def inode(path: str) -> Inode:
    """Which file is at a path."""
    try:
        stat = os.stat(path)
    except OSError:
        return ABSENT
    return (stat.st_dev, stat.st_ino)


def are_open(inodes: tuple[Inode, ...]) -> bool:
    """Whether this process has all of these files open; where the system does not say, it has."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except (OSError, ValueError):
        return True
    found = set()
    for number in numbers:
        with contextlib.suppress(OSError):
            stat = os.fstat(number)
            found.add((stat.st_dev, stat.st_ino))
    return found.issuperset(inodes)


def hold(path: Path) -> io.FileIO | None:
    """Keep other processes from taking a database for theirs alone, until what is returned is closed; `None` where
    that cannot be. Closing it drops this process's other locks on the file."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    try:
        file = io.FileIO(path)
    except OSError:
        return None
    first, count = SHARED
    with contextlib.suppress(OSError):
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, first, count, 0))
    return file


def leave_log(db: sqlite3.Connection) -> None:
    """Have a connection neither fold its log in nor remove it when it is closed, from Python 3.12 on; before that only
    a file that is held keeps it from that."""
    configure = getattr(db, "setconfig", None)
    if configure is not None:
        configure(getattr(sqlite3, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE"), True)  # noqa: B009 - Python 3.11 has none
