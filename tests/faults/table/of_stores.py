"""Faults of the store: out of reach before or after a batch, slow, locked, wiped, put back to an
earlier state."""

from __future__ import annotations

import shutil
from typing import Final

from stanchion.kernel.state import StoreLost
from tests.faults.table.elsewhere import Locking, emptied_log
from tests.faults.table.fault import Fault
from tests.faults.table.world import World
from tests.live_folders import remove

LOOKED_FOR_MS: Final = 1_001
"""So long after a file was replaced the store notices, by its clock."""


def _lost() -> None:
    raise StoreLost("the connection broke")


def _lost_before(world: World) -> None:
    world.store.before = _lost


def _lost_after(world: World) -> None:
    world.store.after = _lost


def _slow(world: World) -> None:
    def waits() -> None:
        world.clock.advance(5_000)
        world.store_clock.advance(5_000)

    world.store.before = world.store.after = waits


def _locked(world: World) -> None:
    world.other = Locking(world.state)


def _unlocked(world: World) -> None:
    assert world.other is not None
    world.other.end()


def _removed(world: World) -> None:
    for end in ("", "-wal", "-shm"):
        world.state.with_name(f"{world.state.name}{end}").unlink(missing_ok=True)
    world.store_clock.advance(LOOKED_FOR_MS)


def _restored(world: World) -> None:
    _removed(world)
    shutil.copy(world.folder / "old.db", world.state)


def _copied_over(world: World) -> None:
    """As `cp` does it: into the file that is open."""
    emptied_log(world.state)
    world.state.write_bytes((world.folder / "old.db").read_bytes())
    world.store_clock.advance(LOOKED_FOR_MS)


def _state_removed(world: World) -> None:
    remove(world.state.parent)
    world.store_clock.advance(LOOKED_FOR_MS)


FAULTS: Final = (
    Fault(name="the store is lost before a batch", strike=_lost_before),
    Fault(name="the store is lost after a batch was carried out", strike=_lost_after),
    Fault(name="the store takes ten seconds for each batch", strike=_slow),
    Fault(name="the store is locked by another program", strike=_locked, over=_unlocked),
    Fault(name="the store is wiped under the live process", strike=_removed),
    Fault(name="the store is restored from a backup of ten minutes ago", strike=_restored),
    Fault(
        name="the store is restored from a backup of a moment ago", strike=_restored, backup_ms=0
    ),
    Fault(name="an old state.db is copied over the one in use", strike=_copied_over),
    Fault(name="the state folder is deleted, trail included", strike=_state_removed),
)
