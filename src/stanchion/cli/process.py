"""A process that is one command: begun and ended without work that only long-lived processes
need."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Final, NoReturn

from stanchion.cli.main import main

YOUNG: Final = 100_000
"""How many objects are made between two searches for garbage. The usual 700 have a command that has
just begun search through its own modules dozens of times; a long one still has its garbage
collected."""


def process() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    gc.set_threshold(YOUNG)
    leave(main())


def leave(status: int) -> NoReturn:
    """End the process, without taking every module apart first: the system takes all memory back at
    once. Whatever was registered for the end is called, and a process with threads that are still
    at work waits for them as usual."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
