"""Calls of one tool under a budget, counted by the tool itself, so that a test can say what the
budget must show."""

import asyncio
from typing import Any, Final

from stanchion import Shield

POLICY: Final[dict[str, Any]] = {
    "name": "budget",
    "guards": [{"use": "budget", "calls": 100_000, "per": "task"}],
}


class Working:
    """Calls of one tool in runs of one task: how many were begun, how often the tool was at
    work."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._run = shield.run("ann", "t1")
        self.begun = self.worked = 0

    def tool(self) -> str:
        self.worked += 1
        return "done"

    async def atool(self) -> str:
        return self.tool()

    def call(self) -> None:
        """Call the tool in this thread."""
        self.begun += 1
        assert self._run.call(self.tool) == "done"

    async def acall(self) -> None:
        """Call it on the running event loop."""
        self.begun += 1
        assert await self._run.acall(self.atool) == "done"

    def acall_alone(self) -> None:
        """Call it on an event loop of its own."""
        asyncio.run(self.acall())

    def check(self) -> None:
        """Another call goes through, and what was charged is what was at work, or might have
        been."""
        self.call()
        charged = sum([one.number for one in self._shield.store.look() if ":one:" in one.key])
        assert self.worked <= charged <= self.begun
        assert not self._shield.turns.lines
