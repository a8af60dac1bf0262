"""Queue: so many calls run at a time, others wait in line, first come first served, over all
processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Wait
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import Lower, UpToThousand
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER, When, key
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "queue.waits": Words(
            "{} of {} places are taken, and {} calls are waiting ahead of this one",
            "wait and try again",
        ),
        "queue.full": Words(
            "{} calls are already waiting in line, and no more may wait",
            "do something else first, and try again later",
        ),
    }
)

ROOM: Final = "fewer than {max_running:,} running at a time per {per} (`max_running`)"
REMEDIES: Final = {
    "queue.full": (ROOM, "a longer line than {max_waiting:,} (`max_waiting`)"),
    "": (ROOM, "more than {timeout_s:span} to wait for that (`timeout_s`)"),
}

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF})
"""Where something begins that can wait."""

Seconds = Annotated[float, msgspec.Meta(ge=0.1, lt=10**6)]

Caller = tuple[str, int]
"""Somebody in the line or at work: the call, and until when its place is kept."""


class QueueLine(msgspec.Struct, frozen=True):
    """Who is at work and who waits, in order."""

    running: tuple[Caller, ...] = ()
    waiting: tuple[Caller, ...] = ()


class Queue(msgspec.Struct, frozen=True):
    """Lets `max_running` calls run at a time; others wait in line, first come first served.

    At most `max_waiting` of them wait, and none for longer than `timeout_s`. A place is given back
    when the outcome of its call is known, or when it was kept for `keep_s`: whoever dies at work or
    in the line holds nobody up for longer.
    """

    name: ClassVar = "queue"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = When.JUDGED
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR})
    answers_at: ClassVar = STARTS
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 40
    remedies: ClassVar = REMEDIES

    max_running: Lower[Annotated[int, msgspec.Meta(ge=1, le=1_000)]] = 4
    """How many calls may run at the same time."""
    max_waiting: Lower[UpToThousand] = 100
    """How many calls may wait in line; the next one is refused at once."""
    timeout_s: Seconds = 30.0
    """How many seconds a call waits before it is refused."""
    pause_s: Annotated[float, msgspec.Meta(ge=0.001, le=60)] = 0.1
    """How many seconds a waiting call pauses before it is judged again; must be shorter than
    `timeout_s`."""
    keep_s: Seconds = 600.0
    """How many seconds a place is kept for a call that reports no outcome; choose more than any
    call takes."""
    per: Literal["tool", "run", "task", "agent", "tenant"] = "tool"
    """Who shares a line; `tool` means all calls of a tool in a tenant."""
    counter: str | None = None
    """Queues with the same counter and `per` share a line; if absent, each entry has its own."""

    def __post_init__(self) -> None:
        if self.pause_s >= self.timeout_s:
            said = (
                f"`pause_s: {self.pause_s:g}` is not shorter than `timeout_s: {self.timeout_s:g}`"
            )
            raise ValueError(f"{said}: nobody would ever wait; give a shorter pause")

    @property
    def lease_ms(self) -> int:
        """How long a place is kept for a call."""
        return int(self.keep_s * 1000)

    def key(self, event: Event, /) -> str:
        """The line of a tool, a run, a task, an agent or a tenant."""
        counter = "" if self.counter is None else self.counter
        if self.per == "tool":
            return key(event.run.tenant, "queue", counter, "tool", event.tool)
        return scope_key(event.run, self.per, "queue", counter)

    def judge(self, reading: Reading[Event], value: Any, now: int, /) -> Ruling | None:
        """Take a place, wait in line for one, or give one back."""
        event = reading.event
        line = QueueLine() if value is None else typed.convert(value, QueueLine)
        if event.stage not in STARTS:
            return self._leave(event, line)
        ends = [until for _, until in (*line.running, *line.waiting)]
        since = max([until for until in ends if until <= now], default=0)
        until = min([until for until in ends if until > now], default=FOREVER)
        running = tuple([place for place in line.running if place[1] > now])
        waiting = tuple([place for place in line.waiting if place[1] > now])
        me = event.call if event.call else event.id
        ahead = next((at for at, (who, _) in enumerate(waiting) if who == me), len(waiting))
        if ahead < self.max_running - len(running):
            left = tuple([place for place in waiting if place[0] != me])
            taken = QueueLine((*running, (event.id, now + int(self.keep_s * 1000))), left)
            return Ruling(None, _data(taken), since, until, When.PROCEED)
        if ahead == len(waiting) and len(waiting) >= self.max_waiting:
            return Ruling(Finding(Action.BLOCK, "queue.full", (len(waiting),)), None, since, until)
        terms = Wait(int(self.pause_s * 1000), int(self.timeout_s * 1000))
        waits = Finding(
            Action.QUEUE, "queue.waits", (len(running), self.max_running, ahead), terms=terms
        )
        return Ruling(waits, self._in_line(running, waiting, me, ahead, now), since, until)

    def _in_line(
        self,
        running: tuple[Caller, ...],
        waiting: tuple[Caller, ...],
        me: str,
        ahead: int,
        now: int,
    ) -> Any:
        """The line with a place in it kept long enough; nothing is written where it already is."""
        lease = max(5_000, 20 * int(self.pause_s * 1000))
        if ahead < len(waiting) and waiting[ahead][1] - now > lease // 2:
            return None
        return _data(
            QueueLine(running, (*waiting[:ahead], (me, now + lease), *waiting[ahead + 1 :]))
        )

    def _leave(self, event: Event, line: QueueLine) -> Ruling | None:
        """Give a place back; somebody who has none changes nothing."""
        left = tuple([place for place in line.running if place[0] != event.call])
        if len(left) == len(line.running):
            return None
        return Ruling(None, _data(QueueLine(left, line.waiting)))

    def vacate(self, value: Any, calls: frozenset[str], /) -> Any:
        """The line without those calls, at work or waiting."""
        line = QueueLine() if value is None else typed.convert(value, QueueLine)
        running = tuple([place for place in line.running if place[0] not in calls])
        waiting = tuple([place for place in line.waiting if place[0] not in calls])
        left = QueueLine(running, waiting)
        return None if left == line else _data(left)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.QUEUE, Action.BLOCK)

    def idle(self, stages: frozenset[Stage], _alone: bool, /) -> Iterator[tuple[str, str]]:
        """Stages at which nothing waits."""
        if stages and not stages & STARTS:
            where = ", ".join(f"`{stage}`" for stage in sorted(stages))
            said = f"nothing waits at {where}: nothing starts there"
            yield "stages", f"{said}; add a stage where something does, such as `tool_call`"


def _data(line: QueueLine) -> Any:
    return msgspec.to_builtins(line)
