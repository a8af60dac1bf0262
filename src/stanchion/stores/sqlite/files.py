"""Keeping the files of a store from being taken away, and knowing when they were.

SQLite's own locks belong to the process: whoever opens and closes the file anywhere in it drops
them all, and the next process to end takes itself for the last one and removes the log. So a lock
that belongs to one open file stands beside them, where the system has such locks; and what is at
the paths is compared with what was opened.
"""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

if sys.platform == "linux":
    import fcntl

SHARED: Final = (0x4000_0002, 510)
"""The bytes that everybody who has a database open locks for reading: first and count."""

ABSENT: Final = (0, 0)
MAGIC: Final = b"SQLite format 3\0"
"""How a database begins."""

COARSE_NS: Final = 10_000_000
"""Times that are no multiple of that are of a file system that counts in no longer steps."""
QUIET_S: Final = 3.0
"""For how long nothing has to happen in a folder before its time of change tells of everything that
does: file systems count time in steps, and the longest of them are two seconds."""
SOON_QUIET_S: Final = 0.1
"""For how long where the file system counts in short steps."""

Inode = tuple[int, int]

Folder = tuple[int, ...]
"""Which folder is at a path, and when something in it was added, removed or renamed; empty where
there is none."""


def files_of(path: Path) -> tuple[str, str, str]:
    """The files of a store: the database, its log, and the index of that, which processes share."""
    return str(path), f"{path}-wal", f"{path}-shm"


def quiet_s(changed_ns: int) -> float:
    """For how long nothing has to happen in a folder that was changed at that time."""
    return SOON_QUIET_S if changed_ns % COARSE_NS else QUIET_S


def inode(path: str) -> Inode:
    """Which file is at a path."""
    try:
        stat = os.stat(path)
    except OSError:
        return ABSENT
    return (stat.st_dev, stat.st_ino)


class Names:
    """The names of a store's files, and which files they led to when these were opened. Any thread
    may ask."""

    def __init__(self, path: Path, now_s: Callable[[], float] = time.monotonic) -> None:
        self._files: Final = files_of(path)
        self._folder: Final = str(path.parent)
        self._now_s: Final = now_s
        self.look()

    def look(self) -> None:
        """Note which files the names lead to now."""
        self._is_link = os.path.islink(self._files[0])
        self._quiet: Folder = ()
        self._first: tuple[Folder, float] = ((), 0.0)
        self.inodes: tuple[Inode, ...] = tuple(map(inode, self._files))

    def lead_astray(self) -> bool:
        """Whether a name leads to another file than it did, or to none.

        Nothing becomes of a name without the folder's time of change. So it is enough to look at
        the folder, once it has been as it is for long enough; unless the file is a link to one in
        another folder.
        """
        try:
            stat = os.stat(self._folder)
            seen: Folder = (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
        except OSError:
            seen = ()
        if seen and seen == self._quiet:
            return False
        now_s, first = self._now_s(), self._first
        if first[0] != seen:
            first = self._first = (seen, now_s)
        # Asked after the folder was looked at: what happens in between changes the folder once
        # more.
        if self.inodes != tuple(map(inode, self._files)):
            return True
        if seen and not self._is_link and now_s - first[1] >= quiet_s(seen[3]):
            self._quiet = seen
        return False


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
    """Keep other processes from taking a database for theirs alone, until what is returned is
    closed; `None` where that cannot be. Closing it drops this process's other locks on the file."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    try:
        file = io.FileIO(path)
    except OSError:
        return None
    first, count = SHARED
    with contextlib.suppress(OSError):
        fcntl.fcntl(
            file,
            fcntl.F_OFD_SETLK,
            struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, first, count, 0),
        )
    return file


def size_of(held: io.FileIO | None) -> int:
    """How long a file is that is held; 0 where it has no header yet, or is not held. It gets
    shorter where it was cut off, or its header overwritten, by somebody who does not go through
    SQLite, which would go on with what it remembers of it: SQLite itself never shortens it."""
    if held is None or os.pread(held.fileno(), len(MAGIC), 0) != MAGIC:
        return 0
    return held.seek(0, os.SEEK_END)


def leave_log(db: sqlite3.Connection) -> None:
    """Have a connection neither fold its log in nor remove it when it is closed, from Python 3.12
    on; before that only a file that is held keeps it from that."""
    configure = getattr(db, "setconfig", None)
    if configure is not None:
        configure(getattr(sqlite3, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE"), True)  # noqa: B009 - Python 3.11 has none
