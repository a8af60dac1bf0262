"""Opening a trail by name: all shields of a process that name the same folder write one chain."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from holdfast.audit.keys import load_key
from holdfast.audit.options import Options
from holdfast.audit.retention import Keep
from holdfast.audit.trail import Trail, wall_ms

_trails: dict[tuple[Path, Path | None, Keep], Trail] = {}
_lock = threading.Lock()


def open_trail(
    folder: Path,
    key_file: Path | None = None,
    keep: Keep = Keep(),  # noqa: B008 - a frozen value
    clock: Callable[[], int] = wall_ms,
) -> Trail:
    """The trail in a folder; made where there is none. Whoever opens it closes it, and the last one ends its chain."""
    name = (folder.absolute(), key_file, keep)
    with _lock:
        known = _trails.get(name)
        if known is not None and known.shared():
            return known
        key = None if key_file is None else load_key(key_file)
        trail = _trails[name] = Trail(folder, Options(key=key, keep=keep), clock)
        return trail
