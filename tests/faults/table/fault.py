"""What a fault is: what it is called, what happens, when it is over, and where it can come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tests.faults.table.cells import STAGES
from tests.faults.table.world import World


def _passes(_world: World) -> None:
    """It is over by itself."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault. `strike` makes it happen, `over` ends it. `bars` is done before the shield is
    opened. `guards` are guards of the user's own that fail, and `isolated` names the code of one in
    a process of its own. Backups are so old as `backup_ms` says."""

    name: str
    strike: Callable[[World], None] = _passes
    over: Callable[[World], None] = _passes
    bars: Callable[[World], None] | None = None
    guards: Callable[[World], tuple[Any, ...]] | None = None
    isolated: str = ""
    stages: tuple[str, ...] = STAGES
    backup_ms: int = 600_000
    risk: Literal["medium", "high"] = "medium"
