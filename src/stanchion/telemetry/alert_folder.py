"""The windows of all processes, in one file of the folder of figures. Whoever changes it holds a
lock; a reader never sees half of it, because it is replaced as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.telemetry.alert_windows import Fresh, Looked, Window, looked
from stanchion.telemetry.file_lock import attempt_within
from stanchion.telemetry.folder import replace_file

VERSION: Final = 1
FILE: Final = "alerts.json"
HELD: Final = "alerts.held"
PATIENCE_S: Final = 5.0
"""How long a process that ends waits for the lock."""
LARGEST: Final = 4 * 1024 * 1024


class Kept(msgspec.Struct, frozen=True):
    """What the file holds."""

    version: int
    windows: tuple[Window, ...]


_decode: Final = typed.reader(Kept).decode


def looked_together(
    folder: Path, fresh: Iterable[Fresh], now_ms: int, last: bool = False
) -> Looked | None:
    """Enter what has occurred in this process into the windows of all; `None` where another process
    is about to do the
    same: then it is to be tried again. A process that does so for the `last` time waits a while
    instead. `OSError` where the folder cannot be written."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = attempt_within(folder / HELD, PATIENCE_S if last else 0)
    if held is None:
        return None
    try:
        before = _read(folder)
        found = looked(before, fresh, now_ms)
        if found.windows != before:
            replace_file(folder / FILE, Kept(VERSION, found.windows))
        return found
    finally:
        os.close(held)


def _read(folder: Path) -> tuple[Window, ...]:
    """The windows so far; from a file that is broken, or of another version, none."""
    try:
        with open(folder / FILE, "rb") as file:
            text = file.read(LARGEST + 1)
        kept = _decode(text)
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()
    return kept.windows if kept.version == VERSION else ()
