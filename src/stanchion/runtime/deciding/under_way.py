"""Under way: calls whose start is written down and whose outcome is not yet. None of them is left
without one."""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from stanchion.kernel.chain import Permit
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.locks import Lock

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
"""Stages of what the runtime itself starts, and sees the end of."""

NOT_BEGUN: Final = "it was not begun"
INTERRUPTED: Final = "it was interrupted: its outcome is not known"
LEFT: Final = "nobody has read its result"
CLOSED: Final = "the shield was closed before it ended: its outcome is not known"


class Open(msgspec.Struct, frozen=True, gc=False):
    """A call that was judged and has not reported back: what it was, what it reserved, and what of
    that goes back where nobody says how much was used. `adopted`: another process of the run has
    made it."""

    tool: str
    args: dict[str, Any]
    held: bool
    spent: Amounts
    at: int = 0
    lent: frozenset[int] = frozenset()
    adopted: bool = False


class Page(Protocol):
    """The page of a call in a ledger of what happens once."""

    def left(self, begun: bool) -> Permit:
        """How it is marked where its call was left: what was begun may have happened."""


class Started(msgspec.Struct, eq=False):
    """A call on its way: what it reserved, its page in the ledger, what was decided, `None` as long
    as its batch may be on its way, whether it was begun, and whether its items were `handed` to a
    host that takes them as it likes."""

    event: Event
    reserved: Amounts
    page: Page | None = None
    decision: Decision | None = None
    begun: bool = False
    handed: bool = False
    is_left: bool = False


class Way(msgspec.Struct, eq=False):
    """Which call somebody is at, who made this before anything was taken: whatever cuts them off,
    it can be left."""

    call: str = ""
    page: Page | None = None
    waited: bool = False
    """Whether it stood in a line."""
    is_done: bool = False
    """Whether it was done, and only what came of it is yet to be judged."""


class UnderWay:
    """The calls of a run that are under way, by the ids of their decisions. Safe between
    threads."""

    def __init__(self) -> None:
        self._calls: dict[str, Started] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def enter(self, way: Way, event: Event, reserved: Amounts) -> Started:
        """Something is about to be judged, and may take something. Whoever is at it was at
        `way.call` before. Before what goes ahead is written down, the decision is entered: what the
        runtime starts has to have an outcome."""
        before, way.call, way.is_done = way.call, event.id, False
        self._calls[event.id] = started = Started(event, reserved, way.page)
        if before:
            self._calls.pop(before, None)
        return started

    def begin(self, call: str, event: Event) -> bool:
        """A call begins, as that event says; false where it was left before, so that it must not
        begin."""
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
        """What is known of a call that is left by whoever was at it; `None` where somebody leaves
        it already. It is under way until that is written down."""
        with self._lock:
            started = self._calls.get(call)
            if started is None or started.is_left:
                return None
            started.is_left = True
            return started

    def calls(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._calls)

    def at_work(self) -> bool:
        """Whether somebody is at one of them."""
        return any(one.begun and not one.is_left for one in list(self._calls.values()))

    def idle(self) -> tuple[Started, ...]:
        """The calls that nobody is at, oldest first: decided and not begun, with items that a host
        has yet to take, or left by somebody who was cut off once more. Nobody else leaves them any
        more."""
        with self._lock:
            calls = list(self._calls.values())
            idle = [
                one
                for one in calls
                if one.is_left or one.handed or not (one.begun or one.decision is None)
            ]
            for one in idle:
                one.is_left = True
            return tuple(idle)
