"""What the runtime asks of a store."""

from __future__ import annotations

from typing import Any, Protocol

from holdfast.kernel.state import Batch, Reply


class Store(Protocol):
    """Carries batches out atomically, each id once. A store that cannot raises `StoreLost`."""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out and say what came of it."""

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number (total or version) and a record's value, for people and tests; never for a decision."""

    def close(self) -> None:
        """Let go of files and connections."""
