"""The status of a task: who has handed its work to whom, and what was found about that and waits
for a review."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.kernel.state import key

OFFERED: Final = "offered"
HANDED_OVER: Final = "handed over"
ROOM: Final = "tasks"
"""The first part of the names of these records."""
KEPT: Final = 20
"""How many warnings of a task are kept, the newest."""


class Warned(msgspec.Struct, frozen=True, array_like=True):
    """A warning about a handoff that was made: when, by which guard, its code, and the decision
    that has its words."""

    at: int
    guard: str
    code: str
    decision: str


class TaskStatus(msgspec.Struct, frozen=True, array_like=True):
    """Where the work on a task is: offered or handed over, by whom, to whom and when. `handoffs`
    counts those that were accepted, and `call` is the one that was written last."""

    status: Literal["offered", "handed over"] = "offered"
    at: int = 0
    by: str = ""
    to: str = ""
    run: str = ""
    handoffs: int = 0
    warnings: tuple[Warned, ...] = ()
    call: str = ""

    def after(self, new: TaskStatus) -> TaskStatus:
        """The status once something new has happened; the same once more changes nothing."""
        if self.call == new.call and self.status == new.status:
            return self
        accepted = self.handoffs + (new.status == HANDED_OVER)
        return msgspec.structs.replace(
            new, handoffs=accepted, warnings=(*self.warnings, *new.warnings)[-KEPT:]
        )


def status_key(tenant: str, task: str) -> str:
    """The key of a task's record."""
    return key(tenant, ROOM, task)


def status_of(value: Any) -> TaskStatus:
    """A record as it was written."""
    return TaskStatus() if value is None else typed.convert(value, TaskStatus)
