"""Where `stanchion check` keeps what it decides, for `stanchion explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.runtime.standing.places import StateFinder

CHECKS: Final = "checks"
"""The folder of that trail, in that of the state."""


def checks_folder(found: StateFinder) -> Path:
    """The folder; `OSError` where there is no such place."""
    return found.state.folder / CHECKS
