"""The file that is being written: bytes put there are in the system's hands at once, and outlive the process."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import Final, Protocol

STEP: Final = 256 * 1024
"""How much of a file is prepared at a time."""

_OPEN: Final = os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Pages(Protocol):
    """A file open for appending. `file` is its descriptor."""

    file: int

    def put(self, offset: int, line: bytes) -> None:
        """Put a line behind what is written; all of it or, raising `OSError`, nothing that lasts."""

    def intact(self, offset: int) -> bool:
        """Whether the file is still in its place, and ends where this process left it."""

    def cut(self, offset: int) -> None:
        """Remove whatever stands behind."""

    def close(self) -> None:
        """Let go of the file as it is."""


class Mapped:
    """A file whose next pages are in memory: putting a line there is a copy, and no call of the system.

    Room for them is taken on the disk before, so that a full one is an error and not the end of the process. What is
    prepared and not used reads as zeros until the file is cut.
    """

    def __init__(self, path: Path, new: bool = False) -> None:
        self.file = os.open(path, _OPEN | os.O_RDWR | (os.O_EXCL if new else 0), 0o600)
        self._map: mmap.mmap | None = None
        self._start = self._end = self._unsure = 0

    def put(self, offset: int, line: bytes) -> None:
        """Put a line behind what is written."""
        end = offset + len(line)
        if end > self._end or self._unsure:
            self._prepare(offset, end)
        # A signal may come right behind the copy: until the caller has counted the line, it can be taken back.
        self._unsure = end
        assert self._map is not None
        self._map[offset - self._start : end - self._start] = line
        self._unsure = 0

    def _prepare(self, offset: int, end: int) -> None:
        if self._unsure and self._map is not None:
            last = min(self._unsure, self._end)
            self._map[offset - self._start : last - self._start] = bytes(last - offset)
        self._unsure = 0
        if end <= self._end:
            return
        start = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        size = -(-(end - start) // STEP) * STEP
        os.posix_fallocate(self.file, start, size)
        new = mmap.mmap(self.file, size, offset=start)
        if self._map is not None:
            self._map.close()
        self._map, self._start, self._end = new, start, start + size

    def intact(self, offset: int) -> bool:
        """Whether the file is still in its place, and ends where this process left it."""
        seen = os.fstat(self.file)
        return seen.st_nlink > 0 and seen.st_size == (self._end if self._end else offset)

    def cut(self, offset: int) -> None:
        """Remove whatever stands behind."""
        if self._map is not None:
            self._map.close()
        self._map, self._start, self._end, self._unsure = None, 0, 0, 0
        os.ftruncate(self.file, offset)

    def close(self) -> None:
        """Let go of the file as it is."""
        if self._map is not None:
            self._map.close()
            self._map = None
        os.close(self.file)


class Written:
    """A file that is written line by line, for systems that cannot take room on the disk beforehand."""

    def __init__(self, path: Path, new: bool = False) -> None:
        self.file = os.open(path, _OPEN | os.O_WRONLY | os.O_APPEND | (os.O_EXCL if new else 0), 0o600)
        self._unsure = False

    def put(self, offset: int, line: bytes) -> None:
        """Put a line behind what is written."""
        if self._unsure:
            self.cut(offset)
        self._unsure = True
        done = os.write(self.file, line)
        if done != len(line):
            self.cut(offset)
            raise OSError(errno.ENOSPC, "no space left on device")
        self._unsure = False

    def intact(self, offset: int) -> bool:
        """Whether the file is still in its place, and ends where this process left it."""
        if self._unsure:
            self.cut(offset)
        seen = os.fstat(self.file)
        return seen.st_nlink > 0 and seen.st_size == offset

    def cut(self, offset: int) -> None:
        """Remove whatever stands behind."""
        os.ftruncate(self.file, offset)
        self._unsure = False

    def close(self) -> None:
        """Let go of the file as it is."""
        os.close(self.file)


CAN_MAP: Final = hasattr(os, "posix_fallocate")


def open_pages(path: Path, new: bool = False) -> Pages:
    """Open a segment for appending, by the better way that the system has."""
    return Mapped(path, new) if CAN_MAP else Written(path, new)
