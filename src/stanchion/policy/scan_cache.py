"""Compiled patterns, kept under seal in the state folder: what takes seconds to make is made once on a machine."""

from __future__ import annotations

import contextlib
import logging
import platform
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stanchion.policy.sealing import Sealing, Unsealed

MOST_BYTES: Final = 64 * 1024 * 1024
"""What is larger is nothing that we have kept."""
SEALED: Final = "sealed"
PATTERNS: Final = "patterns"

_log: Final = logging.getLogger("stanchion.policy")


class ScanCache:
    """Keeps compiled patterns as sealed files beneath a state folder; without one they are made in memory.

    A database that finds nothing would let every secret pass: one that does not bear our seal is removed, said aloud,
    and made anew. Whatever else goes wrong, it is as if nothing had been kept.
    """

    def __init__(self, state: Path | None) -> None:
        self._sealing = None if state is None else Sealing(state / SEALED)

    @property
    def folder(self) -> Path | None:
        """Where they are kept; `None` where they are not."""
        return None if self._sealing is None else self._sealing.folder / PATTERNS

    def get(self, name: str) -> bytes | None:
        """What was kept under a name, if it bears our seal."""
        if self._sealing is None:
            return None
        file = self._sealing.folder / PATTERNS / name
        try:
            return self._sealing.read(file, _what(name), MOST_BYTES)
        except Unsealed as error:
            _log.warning("the compiled patterns `%s` are not used (%s): they are removed and made anew", file, error)
            with contextlib.suppress(OSError):
                file.unlink()
            return None
        except OSError:
            return None

    def put(self, name: str, made: bytes) -> None:
        """Keep something under a name; nobody ever sees half of it."""
        if self._sealing is None:
            return
        try:
            self._sealing.write(self._sealing.folder / PATTERNS / name, _what(name), made)
        except Unsealed as error:
            _log.warning("compiled patterns are kept in memory only: %s; close it to others", error)
        except OSError as error:
            _log.info("compiled patterns are kept in memory only: %s", error)

    def later(self, work: Callable[[], None]) -> None:
        """Do a piece of work in a thread that ends with the process."""
        threading.Thread(target=work, name="stanchion-patterns", daemon=True).start()


def _what(name: str) -> str:
    """What a seal is given for: these patterns, compiled by this engine on this kind of machine."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        engine = version("hyperscan")
    except PackageNotFoundError:
        engine = ""
    return "\n".join(["patterns", name, engine, sys.platform, platform.machine()])
