"""An agent that keeps everything it gets to read, under a shield whose store and journal can break
at any step."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection
from typing import Any, Final

from stanchion import Decision, Refused, Run
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.runtime.calling.tool import Tool
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock

WHERE: Final = (
    "db.internal.example",
    "5432",
    "vault-user",
    "/var/lib/keep/state.db",
    "0123456789abcdef0123456789abcdef",
)
LOST: Final = (
    "`postgresql://vault-user@db.internal.example:5432/prod` does not answer, nor does "
    "`/var/lib/keep/state.db`: "
    "see STANCHION_STORE, effect `0123456789abcdef0123456789abcdef`, or `stanchion state accept "
    "--restored`"
)
"""What a store or a trail says that is lost, at its worst."""

OURS: Final = "stanchion"


class BreakingStore(MemoryStore):
    """A store that is lost for chosen batches, before they are carried out or after, and says where
    it is."""

    def __init__(self, clock: FakeClock, lost: Collection[int] = (), applied: bool = False) -> None:
        super().__init__(clock)
        self.lost, self.applied, self.count = lost, applied, 0

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, or raise `StoreLost`."""
        self.count += 1
        if self.count in self.lost and not self.applied:
            raise StoreLost(LOST)
        reply = super().carry(batch)
        if self.count in self.lost:
            raise StoreLost(LOST)
        return reply


class BreakingJournal(MemoryJournal):
    """A journal that cannot write chosen records, and says where they were to go."""

    def __init__(self, lost: Collection[int] = ()) -> None:
        super().__init__()
        self.lost, self.count = lost, 0

    def _step(self) -> None:
        self.count += 1
        if self.count in self.lost:
            raise AuditLost(LOST)

    def write(self, *args: Any, **options: Any) -> int:
        """Write a decision down, or raise `AuditLost`."""
        self._step()
        return super().write(*args, **options)

    def tell(self, fact: Any) -> None:
        """Write a fact down, or raise `AuditLost`."""
        self._step()
        super().tell(fact)

    def probe(self) -> None:
        """Find out whether records can be written, or raise `AuditLost`."""
        self._step()

    def sync(self, mark: int) -> None:
        """Wait for a record, or raise `AuditLost`."""
        self._step()

    def end(self, finish: Any) -> None:
        """Write a run's end down, or raise `AuditLost`."""
        self._step()
        super().end(finish)


class Agent:
    """Acts in a run, and keeps what it reads: texts of errors as they are shown and as a traceback
    has them, decisions' words, notices, results."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.read: list[str] = []
        self.codes: set[str] = set()
        self.tickets: list[str] = []

    def tries(
        self, tool: Callable[..., Any] | Tool, *args: Any, once: str = "", **kwargs: Any
    ) -> None:
        """Call a tool, whatever comes of it."""
        call = (lambda: self.run.call_once(once, tool, *args, **kwargs)) if once else None
        self.does(call if call is not None else lambda: self.run.call(tool, *args, **kwargs))

    def does(self, act: Callable[[], Any]) -> None:
        """Do something, and read what comes of it."""
        try:
            came = act()
        except Exception as error:  # noqa: BLE001 - an agent reads whatever is raised
            self._raised(error)
        else:
            self.decided(came) if isinstance(came, Decision) else self.read.append(str(came))
        self.read += self.run.notices()

    def decided(self, decision: Decision) -> None:
        """Read a decision."""
        for finding in (*decision.findings, *decision.shadow):
            self.codes.add(finding.code)
            self.read += [finding.message, finding.advice]
        self.read += [decision.message, decision.advice]

    def _raised(self, error: BaseException) -> None:
        shown = traceback.TracebackException.from_exception(error)
        waiting: list[traceback.TracebackException | None] = [shown]
        while waiting:
            one = waiting.pop()
            if one is not None:
                self.read += [str(one), *(one.__notes__ or ())]
                waiting += [one.__cause__, None if one.__suppress_context__ else one.__context__]
        self.read += [str(error), repr(error)]
        if isinstance(error, Refused):
            self.decided(error.decision)
            self.read += [str(part) for part in error.partial]
            if error.ticket is not None:
                self.tickets.append(error.ticket)
