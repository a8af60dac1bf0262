"""Starting coverage, where somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.runtime.coverage.coverage import Coverage, Mode


def coverage_of(shield: Any, mode: Mode, open_runs: Callable[[], tuple[Any, ...]]) -> Coverage:
    """Who watches what a shield's runs do; raises `Ungoverned` where it is to refuse, and an
    adapter that is loaded does not catch its canary."""
    made = Coverage(shield, mode, open_runs)
    made.start()
    return made
