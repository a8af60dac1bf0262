"""Handoffs and what follows them: the status of the task is kept, and whoever the run works for is
told.

What is judged once a handoff was accepted changes nothing about it. So nobody waits for guards that
ask somebody: they are heard beside the caller's path, and their warnings are kept for a review.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import HandoffDone
from stanchion.kernel.guard import Kind as GuardKind
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import key
from stanchion.runtime.answers.lookups import LookupAnswering
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.unsettled import HeldPlaces, Owed
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.standing.occurring import tell_run
from stanchion.telemetry.occurrences import Kind

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


def asks_somebody(desk: Desk) -> bool:
    """Whether a guard that asks stands behind handoffs: its answer may take long, or never come."""
    seats = [seat.placed for seat in desk.shield.policy.seats]
    asking = [
        one for one in seats if Stage.HANDOFF_DONE in one.stages and one.kind is GuardKind.ASKING
    ]
    return any(having(one.guard, "recalls") is None for one in asking)


def beside_the_caller(desk: Desk, event: Any, judging: Flow[Decision]) -> Decision:
    """Have a handoff that was made judged where nobody waits for it; gives the decision that the
    caller goes on by. The one of the guards is in the trail, under the same id."""
    what = f"judging handoff `{event.id}` of run `{desk.info.id}`"
    desk.shield.answers.afterwards.put(what, lambda: drive(judging, _Apart(desk)))
    return Decision(event.id, Action.ALLOW, desk.shield.policy.hash)


class _Apart:
    """The world of what is judged beside a run: it asks for itself, so that it is answered also
    when the run ends."""

    def __init__(self, desk: Desk) -> None:
        self.store, self.turns, self.answering = desk.store, desk.turns, LookupAnswering(*desk.asks)


def followed(desk: Desk, event: Any, decision: Decision) -> Flow[None]:
    """Keep and tell what has become of a handoff: it was offered, or it was accepted. The store
    hears of it at once, or when it is back: handoffs are rare, and whoever looks at a task wants to
    see who has it now."""
    done = isinstance(event, HandoffDone)
    if done:
        _tell(desk, event, decision)
    info = desk.info
    if not info.task:
        return
    found = (
        [Warned(event.at, one.guard, one.code, decision.id) for one in decision.findings]
        if done
        else []
    )
    call = event.call if done else event.id
    new = TaskStatus(
        HANDED_OVER if done else OFFERED,
        event.at,
        info.agent,
        event.to,
        info.id,
        0,
        tuple(found),
        call,
    )
    permit = (status_key(info.tenant, info.task), lambda value, _: _kept(value, new), "tasks")
    tries = count(1)  # ids of its own: decisions are numbered by what was judged
    places = HeldPlaces(
        frozenset({event.id}),
        (permit,),
        info.tenant,
        desk.shield.records,
        lambda: f"{event.id}.status{next(tries)}",
    )
    yield from desk.shield.unsettled.tell(
        Owed(f"{event.id}.status", (), places, f"the status of task `{info.task}`")
    )


def _kept(value: Any, new: TaskStatus) -> Any:
    before = status_of(value)
    left = before.after(new)
    return None if left == before else msgspec.to_builtins(left)


def _tell(desk: Desk, event: HandoffDone, decision: Decision) -> None:
    """Tell the run that this one works for, and operators."""
    what = f"agent `{desk.info.agent}` has handed its work to agent `{event.to}`"
    warned = "; ".join([finding.message for finding in decision.findings])
    said = f"{what}: {warned}" if warned else what
    if desk.above is not None:
        desk.above.tell(said)
    tell_run(desk.shield, Kind.HANDOFF_WARNED if warned else Kind.HANDED_OVER, said, event)
