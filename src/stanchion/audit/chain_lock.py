"""The lock on a chain: one process writes it; the system lets go of it however that process
ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from stanchion.audit.layout import LOCK

_TAKEN: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})
_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)

if os.name == "nt":

    def take(chain: Path) -> int | None:
        """Lock a chain by a file in it; gives the open file, or `None` where another writer has
        it."""
        return _take_file(chain)

    def lock_waiting(file: int) -> None:
        """Lock an open file, after whoever has it."""
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore] # only there

    def lock_at_once(file: int) -> None:
        """Lock an open file; `OSError` where somebody has it."""
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore] # only there

else:

    def take(chain: Path) -> int | None:
        """Lock a chain by its folder, so that there is no file to delete; gives the open folder, or
        `None` where another writer has it. Where the file system cannot lock a folder, a file in it
        is locked."""
        folder = os.open(chain, os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)
        try:
            lock_at_once(folder)
        except OSError as error:
            os.close(folder)
            return None if error.errno in _TAKEN else _take_file(chain)
        return folder

    def lock_waiting(file: int) -> None:
        """Lock an open file, after whoever has it."""
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)

    def lock_at_once(file: int) -> None:
        """Lock an open file or folder; `OSError` where somebody has it."""
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _take_file(chain: Path) -> int | None:
    file = os.open(chain / LOCK, os.O_RDWR | os.O_CREAT | _CLOEXEC, 0o600)
    try:
        lock_at_once(file)
    except OSError:
        os.close(file)
        return None
    return file
