"""How far an action is from its task, asked by the guard of that name: by words alone, the same
every time."""

from __future__ import annotations

from typing import Any

from stanchion.readings.task_overlap import drift


def measured(asked: Any) -> dict[str, Any]:
    """How many telling words task and action have, and how much of the action's the task covers."""
    return drift(asked.about, asked.tool, asked.text)._asdict()
