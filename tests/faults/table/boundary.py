"""The store and the journal of a shield, with a place at which faults come in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from stanchion.audit.errors import AuditLost
from stanchion.kernel.state import Batch, Reply

Hook = Callable[[], None]


def nothing() -> None:
    """No fault."""


class FaultyStore:
    """A store; `before` is called before each batch, `after` when it was carried out and nobody
    knows yet."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.before: Hook = nothing
        self.after: Hook = nothing

    @property
    def place(self) -> str:
        """Where the store is."""
        place: str = self._store.place
        return place

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, with what comes between."""
        self.before()
        reply: Reply = self._store.carry(batch)
        self.after()
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        self.before()
        reply: Reply = await self._store.acarry(batch)
        self.after()
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class FaultyJournal:
    """A journal; `writing` is called before each record, `syncing` before each wait for the
    disk."""

    def __init__(self, journal: Any) -> None:
        self._journal = journal
        self._trouble = ""
        self.writing: Hook = nothing
        self.syncing: Hook = nothing

    @property
    def trouble(self) -> str:
        """Why records could not be written lately."""
        return self._trouble or str(self._journal.trouble)

    def _write(self, method: str, *given: Any) -> Any:
        try:
            self.writing()
        except AuditLost as lost:
            self._trouble = str(lost)
            raise
        return getattr(self._journal, method)(*given)

    def write(self, *given: Any) -> int:
        """Write a decision down, and let the journal's own thread see to the disk, so that it is
        not left to chance which of them comes first."""
        mark: int = self._write("write", *given)
        with suppress(AuditLost):
            self._journal.sync(mark)
        return mark

    def begin(self, *given: Any) -> None:
        """Write a beginning down."""
        self._write("begin", *given)

    def end(self, *given: Any) -> None:
        """Write an end down."""
        self._write("end", *given)

    def tell(self, *given: Any) -> None:
        """Write a fact down."""
        self._write("tell", *given)

    def probe(self) -> None:
        """Find out whether records can be written again."""
        self._write("probe")
        self._trouble = ""

    def sync(self, mark: int) -> None:
        """Wait for the disk."""
        self.syncing()
        self._journal.sync(mark)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)
