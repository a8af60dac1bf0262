"""Stores and journals that fail when a test says so: they say that they are lost, or raise whatever
they like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact, Finish, MemoryJournal
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import MemoryStore

Fails = Callable[[int], Exception | None]
"""What the n-th step raises, the first being 1; `None` where it goes well."""


def well(_number: int) -> Exception | None:
    """Nothing fails."""
    return None


def from_on(first: int, error: Exception) -> Fails:
    """Everything fails from one step on."""
    return lambda number: error if number >= first else None


def only(one: int, error: Exception) -> Fails:
    """One step fails."""
    return lambda number: error if number == one else None


class FailingStore:
    """A store in memory; `applied` ones carry a batch out before they fail, so that only the answer
    is lost."""

    place = ""

    def __init__(
        self, clock: Callable[[], int], fails: Fails = well, applied: bool = False
    ) -> None:
        self.inner = MemoryStore(clock)
        self.fails, self.applied = fails, applied
        self.count = 0

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, or fail."""
        self.count += 1
        error = self.fails(self.count)
        if error is None:
            return self.inner.carry(batch)
        if self.applied:
            self.inner.carry(batch)
        raise error

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        return self.carry(batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class FailingJournal(MemoryJournal):
    """A journal in memory. Where it fails it is in trouble until it takes a record again."""

    def __init__(self, fails: Fails = well, syncs: Fails = well) -> None:
        super().__init__()
        self.fails, self.syncs = fails, syncs
        self.count = self.synced = 0
        self.ends: list[Finish] = []

    def _step(self) -> None:
        self.count += 1
        error = self.fails(self.count)
        if error is not None:
            self.trouble = "failing"
            raise error
        self.trouble = ""

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Take a record, or fail."""
        self._step()
        return super().write(moment, decision, took_ns, notes, hide)

    def probe(self) -> None:
        """Say whether the next record would be taken."""
        error = self.fails(self.count + 1)
        if error is not None:
            raise error if isinstance(error, AuditLost) else AuditLost(str(error))
        self.trouble = ""

    def tell(self, fact: Fact) -> None:
        """Take a fact, or fail."""
        self._step()
        super().tell(fact)

    def end(self, finish: Finish) -> None:
        """Take the end of a run, or fail."""
        self._step()
        self.ends.append(finish)

    def sync(self, mark: int) -> None:
        """Bring records to the disk, or fail."""
        self.synced += 1
        error = self.syncs(self.synced)
        if error is not None:
            raise error
