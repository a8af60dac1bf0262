"""Waiting for another process to let go of the file, in steps that begin short."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Final, TypeVar

from stanchion.stores.sqlite.troubles import is_busy

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
