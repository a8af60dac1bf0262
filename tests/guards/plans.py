"""Planners for tests: what a task may do, by the user's words."""

from __future__ import annotations

import threading
from typing import Any, Final

from stanchion.guards.planner import Task

GO_ON: Final = threading.Event()
"""Lets the planner go on that is late."""


def by_words(task: Task) -> list[str]:
    """Reading, and the tools that the user names."""
    return ["read", *[one.name for one in task.tools if one.name in task.words]]


def nothing(_task: Task) -> Any:
    return None


def fails(_task: Task) -> list[str]:
    raise RuntimeError("no plan today")


def values(_task: Task) -> Any:
    return [{"tool": "pay", "to": "mallory"}]


async def later(task: Task) -> list[str]:
    return by_words(task)


def slow(_task: Task) -> list[str]:
    GO_ON.wait(30)
    return ["read"]
