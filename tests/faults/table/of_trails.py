"""Faults of the trail: it cannot be opened, written or brought to the disk, or somebody takes it
away."""

from __future__ import annotations

import os
import shutil
from typing import Final

from stanchion.audit.errors import AuditLost
from tests.faults.table.fault import Fault
from tests.faults.table.world import World
from tests.live_folders import remove


def _in_its_place(world: World) -> None:
    world.trail.parent.mkdir(exist_ok=True)
    world.trail.write_text("a file where the folder should be", encoding="utf-8")


def _out_of_its_place(world: World) -> None:
    world.trail.unlink()


def _full() -> None:
    raise AuditLost("no space left on device")


def _disk_full(world: World) -> None:
    world.journal.writing = _full


def _lost_at_sync(world: World) -> None:
    world.journal.syncing = _full


def _deleted(world: World) -> None:
    remove(world.trail)


def _truncated(world: World) -> None:
    for segment in world.trail.rglob("*.jsonl"):
        os.truncate(segment, 0)


def _copied_back(world: World) -> None:
    remove(world.trail)
    shutil.copytree(world.folder / "trail-backup", world.trail)


FAULTS: Final = (
    Fault(name="the trail cannot be opened", bars=_in_its_place, over=_out_of_its_place),
    Fault(name="the disk is full when a record is written", strike=_disk_full),
    Fault(name="a record does not get to the disk", strike=_lost_at_sync, risk="high"),
    Fault(name="the trail's folder is deleted", strike=_deleted),
    Fault(name="the trail is cut by somebody", strike=_truncated),
    Fault(name="an old copy of the trail is put back", strike=_copied_back),
)
