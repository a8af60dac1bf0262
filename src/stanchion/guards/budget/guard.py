"""Budget: what a run, task, agent, tenant or the whole fleet may spend, reserved before and settled
after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._marks import check_marks, mark, mark_at, marks_of, tightened
from stanchion.guards.budget import entry
from stanchion.guards.budget.allotment import HOLD_MS, SPENDS, Allotment, allotments, spend_line
from stanchion.guards.budget.entry import ACTS, MEASURES, UNITS, phrase, shown
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.calendar import LONGEST_S, Calendar
from stanchion.kernel.contract.values import UNSAID, Beside, Point, PolicySaid, Standing, keep_said
from stanchion.kernel.counter_scopes import ENDING, SCOPES, scope_key, spenders
from stanchion.kernel.events import Charge, Event, RunInfo
from stanchion.kernel.findings import Finding, Signals
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import BUCKETS, FOREVER, IDLE_S, Line, When, key
from stanchion.kernel.states import Signal
from stanchion.kernel.table import sensible
from stanchion.kernel.units import Unit
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "budget.exceeded": Words(
            "this would exceed the {} of this {}: {} used or reserved",
            "stop and report what is done so far, or ask for a larger budget",
        ),
        "budget.window_full": Words(
            "this would exceed the {} that this {} may use in {}: {} used or reserved",
            "wait and try again later, or ask for a larger budget",
        ),
        "budget.turn": Words(
            "another action is under way on the budget of this {}, where they take turns",
            "wait until it has ended, and try again",
        ),
        "budget.unnamed": Words(
            "the budget is counted by `{}`, and the run does not say which it is for",
            "have the host begin the run with `labels` that name it",
        ),
        "budget.nearly": Words(
            "this reaches {} % of the {} of this {}: {} used or reserved before it",
            "finish soon; do the most important thing next",
        ),
    }
)

TaskBudgets = Callable[[str], Any]
"""Gives the budget of a task, by its name; `None` where it has none."""

TURNS: Final = {"wait": Action.QUEUE, "refuse": Action.BLOCK}
TURN: Final = "turn"
UNNAMED: Final = "unnamed"
NEVER: Final = ((-1, Action.BLOCK),)
"""The band of a line that lets nothing through."""

KEPT: Final = 4_096
"""How many limits are remembered."""


class Budget(entry.Bounds, frozen=True, dict=True):
    """Bounds what is spent, by one measure or several.

    An estimate is reserved before an action and settled to what was really used afterwards; a
    refused action uses nothing. Budgets of one `counter` count together; a policy gives each entry
    a counter of its own unless it names one. With `of_task` the limit is what the policy gives the
    run's task; a task that is given none is not bounded.
    """

    name: ClassVar = "budget"
    kind: ClassVar = Kind.METER
    stages: ClassVar = SPENDS
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 30
    says_worst: ClassVar = True
    reads: ClassVar = frozenset(
        {("tasks", "budget.tokens"), ("tasks", "budget.cost_usd"), ("tasks", "budget.api_calls")}
    )

    def __post_init__(self) -> None:
        limits = self.limits()
        if self.of_task is not None:
            entry.check_of_task(self)
        elif not limits:
            raise ValueError(
                "it bounds nothing: give `tokens`, `cost_usd`, `calls`, `api_calls` or `duration_s`"
            )
        if self.cost_usd and not limits[Unit.COST_MICROUSD]:
            raise ValueError(
                f"`cost_usd: {self.cost_usd:g}` is less than a millionth: give more, or 0 for "
                f"nothing"
            )
        if self.duration_s and not limits[Unit.DURATION_MS]:
            raise ValueError(
                f"`duration_s: {self.duration_s:g}` is less than a thousandth: give more, or 0"
            )
        if self.per not in SCOPES and (near := self.per.lower().rstrip("s")) in SCOPES:
            raise ValueError(f"`per: {self.per}` is no scope: did you mean `{near}`")
        entry.check_window(self)
        check_marks(self, ACTIONS[self.action], self.reach)
        for unit, reserved in self.reserves().items():
            option, limit = f"reserve_{MEASURES[unit]}", limits.get(unit)
            if MEASURES[unit] == self.of_task:
                continue
            if limit is None:
                raise ValueError(
                    f"`{option}` is for what `{MEASURES[unit]}` bounds, which is not given: give "
                    f"both"
                )
            if reserved > limit:
                said = f"`{option}: {getattr(self, option):g}` never fits into `{MEASURES[unit]}`"
                raise ValueError(f"{said}: give more of it, or reserve less")

    @property
    def default_stages(self) -> frozenset[Stage]:
        """Where it counts unless a policy says otherwise: at charges only if something of a charge
        is bounded."""
        return SPENDS if self.measured - set(ACTS) else SPENDS - {Stage.CHARGE}

    @property
    def measured(self) -> frozenset[Unit]:
        """The measures that it bounds, by its own limits or by those of tasks."""
        own = () if self.of_task is None else (UNITS[self.of_task],)
        return frozenset((*self.limits(), *own))

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def lesser_at(self) -> frozenset[Stage]:
        """Where the policy has something lesser to ask for; a degrade mark is heard there and
        nowhere else."""
        if self.said is not UNSAID:
            return self.said.lesser_at
        return frozenset([stage for stage in SPENDS if sensible(stage, Action.DEGRADE)])

    @cached_property
    def _given(self) -> TaskBudgets:
        return self.said.found("tasks", "budget", only_given=True)

    @cached_property
    def _limited(self) -> Callable[[Any], Budget]:
        """Gives the same budget with a limit of its own, one for each limit."""

        @lru_cache(KEPT)
        def limited(limit: Any) -> Budget:
            options = {"of_task": None, str(self.of_task): limit}
            return keep_said(msgspec.structs.replace(self, **options), self.said)

        return limited

    def of(self, run: RunInfo) -> Budget | None:
        """The budget of a run: this one, or the one with the limit of its task; `None` where that
        has none."""
        return self.for_task(run.task)

    def for_task(self, task: str) -> Budget | None:
        """The budget of a task by its name: this one, or the one with that task's limit; `None`
        where it has none."""
        if self.of_task is None:
            return self
        given = self._given(task) if task else None
        limit = None if given is None else getattr(given, self.of_task)
        return None if limit is None else self._limited(limit)

    @property
    def window_ms(self) -> int:
        """The window as it is counted, 0 for a total: a little longer than asked for, because it
        slides by whole buckets, and no span of `window_s` may hold more than the limit."""
        if self.window_s is None:
            return 0
        return -(-round(self.window_s * 1_000) // (BUCKETS - 1)) * BUCKETS

    def counts(self, run: RunInfo) -> dict[Unit, str]:
        """The counters of a run that it bounds. What was carved out for a run is charged above it
        already."""
        if self.of_task is not None:
            bounding = self.of(run)
            return {} if bounding is None else bounding.counts(run)
        if self._lacks_name(run):
            return {}
        counter = "" if self.counter is None else self.counter
        keys = {
            unit: scope_key(run, self.per, "budget", counter, unit.name.lower())
            for unit in self.limits()
        }
        other = (self.per == "agent" and run.agent != run.allotted_by) or (
            self.per == "task" and run.task != run.allotted_for
        )
        if run.allotment is None or other:
            return keys
        return {unit: name for unit, name in keys.items() if run.allotment[unit] < 0}

    def totals(self, run: RunInfo, /) -> dict[str, int]:
        """The counters of a run or its task that never start anew, with their limits."""
        if self.is_windowed or self.per not in ENDING:
            return {}
        bounding = self.of(run)
        limits = {} if bounding is None else bounding.limits()
        return {name: limits[unit] for unit, name in self.counts(run).items()}

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """A counter for each measure."""
        if self.of_task is not None:
            bounding = self.of(event.run)
            return () if bounding is None else bounding.lines(event)
        if self._lacks_name(event.run):
            return (Line(key(event.run.tenant, UNNAMED, self.per), NEVER, when=When.LOOK),)
        limits = self.limits()
        idle_s = 0 if self.per not in ENDING and not self.is_windowed else self._idle_s
        behind = "" if self.window is None else f":@{self._calendar.period(event.at).name}"
        own = [
            spend_line(
                event, name + behind, unit, self._bands(limits[unit], event), self.window_ms, idle_s
            )
            for unit, name in self.counts(event.run).items()
            if not (event.stage is Stage.CHARGE and unit in ACTS)
        ]
        return (*own, *self._turn(event))

    def _turn(self, event: Event) -> tuple[Line, ...]:
        """The one place of those who take turns, kept until the outcome is known; its band stands
        behind all others."""
        if self.turns is None or event.stage not in entry.STARTS:
            return ()
        counter = "" if self.counter is None else self.counter
        name = scope_key(event.run, self.per, TURN, counter)
        return (Line(name, ((1, TURNS[self.turns]),), hold_ms=HOLD_MS, keep=False),)

    def _lacks_name(self, run: RunInfo) -> bool:
        """Whether it is counted by a name that the host does not give the run."""
        return self.per not in SCOPES and not run.label(self.per)

    @property
    def _idle_s(self) -> int:
        return IDLE_S if self.window is None else max(IDLE_S, 2 * LONGEST_S[self.window])

    @cached_property
    def _calendar(self) -> Calendar:
        """The windows by name, in the policy's time zone."""
        return Calendar(self.window if self.window is not None else "day", self.said.timezone)

    def span(self, at: int, /) -> tuple[int, int]:
        """The time of the store for which its lines at that time are right."""
        if self.window is None:
            return 0, FOREVER
        period = self._calendar.period(at)
        return period.since, period.until

    def _bands(self, limit: int, event: Event) -> tuple[tuple[int, Action], ...]:
        """Limits and what exceeding them means: a mark is reached at its percentage, with the
        estimate included."""
        last = limit if self.reach == "allowed" and limit else limit - 1
        marks = [
            (mark(limit, at) - 1, action)
            for action, at in marks_of(self).items()
            if self._hears(event, action)
        ]
        return tuple(sorted([*marks, (last, ACTIONS[self.action])]))

    def _hears(self, event: Event, action: Action) -> bool:
        """Whether a mark that leads to an action says anything here. What is charged beside a call
        is lesser where that call is."""
        if action != Action.DEGRADE or not sensible(event.stage, action):
            return sensible(event.stage, action)
        beside = isinstance(event, Charge) and event.call != ""
        called = Stage.TOOL_CALL if event.tool else Stage.MODEL_CALL
        return (called if beside else event.stage) in self.lesser_at

    def word(
        self, event: Event, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding:
        """Say what is used up, or nearly so, by the measure that is worst off."""
        at = said.index(max(said))
        line = self.lines(event)[at]
        if line.bands is NEVER:
            return Finding(action, "budget.unnamed", (self.per,))
        if not line.keep:
            return Finding(action, "budget.turn", (self.per,))
        return self.worded(event, Unit(line.unit), action, values[at])

    def worded(self, event: Event, unit: Unit, action: Action, value: int) -> Finding:
        """The same for one measure, by the limit of the run that the event is of."""
        bounding = self.of(event.run)
        found = (self if bounding is None else bounding).said_of(unit, action, value)
        if not self.halts or found.code != "budget.window_full":
            return found
        used_up = tuple([(one, (Signal.EXHAUSTED.value,)) for one in spenders(event.run, self.per)])
        return msgspec.structs.replace(found, terms=Signals(used_up))

    def said_of(self, unit: Unit, action: Action, value: int) -> Finding:
        """The same for one measure of which so much is used or reserved."""
        limit, used = phrase(unit, self.limits()[unit]), shown(unit, value)
        span = "" if self.window_s is None else f"{self.window_s:,.10g} seconds"
        span = span if self.window is None else f"one {self.window}"
        if action < ACTIONS[self.action]:
            reached = marks_of(self)[action]
            whose = f"{self.per} for {'any ' if self.window_s else ''}{span}" if span else self.per
            return Finding(action, "budget.nearly", (f"{reached:g}", limit, whose, used))
        if span:
            return Finding(action, "budget.window_full", (limit, self.per, span, used))
        return Finding(action, "budget.exceeded", (limit, self.per, used))

    def places(self, finding: Finding, _event: Event | None, /) -> dict[str, object]:
        """The limit that was met, and its option: which measure it was is told by its words."""
        share, limit = (*finding.args, None, None)[:2]
        limit = limit if finding.code == "budget.nearly" else share
        known = {phrase(unit, number): MEASURES[unit] for unit, number in self.limits().items()}
        option = known.get(str(limit))
        return {
            "limit": limit,
            "option": option,
            "mark": mark_at(self, share),
            "measure": None if option else self.of_task,
            "apart": self.per if self.per in ("run", "task", "agent") else None,
        }

    def tightened(self, by: float) -> Budget:
        """The same budget whose marks come earlier; what it bounds stays the same."""
        return keep_said(tightened(self, by), self.said)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer wherever it stands; a degrade mark is heard only where there
        is a lesser request to make, and left out elsewhere."""
        marks = [action for action in marks_of(self) if action != Action.DEGRADE]
        turn = () if self.turns is None else (TURNS[self.turns],)
        unnamed = () if self.per in SCOPES else (Action.BLOCK,)
        return (ACTIONS[self.action], *marks, *turn, *unnamed)

    @property
    def degrades(self) -> str:
        """The mark that asks for something lesser."""
        return "" if self.degrade_at is None else f"degrade_at: {self.degrade_at:g}"

    def beside(self, stages: frozenset[Stage], /) -> Beside | None:
        """What counts the requests that leave, where API calls are bounded."""
        if Unit.API_CALLS not in self.measured or stages != self.default_stages:
            return None
        return Beside("requests", Requests(self), Requests.stages, logs_pass=False)

    def idle(self, stages: frozenset[Stage], alone: bool, /) -> Iterator[tuple[str, str]]:
        """Options that do nothing at these stages."""
        return entry.idle(self, stages, alone)

    def points(self, standing: Standing, /) -> Iterator[Point]:
        """What is easily meant otherwise."""
        return entry.points(self, standing)

    def always_speaks(self) -> bool:
        """Whether nothing at all is left of a measure; a mark is spoken of by itself."""
        return self.warn_at is None and 0 in self.limits().values()


class Requests(msgspec.Struct, frozen=True):
    """Counts the requests that leave on the API calls of a budget, or of what was carved out for a
    run."""

    name: ClassVar = "requests"
    kind: ClassVar = Kind.METER
    stages: ClassVar = frozenset({Stage.EGRESS})
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 30

    budget: Budget | Allotment

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """The counter of API calls; a request that has left is counted for good."""
        return tuple(
            [
                line._replace(hold_ms=0)
                for line in self.budget.lines(event)
                if line.unit == Unit.API_CALLS
            ]
        )

    def word(
        self, event: Event, action: Action, values: tuple[int, ...], _said: tuple[int, ...], /
    ) -> Finding:
        """Say how many API calls are used up, or nearly so."""
        if isinstance(self.budget, Budget):
            return self.budget.worded(event, Unit.API_CALLS, action, values[0])
        limit = phrase(Unit.API_CALLS, allotments(event.run)[Unit.API_CALLS])
        return Finding(
            action, "budget.exceeded", (limit, "child run", shown(Unit.API_CALLS, values[0]))
        )

    def tightened(self, by: float) -> Requests:
        """The same with marks that come earlier, where there are any."""
        return self if isinstance(self.budget, Allotment) else Requests(self.budget.tightened(by))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return self.budget.actions() if isinstance(self.budget, Budget) else (Action.BLOCK,)
