"""What only the C library can do for a process: die with its parent, and give memory back."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from typing import Final

PR_SET_PDEATHSIG: Final = 1
M_ARENA_MAX: Final = -8

_C: Final = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Have the system end this process when its parent ends, however it does."""
    parent = os.getppid()
    _C.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if parent == 1:  # it has ended before
        os._exit(1)


def share_memory_between_threads() -> None:
    """Have all threads take memory from one place: the library would give each a place of its own,
    and never give that back."""
    with suppress(AttributeError):
        _C.mallopt(M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Give memory that nothing is kept in back to the system, where its C library can."""
    with suppress(AttributeError):
        _C.malloc_trim(0)
