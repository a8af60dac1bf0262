"""Starting coverage: the one step that a shield takes, which loads nothing where nobody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stanchion.runtime.coverage.coverage import Coverage, Mode


def coverage_of(shield: Any, mode: Mode | None, open_runs: Callable[[], tuple[Any, ...]]) -> Coverage | None:
    """Who watches what a shield's runs do; raises `Ungoverned` where it is to refuse, and an adapter that is loaded
    does not catch its canary."""
    if mode is None:
        return None
    from stanchion.runtime.coverage.coverage import Coverage

    made = Coverage(shield, mode, open_runs)
    made.start()
    return made
