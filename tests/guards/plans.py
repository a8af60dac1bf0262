"""Planners for tests: what a task may do, by the user's words."""

from __future__ import annotations

import threading
from typing import Any, Final

from stanchion.guards.planner import PlannedTask

GO_ON: Final = threading.Event()
"""Lets the planner go on that is late."""


def by_words(task: PlannedTask) -> list[str]:
    """Reading, and the tools that the user names."""
    return ["read", *[one.name for one in task.tools if one.name in task.words]]


def nothing(_task: PlannedTask) -> Any:
    return None


def fails(_task: PlannedTask) -> list[str]:
    raise RuntimeError("no plan today")


def values(_task: PlannedTask) -> Any:
    return [{"tool": "pay", "to": "mallory"}]


async def later(task: PlannedTask) -> list[str]:
    return by_words(task)


def slow(_task: PlannedTask) -> list[str]:
    GO_ON.wait(30)
    return ["read"]
