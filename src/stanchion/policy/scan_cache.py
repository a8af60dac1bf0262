"""Compiled patterns, kept in the user's cache folder: what takes seconds to make is made once on a machine."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 64 * 1024 * 1024
"""What is larger is nothing that we have kept."""


class ScanCache:
    """Keeps compiled patterns as files. Whatever goes wrong with them, they are as if they had never been kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def folder(self) -> Path:
        """Where they are kept."""
        if self._folder is None:
            from platformdirs import user_cache_path

            self._folder = user_cache_path("stanchion", appauthor=False) / "patterns"
        return self._folder

    def get(self, name: str) -> bytes | None:
        """What was kept under a name."""
        try:
            file = self.folder() / name
            return file.read_bytes() if file.stat().st_size <= MOST_BYTES else None
        except OSError:
            return None

    def put(self, name: str, made: bytes) -> None:
        """Keep something under a name; nobody ever sees half of it."""
        file = self.folder() / name
        part = file.with_name(f"{name}.{os.getpid()}-{threading.get_ident()}")
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_bytes(made)
            part.replace(file)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def later(self, work: Callable[[], None]) -> None:
        """Do a piece of work in a thread that ends with the process."""
        threading.Thread(target=work, name="stanchion-patterns", daemon=True).start()


CACHE: Final = ScanCache()
