"""What a condition can read that is settled before any event: the run's own names and the
tool's."""

from __future__ import annotations

from typing import Final

STATIC: Final = frozenset({"action.tool_name", "event.tool", "agent.id", "agent.role", "task.id"})
