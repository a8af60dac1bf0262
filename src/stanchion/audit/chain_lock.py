"""The lock on a chain: one process writes it; the system lets go of it however that process
ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from stanchion.audit.layout import LOCK
from stanchion.locks.files import attempt, is_held, lock

_TAKEN: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


def take(chain: Path) -> int | None:
    """Lock a chain by its folder, so that there is no file to delete; gives the open folder, or
    `None` where another writer has it. Where the system cannot lock a folder, a file in it is
    locked."""
    folder = os.open(chain, os.O_RDONLY | os.O_DIRECTORY)
    try:
        lock(folder)
        return folder
    except OSError as error:
        os.close(folder)
        return None if error.errno in _TAKEN else attempt(chain / LOCK, create=True)


def is_written(chain: Path) -> bool:
    """Whether a process has the chain locked. A writer who comes in the moment in which that is
    asked begins another chain, as it does whenever it finds one taken."""
    return is_held(chain) or is_held(chain / LOCK)
