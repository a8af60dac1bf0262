"""Under way: calls whose start is written down and whose outcome is not yet. None of them is left without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch
from stanchion.kernel.units import Amounts
from stanchion.locks import Lock

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
"""Stages of what the runtime itself starts, and sees the end of."""

NOT_BEGUN: Final = "it was not begun"
INTERRUPTED: Final = "it was interrupted: what came of it is not known"
LEFT: Final = "nobody has taken what came of it"


class Started:
    """A call on its way: what was decided, what it reserved, whether it was begun, and whether its items were `handed`
    to a host that takes them as it likes."""

    __slots__ = ("begun", "decision", "event", "handed", "reserved")

    def __init__(self, event: Event, decision: Decision, reserved: Amounts) -> None:
        self.event, self.decision, self.reserved = event, decision, reserved
        self.begun = self.handed = False


class UnderWay:
    """The calls of a run that are under way, by the ids of their decisions. Safe between threads."""

    def __init__(self) -> None:
        self._calls: dict[str, Started] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def enter(self, event: Event, decision: Decision, reserved: Amounts) -> None:
        """Something is about to be written down that goes ahead: what the runtime starts has to have an outcome."""
        if event.stage in STARTS:
            self._calls[decision.id] = Started(event, decision, reserved)

    def begin(self, call: str, event: Event) -> bool:
        """A call begins, as that event says; false where it was left before, so that it must not begin."""
        with self._lock:
            started = self._calls.get(call)
            if started is not None:
                started.begun, started.event = True, event
            return started is not None

    def hand(self, call: str) -> None:
        """The items of a call are its host's to take, or not to."""
        started = self._calls.get(call)
        if started is not None:
            started.handed = True

    def over(self, call: str) -> Started | None:
        """What came of a call is written down, or somebody else sees to it; gives what was known of it."""
        return self._calls.pop(call, None)

    def idle(self) -> tuple[Started, ...]:
        """The calls that nobody is at, oldest first: not begun, or with items that a host has yet to take. They are not
        under way any more."""
        with self._lock:
            idle = [call for call, started in list(self._calls.items()) if started.handed or not started.begun]
            return tuple([self._calls.pop(call) for call in idle])


def abandoned(desk: Desk, call: str, error: BaseException | None = None, how: str = "") -> bool:
    """Write down that a call was left which is still under way, and have what it reserved settled on the next trip;
    says whether it was. One that was not begun gives all of it back."""
    started = desk.under_way.over(call)
    if started is None:
        return False
    leave(desk, started, error, how)
    return True


def not_begun(desk: Desk, decision: Decision) -> None:
    """Write down that a call was not begun after all, and have all that it reserved given back on the next trip."""
    started = desk.under_way.over(decision.id)
    if started is not None:
        started.begun = False
        leave(desk, started)
    elif decision.held:
        desk.shield.unsettled.keep(Batch(desk.new_id(), desk.info.tenant, settles=((decision.id, None),)))


def leave(desk: Desk, started: Started, error: BaseException | None = None, how: str = "") -> None:
    """Write down that a call was left, and have what it reserved settled on the next trip."""
    from stanchion.runtime.recording import left

    why = how if how else INTERRUPTED
    left(desk, started.event, started.decision, why if started.begun else NOT_BEGUN, error)
    if started.decision.held:
        used = started.reserved if started.begun else None
        settles: Any = ((started.decision.id, used),)
        desk.shield.unsettled.keep(Batch(desk.new_id(), desk.info.tenant, settles=settles))


def begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Say that a call begins; raises `Refused` where its run was closed just before."""
    if not desk.under_way.begin(decision.id, event):
        ended = desk.ended
        said = ("kernel.ended", "it was closed") if ended is None else (ended.code, ended.why)
        finding = Finding(Action.HALT, said[0], (said[1],), guard="kernel")
        raise desk.refusal(Decision(decision.id, Action.HALT, decision.policy, (finding,)))
