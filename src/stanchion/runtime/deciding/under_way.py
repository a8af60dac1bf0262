"""Under way: calls whose start is written down and whose outcome is not yet. None of them is left
without one."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, Protocol

import msgspec

from stanchion.kernel.chain import Permit
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.locks import Lock
from stanchion.runtime.deciding.run_memory import RunNotices

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
"""Stages of what the runtime itself starts, and sees the end of."""

NOT_BEGUN: Final = "it was not begun"
INTERRUPTED: Final = "it was interrupted: its outcome is not known"
LEFT: Final = "nobody has read its result"
CLOSED: Final = "the shield was closed before it ended: its outcome is not known"


class OpenedCall(msgspec.Struct, frozen=True, gc=False):
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


class EffectPage(Protocol):
    """The page of a call in a ledger of what happens once."""

    def left(self, begun: bool) -> Permit:
        """How it is marked where its call was left: what was begun may have happened."""


class StartedCall(msgspec.Struct, eq=False):
    """A call on its way: what it reserved, its page in the ledger, what was decided, `None` as long
    as its batch may be on its way, whether it was begun, and whether its items were `handed` to a
    host that takes them as it likes."""

    event: Event
    reserved: Amounts
    page: EffectPage | None = None
    decision: Decision | None = None
    begun: bool = False
    handed: bool = False
    is_left: bool = False


class CallWay(msgspec.Struct, eq=False):
    """Which call somebody is at, who made this before anything was taken: whatever cuts them off,
    it can be left."""

    call: str = ""
    page: EffectPage | None = None
    waited: bool = False
    """Whether it stood in a line."""
    is_done: bool = False
    """Whether it was done, and only what came of it is yet to be judged."""


class UnderWay:
    """The calls of a run that are under way, by the ids of their decisions. Safe between
    threads."""

    def __init__(self) -> None:
        self._calls: dict[str, StartedCall] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def enter(self, way: CallWay, event: Event, reserved: Amounts) -> StartedCall:
        """Something is about to be judged, and may take something. Whoever is at it was at
        `way.call` before. Before what goes ahead is written down, the decision is entered: what the
        runtime starts has to have an outcome."""
        before, way.call, way.is_done = way.call, event.id, False
        self._calls[event.id] = started = StartedCall(event, reserved, way.page)
        if before not in ("", event.id):
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

    def leave(self, call: str) -> StartedCall | None:
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

    def idle(self) -> tuple[StartedCall, ...]:
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


class OpenCalls(RunNotices):
    """The calls of a run that were judged and have not reported back. Safe to use from several
    threads."""

    def __init__(self) -> None:
        super().__init__()
        self._open: OrderedDict[str, OpenedCall] = OrderedDict()
        self._streaming: set[str] = set()

    def adopted(self, call: str, reserved: Amounts) -> None:
        """Remember a call that another process of this run has made, until it is settled in the
        next step."""
        self._open[call] = OpenedCall("", {}, True, reserved, adopted=True)

    def streams_for(self) -> bool:
        """Whether a stream brings the reply to a model call that was judged and has not reported
        back; each such call has one stream."""
        waiting = (
            name
            for name, known in self._open.items()
            if not known.tool and name not in self._streaming
        )
        call = next(waiting, "")
        if call:
            self._streaming.add(call)
        return call != ""

    def is_open(self, call: str) -> bool:
        """Whether the outcome of a call is still to be reported."""
        return call in self._open

    def open_call(self, tool: str, args: dict[str, Any]) -> str:
        """The id of an open call: the oldest with that tool and those arguments, or else the newest
        of that tool, whose outcome is reported with other arguments; empty where there is none."""
        own = [
            (name, known.args == args)
            for name, known in list(self._open.items())
            if known.tool == tool
        ]
        return next((name for name, same in own if same), own[-1][0] if own else "")

    def has_open(self) -> bool:
        """Whether the outcome of any call is still to be reported."""
        return bool(self._open)

    def closed(self, call: str, tool: str, args: dict[str, Any]) -> tuple[str, OpenedCall | None]:
        """Find and forget an open call: by its decision's id, or the oldest with that tool and
        those arguments."""
        if not call:
            match = (
                name
                for name, known in list(self._open.items())
                if known.tool == tool and known.args == args
            )
            call = next(match, "")
        self._streaming.discard(call)
        return call, self._open.pop(call, None)

    def found_open(
        self, call: str | None, tool: str, args: dict[str, Any]
    ) -> tuple[str, OpenedCall | None]:
        """An open call as `closed` finds it, left as it is; none where there is more to its end
        than to take it out."""
        name = self.open_call(tool, args) if call is None else call
        known = self._open.get(name)
        if known is not None and (
            known.tool != tool
            or known.adopted
            or (call is None and known.args != args)
            or name in self._streaming
            or name in self._notes
        ):
            known = None
        return name, known

    def close_call(self, call: str) -> bool:
        """Forget an open call; false where somebody else has."""
        return self._open.pop(call, None) is not None
