"""Under way: calls whose start is written down and whose outcome is not yet. None of them is left without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.locks import Lock
from stanchion.runtime.owed import doubtful, owed

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.drivers import Flow
    from stanchion.runtime.ledger import Entry

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
"""Stages of what the runtime itself starts, and sees the end of."""

NOT_BEGUN: Final = "it was not begun"
INTERRUPTED: Final = "it was interrupted: what came of it is not known"
LEFT: Final = "nobody has taken what came of it"


class Started(msgspec.Struct, eq=False):
    """A call on its way: what it reserved, its page in the ledger, what was decided, `None` as long as its batch may be
    on its way, whether it was begun, and whether its items were `handed` to a host that takes them as it likes."""

    event: Event
    reserved: Amounts
    page: Entry | None = None
    decision: Decision | None = None
    begun: bool = False
    handed: bool = False
    is_left: bool = False


class Way(msgspec.Struct, eq=False):
    """Which call somebody is at, who made this before anything was taken: whatever cuts them off, it can be left."""

    call: str = ""
    page: Entry | None = None
    waited: bool = False
    """Whether it stood in a line."""
    is_done: bool = False
    """Whether it was done, and only what came of it is yet to be judged."""


class UnderWay:
    """The calls of a run that are under way, by the ids of their decisions. Safe between threads."""

    def __init__(self) -> None:
        self._calls: dict[str, Started] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def enter(self, way: Way, event: Event, reserved: Amounts) -> Started:
        """Something is about to be judged, and may take something. Whoever is at it was at `way.call` before. Before
        what goes ahead is written down, the decision is entered: what the runtime starts has to have an outcome."""
        before, way.call, way.is_done = way.call, event.id, False
        self._calls[event.id] = started = Started(event, reserved, way.page)
        if before:
            self._calls.pop(before, None)
        return started

    def begin(self, call: str, event: Event) -> bool:
        """A call begins, as that event says; false where it was left before, so that it must not begin."""
        with self._lock:
            started = self._calls.get(call)
            if started is None or started.is_left:
                return False
            started.begun, started.event = True, event
            return True

    def hand(self, call: str) -> None:
        """The items of a call are its host's to take, or not to."""
        started = self._calls.get(call)
        if started is not None:
            started.handed = True

    def over(self, call: str) -> None:
        """What came of a call is written down, or somebody else sees to it."""
        self._calls.pop(call, None)

    def leave(self, call: str) -> Started | None:
        """What is known of a call that is left by whoever was at it; `None` where somebody leaves it already. It is
        under way until that is written down."""
        with self._lock:
            started = self._calls.get(call)
            if started is None or started.is_left:
                return None
            started.is_left = True
            return started

    def idle(self) -> tuple[Started, ...]:
        """The calls that nobody is at, oldest first: decided and not begun, with items that a host has yet to take, or
        left by somebody who was cut off once more. Nobody else leaves them any more."""
        with self._lock:
            calls = list(self._calls.values())
            idle = [one for one in calls if one.is_left or one.handed or not (one.begun or one.decision is None)]
            for one in idle:
                one.is_left = True
            return tuple(idle)


def abandoned(desk: Desk, call: str, error: BaseException | None = None, how: str = "") -> bool:
    """Write down that a call was left which is still under way, and have what it took given back on the next trip;
    says whether it was. One that was not begun gives all of it back."""
    started = desk.under_way.leave(call) if call else None
    if started is None:
        return False
    leave(desk, started, error, how)
    return True


def cut_off(desk: Desk, way: Way, error: BaseException, how: str = "") -> Flow[None]:
    """Leave what somebody was at who is cut off, and tell the store, unless they are only collected as garbage."""
    abandoned(desk, way.call, error, how)
    if not isinstance(error, GeneratorExit):
        yield from desk.shield.unsettled.catch_up()


def not_begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Write down that a call was not begun after all, and have all that it took given back on the next trip."""
    started = desk.under_way.leave(decision.id)
    if started is not None:
        started.begun = False
        leave(desk, started)
    else:
        desk.shield.unsettled.owe(owed(desk, event, ((decision.id, None),) if decision.held else ()))


def leave(desk: Desk, started: Started, error: BaseException | None = None, how: str = "") -> None:
    """Have what a call took given back on the next trip, and write down that it was left. What was not even decided
    has no record."""
    from stanchion.runtime.ledger import FAILED, UNKNOWN
    from stanchion.runtime.recording import left

    event, decision = started.event, started.decision
    page = () if started.page is None else (started.page.permit(UNKNOWN if started.begun else FAILED),)
    if decision is None:
        desk.shield.unsettled.owe(doubtful(desk, event, page))
        desk.under_way.over(event.id)
        return
    used = started.reserved if started.begun else None
    desk.shield.unsettled.owe(owed(desk, event, ((decision.id, used),) if decision.held else (), page))
    why = how if how else INTERRUPTED
    left(desk, event, decision, why if started.begun else NOT_BEGUN, error)


def begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Say that a call begins; raises `Refused` where its run was closed just before."""
    if not desk.under_way.begin(decision.id, event):
        ended = desk.ended
        said = ("kernel.ended", "it was closed") if ended is None else (ended.code, ended.why)
        finding = Finding(Action.HALT, said[0], (said[1],), guard="kernel")
        raise desk.refusal(Decision(decision.id, Action.HALT, decision.policy, (finding,)))
