"""Whether anybody writes a chain at the moment, found out without getting in the way of who
does."""

from __future__ import annotations

import os
from pathlib import Path

from stanchion.audit.layout import LOCK


def is_written(chain: Path) -> bool:
    """Whether a process has the chain locked; where that cannot be told it is taken to be so.

    The lock is asked for as one of several readers and given back at once. A writer who comes in
    that very moment begins another chain, as it does whenever it finds one taken.
    """
    return _is_locked(chain) or _is_locked(chain / LOCK)


def _is_locked(path: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
