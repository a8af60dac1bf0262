"""Waiting for strikes: whoever was given too many begins nothing until a person has said yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import MAX_MARKED, STRIKES, Struck, called, standing_key, standing_of
from stanchion.kernel.state import StoreLost
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.epoch_memory import changed

if TYPE_CHECKING:
    from stanchion.runtime.deciding.escalation import Granted


def hold(
    desk: Desk, decision: Decision, name: str, guard: str, count: int, until: int
) -> Flow[None]:
    """Have a run, an agent or the tenant (no name) wait for a person in every process, until the
    strikes are forgotten. Where more wait than can be kept, the whole tenant does. Without the
    store the run's next event waits."""

    def held(value: Any, now: int) -> Any:
        standing = standing_of(value)
        live = {one: each for one, each in standing.struck.items() if now < each.until}
        place = name if name in live or len(live) < MAX_MARKED else ""
        last = max(until, live[place].until) if place in live else until
        struck = {**live, place: Struck(guard, count, now, last)}
        return msgspec.to_builtins(msgspec.structs.replace(standing, struck=struck))

    try:
        yield from _change(desk, f"{decision.id}.{guard}.struck", held)
    except StoreLost:
        desk.enters(
            Finding(Action.ESCALATE, "strikes.reached", (guard, called(name), count), guard=STRIKES)
        )


def looked_at(desk: Desk, granted: Granted | Finding | None, decision: Decision) -> Flow[None]:
    """End the wait for strikes where an action goes ahead because a person said yes to it; strikes
    that were given since they were asked wait for another yes."""
    if (
        granted is None
        or isinstance(granted, Finding)
        or granted.approved is None
        or not decision.proceeds
    ):
        return
    if STRIKES not in granted.lifts:
        return
    asked_at, run = granted.approved.opened_at, desk.info
    names = {"", f"agent:{run.agent}", *[f"run:{one}" for one in (run.id, *run.parents)]}

    def released(value: Any, _now: int) -> Any:
        standing = standing_of(value)
        left = {
            one: each
            for one, each in standing.struck.items()
            if one not in names or each.since > asked_at
        }
        if len(left) == len(standing.struck):
            return LEFT
        return msgspec.to_builtins(msgspec.structs.replace(standing, struck=left))

    try:
        yield from _change(desk, f"{decision.id}.looked_at", released)
    except StoreLost:
        desk.tell("the store could not be reached: the strikes wait for another yes")


def _change(desk: Desk, batch: str, new: Any) -> Flow[None]:
    tenant = desk.info.tenant
    yield from change(desk.shield.records, batch, tenant, standing_key(tenant), new)
    yield from changed(desk.shield.memory, desk.shield.clock())
