"""Time limit: a run or a task has so much time from its first action on, by the store's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards._marks import (
    Percent,
    Reach,
    check_marks,
    mark,
    mark_at,
    marks_of,
    tightened,
)
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import UNSAID, Point, PolicySaid, Standing, keep_said
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import ACTIONS, Higher, Lower, PlainActionName
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.kernel.state import FOREVER, When
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "time.exceeded": Words(
            "the time of this {} is over: it has {} from its first action{}",
            "stop and report what is done so far, or ask for more time",
        ),
        "time.nearly": Words(
            "this {} reaches {} % of its time: it has {} from its first action{}",
            "finish soon; do the most important thing next",
        ),
    }
)

_TASK: Final = "{max_s:unless}more time for the task (`tasks.<name>.budget.time_s`)"
_SOONER: Final = "{estimate_s:if}a smaller `estimate_s`"
REMEDIES: Final = {
    "time.nearly": (
        _TASK,
        "before {1} % of {max_s:span} after the first action of the {per} (`{mark}`)",
        _SOONER,
        "{max_s:unless}another task: its time is counted apart",
        "{lockdown}",
    ),
    "": (
        _TASK,
        "within {max_s:span} after the first action of the {per} (`max_s`)",
        _SOONER,
        "another {per}: its time is counted apart",
    ),
}

SLACK_MS: Final = 1_000
"""How far behind the store's clock the first action's own time may be; it then counts from that
time."""

KEPT: Final = 4_096
"""How many limits of tasks are remembered."""

KEPT_MS: Final = 86_400_000
"""How often the beginning is written down again: what nobody writes for a week is forgotten."""


class TimeLimit(msgspec.Struct, frozen=True, dict=True):
    """Refuses what comes later than `max_s` seconds after the first action, and what would end
    later by its estimate.

    The first action that comes here begins the time, whether it goes ahead or not: trying is work,
    too. All limits of a run share its beginning, all limits of a task share the task's. With
    `of_task` the time is what the policy gives the run's task; a task that is given none has no
    limit.
    """

    name: ClassVar = "time_limit"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = When.JUDGED
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF})
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 30
    remedies: ClassVar = REMEDIES
    reads: ClassVar = frozenset({("tasks", "budget.time_s")})

    max_s: Lower[Annotated[float, msgspec.Meta(ge=0.001, lt=10**9)] | None] = None
    """The time allowed, in seconds from the first action; if absent, `of_task` must be `true`."""
    per: Literal["run", "task"] = "run"
    """Whether the time is that of the run or of its task; a run without a task has its own time."""
    estimate_s: Higher[Annotated[float, msgspec.Meta(ge=0, lt=10**9)]] = 0.0
    """The seconds that an action is expected to take; they count as if they had already passed."""
    warn_at: Lower[Percent | None] = None
    """Warns from this percentage of the time on, the estimate included; if absent, it does not
    warn."""
    escalate_at: Lower[Percent | None] = None
    """Asks a person from this percentage of the time on; if absent, never."""
    action: PlainActionName = "block"
    """The action for what comes too late; it must be more severe than all marks before the limit.
    """
    reach: Reach = "allowed"
    """Whether an action that reaches the limit exactly is allowed or refused."""
    of_task: bool = False
    """If `true`, the time is that of the run's task, `tasks.<name>.budget.time_s`; a task without
    one is not limited."""

    def __post_init__(self) -> None:
        if self.of_task == (self.max_s is not None):
            said = (
                "`of_task` takes the time from the task, and `max_s` gives another: leave one "
                "of them out"
            )
            raise ValueError(
                said if self.of_task else "it has no limit: give `max_s`, or `of_task: true`"
            )
        if self.of_task and (self.per != "task" or self.estimate_s):
            raise ValueError(
                "`of_task` limits the time of a task: write `per: task`, and no `estimate_s`"
            )
        if not self.of_task and self.turns[-1][0] <= 0:
            said = f"`estimate_s: {self.estimate_s:g}` never fits into `max_s: {self._limit_s:g}`"
            raise ValueError(f"{said}: give more time, or a smaller estimate")
        check_marks(self, ACTIONS[self.action], self.reach)

    @property
    def _limit_s(self) -> float:
        """The time in seconds; that of a task is known only where its task is."""
        return 0.0 if self.max_s is None else self.max_s

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def _given(self) -> Callable[[str], Any]:
        return self.said.found("tasks", "budget", only_given=True)

    @cached_property
    def _limited(self) -> Callable[[float], TimeLimit]:
        """Gives the same limit with a time of its own, one for each time."""

        @lru_cache(KEPT)
        def limited(max_s: float) -> TimeLimit:
            return msgspec.structs.replace(self, of_task=False, max_s=max_s)

        return limited

    def of(self, run: RunInfo) -> TimeLimit | None:
        """The limit of a run: this one, or the one with the time of its task; `None` where that has
        none."""
        if not self.of_task:
            return self
        given = self._given(run.task) if run.task else None
        return None if given is None or given.time_s is None else self._limited(given.time_s)

    @cached_property
    def turns(self) -> tuple[tuple[int, Action], ...]:
        """From when on what is said, in order, in milliseconds after the beginning; at one time the
        severest counts."""
        return self._turns(self._estimate_ms)

    @cached_property
    def _estimate_ms(self) -> int:
        return -int(-round(self.estimate_s * 1_000, 3) // 1)

    def _turns(self, estimate: int) -> tuple[tuple[int, Action], ...]:
        """The same for an action that takes so long."""
        limit = int(round(self._limit_s * 1_000, 3))
        last = limit - estimate if self.reach == "allowed" else limit - estimate - 1
        marks = [(mark(limit, at) - estimate, action) for action, at in marks_of(self).items()]
        return tuple(sorted([*marks, (last + 1, ACTIONS[self.action])]))

    def key(self, event: Event, /) -> str:
        """The beginning of the run or of its task."""
        return scope_key(event.run, self.per, "time")

    def judge(self, reading: Reading[Event], value: Any, now: int, /) -> Ruling | None:
        """Rule for the span of store time in which nothing turns; the store says whether it is in
        that span.

        An action takes as long as its host or this guard estimates, whichever is longer.
        """
        event = reading.event
        limit = self.of(event.run)
        return None if limit is None else limit.ruling(event, value, now)

    def ruling(self, event: Event, value: Any, now: int) -> Ruling:
        """The same by the limit of the event's run."""
        own = getattr(event, "duration_ms", 0)
        estimate = max(own, self._estimate_ms) if own else self._estimate_ms
        turns = self.turns if estimate == self._estimate_ms else self._turns(estimate)
        if value is None:
            return Ruling(
                self._said(0, turns, estimate), {"began": now, "written": now}, now, now + SLACK_MS
            )
        began = value["began"]
        put = {"began": began, "written": now} if abs(now - value["written"]) >= KEPT_MS else None
        since, until = 0, FOREVER
        for turn, _ in turns:
            if began + turn > now:
                until = began + turn
                break
            since = began + turn
        return Ruling(self._said(now - began, turns, estimate), put, since, until)

    def _said(
        self, elapsed_ms: int, turns: tuple[tuple[int, Action], ...], estimate_ms: int
    ) -> Finding | None:
        """What is to be said so long after the beginning."""
        reached = [action for turn, action in turns if turn <= elapsed_ms]
        if not reached:
            return None
        action = reached[-1]
        time = f"{self._limit_s:,.10g} second{'' if self._limit_s == 1 else 's'}"
        counted = f", with {estimate_ms / 1_000:,.10g} for this one" if estimate_ms else ""
        if action in marks_of(self):
            share = f"{marks_of(self)[action]:g}"
            return Finding(action, "time.nearly", (self.per, share, time, counted))
        return Finding(action, "time.exceeded", (self.per, time, counted))

    def tightened(self, by: float) -> TimeLimit:
        """The same limit whose marks come earlier."""
        return keep_said(tightened(self, by), self.said)

    @property
    def only_marks(self) -> bool:
        """Whether it warns at a mark; a limit that itself only warns has none."""
        return self.warn_at is not None

    def places(self, finding: Finding, _event: Event | None, /) -> dict[str, object]:
        """The mark that was reached; it may be erased."""
        known = self.max_s is not None and len(finding.args) > 1
        return {"mark": mark_at(self, finding.args[1]) if known else None}

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (ACTIONS[self.action], *marks_of(self))

    @property
    def says_worst(self) -> bool:
        """Whether no mark is severer than the limit behind it."""
        return self.action != "allow"

    def points(self, standing: Standing, /) -> Iterator[Point]:
        """A mark that has been reached when the time begins, or a millisecond later."""
        if (
            self.of_task
            or not standing.last
            or self.warn_at is None
            or standing.shadow
            or not standing.stages - UNTALLIED
        ):
            return
        turns = {action: at for at, action in self.turns}
        first = turns.pop(Action.WARN)
        if first <= 1 < min(turns.values()):
            said = (
                f"`{standing.id}` warns from the first on: `warn_at: {self.warn_at:g}` is reached"
            )
            why = "with `estimate_s` alone" if self.estimate_s else "within a millisecond"
            advice = "give a larger `warn_at`" + (
                " or a smaller `estimate_s`" if self.estimate_s else ""
            )
            said += f" {why}, and warning {standing.last} of a task waits for a person"
            yield Point("always_warns", "certain", said, f"{advice}, or leave it out", ("warn_at",))
