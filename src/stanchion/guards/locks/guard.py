"""Locks: files and names that one run has locked are left alone by all others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct

from stanchion.guards.locks.table import (
    LOCK,
    UNLOCK,
    Blocker,
    LockTable,
    LockWaiter,
    PathView,
    Want,
    Who,
    base,
    covers,
    plain,
    table_of,
)
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, Handoff, HandoffDone, RunInfo, ToolCall
from stanchion.kernel.findings import Finding, Wait
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import (
    ACTIONS,
    On,
    PlainActionName,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.readings import Reading
from stanchion.readings.paths.place import place_of

SLACK_MS: Final = 1_000
"""How far behind the store's clock a time may be that is written down; beyond that the store's own
is asked for."""
LINE_MS: Final = 5_000
"""How long a place in line is kept for somebody who does not come back."""
PAUSE_MS: Final = 100
"""How long a waiting call pauses before it is judged again."""
MOST_LOCKS: Final = 200
"""How many locks a tenant may have at the same time."""
MOST_WAITING: Final = 100
"""How many calls may wait in line."""
ASKS: Final = frozenset({Stage.TOOL_CALL, Stage.HANDOFF})

Seconds = Annotated[float, Meta(ge=1, le=432_000)]
"""Up to five days: what nobody writes for a week is forgotten."""


class Locks(Struct, frozen=True, dict=True):
    """Refuses calls that change a file which another run has locked; the run that changes a file
    first locks it.

    Who comes later waits in line, first come first served. Waiting that could never end is refused
    at once. A lock ends with its run, at a handoff, when it is released, and when its run was not
    active for `lease_s`.
    """

    name: ClassVar = "locks"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = When.JUDGED
    stages: ClassVar = ASKS | {Stage.TOOL_RESULT, Stage.ERROR, Stage.HANDOFF_DONE}
    answers_at: ClassVar = ASKS
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 20

    root: str = "."
    """The folder where relative paths start; absolute if agents name files in both ways."""
    lock_reads: On[bool] = False
    """If `true`, a call that reads a file locks it, too: shared with others who read it."""
    take: bool = True
    """If `true`, a call locks what it changes. If `false`, its run must have locked it before, with
    `run.lock` or the tool `lock_file`."""
    handoff: Literal["release", "receiver"] = "release"
    """What happens to a run's locks when another agent accepts its handoff: `release`, or keep them
    for the `receiver`, whose next run has them from its first call on."""
    lease_s: Seconds = 600.0
    """After how many seconds without activity a run loses its locks; choose more than any call
    takes."""
    timeout_s: Annotated[float, Meta(ge=0, lt=10**6)] = 30.0
    """How many seconds a call waits for a lock before it is refused; `0` refuses it at once."""
    action: PlainActionName = "block"
    """The action for a call without its locks, and for a handoff of what others have locked."""
    counter: str | None = None
    """Guards with the same counter share their locks; if absent, each entry has its own."""

    @property
    def lease_ms(self) -> int:
        """How long something stays locked for a run that does nothing."""
        return int(self.lease_s * 1000)

    @cached_property
    def seen(self) -> PathView:
        """How the paths of calls are read."""
        root = place_of(self.root, lenient=self.root[1:2] == ":")
        return PathView(root, self.lock_reads)

    def key(self, event: Event, /) -> str:
        """The table of the tenant."""
        return self.run_key(event.run)

    def run_key(self, run: RunInfo, /) -> str:
        """The same for a run."""
        return key(run.tenant, "locks", "" if self.counter is None else self.counter)

    def judge(self, reading: Reading[Any], value: Any, now: int, /) -> Ruling | None:
        """Lock what a call needs, have it wait, or release what is over."""
        event, before = reading.event, table_of(value)
        table = fresh = before.at(now)
        who = Who(event.run.id, event.run.agent, event.run.parents)
        if self.handoff == "receiver" and who.agent:
            table = fresh.adopted(who)
        if isinstance(event, ToolCall):
            return self._called(reading, who, before, table, fresh, now)
        if isinstance(event, Handoff):
            return self._handing(event, who, before, table, now)
        if isinstance(event, HandoffDone):
            kept = self.handoff == "receiver"
            left = (
                table.handed(who.run, event.to, now + self.lease_ms)
                if kept
                else table.without(who.run)
            )
        else:
            left = table.without_calls(frozenset({event.call})) if event.call else table
            left = left.renewed(who.family, now, self.lease_ms)
        return None if left == fresh else self._ruled(None, before, left, now)

    def _called(
        self,
        reading: Reading[ToolCall],
        who: Who,
        before: LockTable,
        table: LockTable,
        fresh: LockTable,
        now: int,
    ) -> Ruling | None:
        """Judge a call by a table; `fresh` is the same before the run got what was kept for its
        agent."""
        event = reading.event
        if event.tool == UNLOCK:
            left = table
            for name in self.seen.released(event.args):
                left = left.without(who.run, name)
            return None if left == fresh else self._ruled(None, before, left, now, When.PROCEED)
        wants = self.seen.wanted(reading)
        unlocked = self._unlocked(table, who, event, wants)
        if unlocked is not None:
            return self._ruled(
                Finding(ACTIONS[self.action], "locks.missing", (unlocked,), about=unlocked),
                before,
                None,
                now,
            )
        me = event.call if event.call else event.id
        lacks = table.lacking(who, wants)
        blockers = table.blockers(who, me, lacks)
        if blockers:
            return self._blocked(who, me, lacks, blockers, before, table, now)
        left = table.without_calls(frozenset({me})) if event.call else table
        if lacks:
            left = left.taken(who, lacks, now + self.lease_ms)
            if len(left.held) > MOST_LOCKS:
                full = Finding(ACTIONS[self.action], "locks.full", (len(table.held),))
                return self._ruled(full, before, None, now)
        left = left.renewed(who.family, now, self.lease_ms)
        return (
            self._ruled(None, before, None if left == fresh else left, now, When.PROCEED)
            if wants or left != fresh
            else None
        )

    def _unlocked(
        self, table: LockTable, who: Who, event: ToolCall, wants: tuple[Want, ...]
    ) -> str | None:
        """The first thing that a call changes and its run, or one that it works for, has not
        locked; where calls have to have it locked before."""
        if self.take or event.tool == LOCK:
            return None
        own = [one.name for one in table.held if one.run in who.family and one.exclusive]
        changed = [want.name for want in wants if want.exclusive]
        return next(
            (name for name in changed if not any(covers(one, base(name)) for one in own)), None
        )

    def _blocked(
        self,
        who: Who,
        me: str,
        lacks: tuple[Want, ...],
        blockers: list[Blocker],
        before: LockTable,
        table: LockTable,
        now: int,
    ) -> Ruling:
        """Refuse a call, or have it wait in line."""
        first, action = blockers[0], ACTIONS[self.action]
        told = (first.name, first.agent, _moment(first.until))
        circle = table.circle(who, blockers)
        if circle is not None:
            args = (circle.name, circle.agent, circle.run)
            return self._ruled(
                Finding(action, "locks.deadlock", args, about=circle.name), before, None, now
            )
        line = [one.call for one in table.waiting]
        ahead = line.index(me) if me in line else len(line)
        if not self.timeout_s or (me not in line and len(line) >= MOST_WAITING):
            return self._ruled(
                Finding(action, "locks.held", (*told, first.run), about=first.name),
                before,
                None,
                now,
            )
        terms = Wait(PAUSE_MS, int(self.timeout_s * 1000))
        waits = Finding(
            Action.QUEUE, "locks.waits", (*told, ahead, first.run), terms=terms, about=first.name
        )
        if me in line and table.waiting[ahead].until - now > LINE_MS // 2:
            return self._ruled(waits, before, None, now)
        waiter = LockWaiter(me, who.run, who.agent, who.above, lacks, now + LINE_MS)
        return self._ruled(waits, before, table.lined_up(waiter), now)

    def _handing(
        self, event: Handoff, who: Who, before: LockTable, table: LockTable, now: int
    ) -> Ruling | None:
        """Refuse to hand over what neither of the two has locked, but somebody else has."""
        lacks = table.lacking(who, self.seen.handed(event))
        others = [
            one for one in table.blockers(who, "", lacks) if not one.waits and one.agent != event.to
        ]
        if not others:
            return self._ruled(None, before, None, now) if lacks else None
        first = others[0]
        args = (first.name, first.agent, _moment(first.until), first.run)
        return self._ruled(
            Finding(ACTIONS[self.action], "locks.conflict", args, about=first.name),
            before,
            None,
            now,
        )

    def _ruled(
        self,
        finding: Finding | None,
        before: LockTable,
        left: LockTable | None,
        now: int,
        when: When = When.JUDGED,
    ) -> Ruling:
        """An answer for as long as nothing in the table ends; one that writes down a time is made
        at that time."""
        since, until = before.span(now)
        if left is None:
            return Ruling(finding, None, since, until)
        return Ruling(finding, plain(left), max(since, now), min(until, now + SLACK_MS), when)

    def vacate(self, value: Any, calls: frozenset[str], /) -> Any:
        """The table without what those calls have in it."""
        return _changed(table_of(value), table_of(value).without_calls(calls))

    def ended(self, value: Any, runs: frozenset[str], /) -> Any:
        """The table without what those runs have in it."""
        return _changed(table_of(value), table_of(value).without_runs(runs))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.QUEUE, ACTIONS[self.action]) if self.timeout_s else (ACTIONS[self.action],)

    def actions_at(self, stage: Stage, /) -> tuple[Action, ...]:
        """The same at one stage: a handoff does not wait."""
        return self.actions() if stage is Stage.TOOL_CALL else (ACTIONS[self.action],)

    def idle(self, stages: frozenset[Stage], _alone: bool, /) -> Iterator[tuple[str, str]]:
        """Stages at which nothing is locked."""
        if stages and Stage.TOOL_CALL not in stages:
            yield "stages", "nothing is ever locked without `tool_call`; add it"


def _changed(before: LockTable, left: LockTable) -> Any:
    return None if left == before else plain(left)


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
