"""What stands before every chain: the shield's state and the cancellation of a run and its ancestors."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from holdfast.kernel.actions import Action
from holdfast.kernel.events import Event, RunInfo
from holdfast.kernel.findings import Finding
from holdfast.kernel.state import FOREVER, key

NORMAL: Final = ""
SAFE: Final = "safe"
HALTED: Final = "halt"

MAX_ISOLATED: Final = 1_000
"""How many tools and agents of one tenant can be isolated at a time."""


class Standing(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The shield's state for one tenant: normal, safe mode or halted, and what is isolated until when."""

    state: str = NORMAL
    why: str = ""
    isolated: dict[str, int] = {}


class Ending(msgspec.Struct, frozen=True, gc=False):
    """That a run was cancelled or has ended, and why."""

    code: str
    why: str


class Gate(msgspec.Struct, frozen=True, gc=False):
    """What the gates say: the mode, a refusal perhaps, and the span of store time for which it is true."""

    mode: str = NORMAL
    finding: Finding | None = None
    since: int = 0
    until: int = FOREVER


def gates_of(run: RunInfo) -> tuple[str, ...]:
    """The keys every batch of a run expects unchanged: the shield's, the run's, its ancestors'."""
    return (standing_key(run.tenant), *[ending_key(run.tenant, r) for r in (run.id, *run.parents)])


def standing_key(tenant: str) -> str:
    """Where a tenant's shield state is kept."""
    return key(tenant, "shield")


def ending_key(tenant: str, run_id: str) -> str:
    """Where a run's end is kept."""
    return key(tenant, "run", run_id)


def pass_gates(values: list[Any], event: Event, now: int) -> Gate:
    """Judge the gates' values (the shield's first, absent ones as `None`) for one event at store time `now`."""
    for value in values[1:]:
        if value is not None:
            ending = msgspec.convert(value, Ending)
            return Gate(finding=Finding(Action.HALT, ending.code, (ending.why,), guard="kernel"))
    if values[0] is None:
        return Gate()
    standing = msgspec.convert(values[0], Standing)
    if standing.state == HALTED:
        return Gate(HALTED, Finding(Action.HALT, "kernel.halted", (standing.why,), guard="kernel"))
    since, until = 0, FOREVER
    for name in (f"tool:{event.tool}", f"agent:{event.run.agent}"):
        ends = standing.isolated.get(name)
        if ends is None:
            continue
        if now < ends:
            found = Finding(Action.BLOCK, "kernel.quarantined", (name,), guard="kernel")
            return Gate(standing.state, found, since, min(until, ends))
        since = max(since, ends)
    return Gate(standing.state, None, since, until)
