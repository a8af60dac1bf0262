"""Compiled patterns, kept under seal in the state folder: what takes seconds to make is made once
on a machine."""

from __future__ import annotations

import contextlib
import platform
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.policy.seal import Sealing, Unsealed

if TYPE_CHECKING:
    import logging

MOST_BYTES: Final = 64 * 1024 * 1024
"""What is larger is nothing that we have kept."""
SEALED: Final = "sealed"
PATTERNS: Final = "patterns"


class ScanCache:
    """Keeps compiled patterns as sealed files beneath a state folder; without one they are made in
    memory.

    A database that finds nothing would let every secret pass: one that does not bear our seal is
    removed, said aloud, and made anew. Whatever else goes wrong, it is as if nothing had been kept.
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
            _log().warning(
                "the compiled patterns `%s` are not used (%s): they are removed and compiled again",
                file,
                error,
            )
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
            _log().warning(
                "compiled patterns are kept in memory only: %s; close it to others", error
            )
        except OSError as error:
            _log().info("compiled patterns are kept in memory only: %s", error)

    def later(self, work: Callable[[], None]) -> None:
        """Do a piece of work in a thread that ends with the process."""
        threading.Thread(target=work, name="stanchion-patterns", daemon=True).start()


def _log() -> logging.Logger:
    import logging

    return logging.getLogger("stanchion.policy")


def _what(name: str) -> str:
    """What a seal is given for: these patterns, compiled by this engine on this kind of machine."""
    return "\n".join(["patterns", name, _engine(), sys.platform, platform.machine()])


def _engine() -> str:
    """The version of Hyperscan, as it says it itself: asking the installed packages takes longer
    than a check."""
    try:
        import hyperscan
    except ImportError:
        return ""
    return str(getattr(hyperscan, "__version__", ""))
