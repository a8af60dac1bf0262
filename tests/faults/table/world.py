"""The world of one cell: a shield on files of its own, an agent at work, and a fault that waits for
its moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanchion import Refused, Shield, Tool
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import Stub, TrailReader
from stanchion.audit.trail import Trail
from stanchion.policy.load import load_policy
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.faults.table.boundary import FaultyJournal, FaultyStore, nothing
from tests.faults.table.elsewhere import Locking, copied
from tests.live_folders import copy
from tests.operators import KNOWN

if TYPE_CHECKING:
    from tests.faults.table.fault import Fault

BEGIN_MS = 1_700_000_000_000
BUSY_S = 0.05
STILL = TrailOptions(sync_ms=60_000, head_ms=3_600_000, checkpoint_s=3_600)
"""The trail's thread works only where somebody waits for it, so that nothing is left to chance."""
AGAIN = "list_files"
"""The tool of the ordinary calls before and after."""


class World:
    """Files in a folder, a shield on them, and the run in which the action of the cell is done."""

    def __init__(
        self, fault: Fault, stage: str, pack: str, folder: Path, told: Callable[[str], None]
    ) -> None:
        self.fault, self.stage, self.pack, self.folder = fault, stage, pack, folder
        self.told = told
        self.clock, self.store_clock = FakeClock(BEGIN_MS), FakeClock(BEGIN_MS)
        self.state, self.trail = folder / "state" / "state.db", folder / "state" / "trail"
        self.on = False
        """Whether the fault is there."""
        self.in_effect: Callable[[], None] = nothing
        """What comes in while the action is at work."""
        self.ran = False
        self.calls = 0
        self.code = ""
        """The code of the decision, where the action is the host's own."""
        self.other: Locking | None = None
        """Another program at the same store."""

    def open(self) -> None:
        """Open the shield: in this process, or in the next one."""
        self.state.parent.mkdir(exist_ok=True)
        journal = Trail(self.trail, STILL, clock=self.clock)
        self.store = FaultyStore(SqliteStore(self.state, self.store_clock, busy_s=BUSY_S))
        self.journal = FaultyJournal(journal)
        self.shield = Shield(
            policy_for(self.pack, self.stage, self.fault.isolated),
            store=self.store,
            journal=self.journal,
            clock=self.clock,
            guards=self.fault.guards(self) if self.fault.guards is not None else (),
            resolver=lambda _host, _port: ["93.184.215.14"],
            safe_mode=False,
            operators=[KNOWN],
        )

    def begin(self) -> None:
        """Do ordinary work, before and after backups are made, and begin the run of the cell."""
        before = self.shield.run("ann", "before", id="before")
        self.warmed(before)
        copy(self.trail, self.folder / "trail-backup")
        copied(self.state, self.folder / "old.db")
        self.clock.advance(self.fault.backup_ms)
        self.store_clock.advance(self.fault.backup_ms)
        self.ordinary(before)
        self.run = self.shield.run("ann", "cell", id="cell")

    def ordinary(self, run: Any) -> None:
        """An ordinary call; raises what it raises."""
        self.calls += 1
        run.call(Tool(lambda folder: f"nothing in {folder}", AGAIN), folder=f"folder-{self.calls}")

    def warmed(self, run: Any) -> None:
        """An ordinary call, tried until a guard in a process of its own has started."""
        for _ in range(200 if self.fault.isolated else 0):
            with suppress(Refused):
                return self.ordinary(run)
        return self.ordinary(run)

    def strike(self) -> None:
        """The moment of the fault."""
        self.on = True
        self.fault.strike(self)

    def over(self) -> None:
        """The fault is over."""
        self.on = False
        self.store.before = self.store.after = self.journal.writing = self.journal.syncing = nothing
        self.in_effect = nothing
        self.fault.over(self)

    def effect(self) -> None:
        """The action happens."""
        self.ran = True
        self.told("ran")
        self.in_effect()

    def records(self) -> list[Stub]:
        """The records of the cell's run, without those of ordinary calls."""
        if not self.trail.is_dir():
            return []
        found = [found.stub for found in TrailReader(self.trail).forwards() if found.is_decision]
        return [stub for stub in found if stub.run_id == "cell" and stub.tool != AGAIN]


@cache
def policy_for(pack: str, stage: str, isolated: str) -> Any:
    """A pack, with a guard of its own process at a stage where the fault is in one."""
    if not isolated:
        return load_policy(pack)
    guard = {
        "use": "python",
        "id": "apart",
        "call": isolated,
        "deadline_ms": 400,
        "isolated": True,
        "stages": [stage],
    }
    return load_policy({"extends": pack, "name": pack, "guards": [guard]})
