"""The file that is being written: bytes put there are in the system's hands at once, and outlive
the process."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

_OPEN: Final = (
    os.O_CREAT
    | os.O_WRONLY
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def _longest() -> float:
    """How long a file of this process may get; without an end where the system knows no such
    limit."""
    if os.name == "nt":
        return float("inf")
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else limit


class Pages:
    """A file open for appending, written line by line. `file` is its descriptor, `inode` which file
    it is.

    It is not mapped into memory: somebody who cuts a mapped file off kills whoever writes to it.
    """

    def __init__(self, path: Path, new: bool = False) -> None:
        self.file = os.open(path, _OPEN | (os.O_EXCL if new else 0), 0o600)
        seen = os.fstat(self.file)
        self.inode: Final = (seen.st_dev, seen.st_ino)
        self._unsure = False

    def put(self, offset: int, line: bytes) -> None:
        """Put a line behind what is written; all of it or, raising `OSError`, nothing that
        lasts."""
        if self._unsure:
            self.cut(offset)
        # A signal may come right behind the system's call: until the caller has counted the line,
        # it can be taken back.
        self._unsure = True
        done = os.write(self.file, line)
        if done != len(line):
            self.cut(offset)
            code = errno.EFBIG if offset + len(line) > _longest() else errno.ENOSPC
            raise OSError(code, os.strerror(code))
        self._unsure = False

    def size(self, offset: int) -> int:
        """How long the file is; a line that was interrupted behind `offset` is still to be taken
        back, and no part."""
        found = os.lseek(self.file, 0, os.SEEK_END)
        return offset if self._unsure and found > offset else found

    def cut(self, offset: int) -> None:
        """Remove whatever stands behind; a file that is shorter stays as short as somebody made
        it."""
        if os.lseek(self.file, 0, os.SEEK_END) > offset:
            os.ftruncate(self.file, offset)
        self._unsure = False

    def close(self) -> None:
        """Let go of the file as it is."""
        os.close(self.file)
