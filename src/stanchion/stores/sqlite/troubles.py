"""What is wrong with a file, in words: which one, what, and what to do."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
"""Codes of what passes when another process lets go."""

CLOSED: Final = "`{path}` cannot be opened: let this user read and write the file and its folder"
NOT_ONE: Final = "`{path}` is not an SQLite database: use another file, or move this one away"

_SAYS: Final = {
    sqlite3.SQLITE_FULL: "the disk of `{path}` is full: free some space on it",
    sqlite3.SQLITE_CORRUPT: (
        "`{path}` is damaged ({error}): restore a copy of it, or move it away to start empty"
    ),
    sqlite3.SQLITE_NOTADB: NOT_ONE,
    sqlite3.SQLITE_READONLY: (
        "`{path}` cannot be written: let this user write the file and its folder"
    ),
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_PERM: CLOSED,
    sqlite3.SQLITE_IOERR: (
        "the disk of `{path}` failed ({name}): check the disk and the free space on it"
    ),
}


def code(error: BaseException) -> int:
    """SQLite's primary code for an error; 0 where it has none."""
    number = getattr(error, "sqlite_errorcode", 0)
    return number & 0xFF if isinstance(number, int) else 0


def is_busy(error: BaseException) -> bool:
    """Whether waiting may help."""
    return code(error) in BUSY


def locked(path: Path, busy_s: float) -> str:
    """What to say where others did not let go in time."""
    return (
        f"`{path}` was locked by another process for more than {busy_s:g} s: end that process, "
        f"or try again"
    )


def explain(error: BaseException, path: Path, busy_s: float) -> str:
    """What is wrong and what to do about it."""
    if is_busy(error):
        return locked(path, busy_s)
    if isinstance(error, OSError):
        return CLOSED.format(path=path)
    if isinstance(error, msgspec.MsgspecError):
        return _SAYS[sqlite3.SQLITE_CORRUPT].format(path=path, error=error)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    says = _SAYS.get(
        code(error), "`{path}` cannot be used ({name}: {error}): check the file, or use another one"
    )
    return says.format(path=path, name=name, error=error)


# Waiting for another process to let go of the file, in steps that begin short.

T = TypeVar("T")

FIRST_S: Final = 0.000_05
LONGEST_S: Final = 0.002


def patiently(attempt: Callable[[], T], wait_s: float) -> T:
    """Attempt it until it is not busy; after that many seconds the error of the last attempt is
    raised."""
    try:
        return attempt()
    except sqlite3.OperationalError as error:
        if wait_s <= 0 or not is_busy(error):
            raise
    deadline = time.monotonic() + wait_s
    pause_s = FIRST_S
    while True:
        time.sleep(pause_s)
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        pause_s = min(pause_s * 1.5, LONGEST_S)
