"""Chains and plans: the guards that apply to a moment, in order, and what they become for one
run."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, Protocol

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import Share
from stanchion.kernel.contract.powers import having
from stanchion.kernel.declared import ToolKnown
from stanchion.kernel.epoch import expectation
from stanchion.kernel.events import Event, Failure, RunInfo
from stanchion.kernel.faults import FAILED, tool_fault
from stanchion.kernel.gates import BESIDE, MAY, gates_of, mandate_in
from stanchion.kernel.guard import Kind, Placed, Reading, writes_at
from stanchion.kernel.lineup import Lineups, Pure, always_raises
from stanchion.kernel.mandate import join
from stanchion.kernel.soundness import sound_line
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import ABSENT, EPOCH, FOREVER, Expect, Line, Records, When, key
from stanchion.kernel.states import NORMAL

EVERY_ACTION: Final = tuple(Action)
MAX_AGE_MS: Final = 1_000
"""How old a run's knowledge of shield state and cancellation may be where a chain has nothing to
send."""

NOBODY: Final[frozenset[str]] = frozenset()

BLIND_MS: Final = 60_000
"""How old that knowledge may be where guards fail open because the store is lost."""


class Policy(Protocol):
    """What the engine asks of a compiled policy."""

    @property
    def hash(self) -> str:
        """The content hash that every decision carries."""

    @property
    def shadow(self) -> bool:
        """Whether the whole policy only watches."""

    @property
    def lineups(self) -> Lineups:
        """The lineups that were made of its guards."""

    @property
    def warnings(self) -> int:
        """Which warning of one guard in a task escalates."""

    @property
    def count_marks(self) -> bool:
        """Whether marks of meters and warnings of guards that only watch are counted as well."""

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        """The guards that apply, in chain order."""

    def shares(self, run: RunInfo) -> tuple[Share, ...]:
        """The budgets of a run by which its mode goes; none where the policy has no modes."""

    def read(self, event: Any, /) -> Reading:
        """What an event says, or what was asked about one."""


class Slice(msgspec.Struct, frozen=True, gc=False):
    """Which lines of a batch belong to the guard at `pos`; a tally's belong to the warning of
    `warner` it counts, where that is not the guard at `pos` itself."""

    pos: int
    start: int
    end: int
    tally: bool = False
    warner: str = ""


Recorded = tuple[int, Callable[..., Any], str, int, When, int, int]
"""A record guard in a plan: its place, its judgement, its record's key, its event, when its record
is written, how many lines stand before it, its number if it is in shadow mode."""


Permit = tuple[str, Callable[[Any, frozenset[str]], Any], str]
"""Where a guard keeps the places that it gives out: its record's key, how calls are taken out of
it, the guard's id."""


class Plan:
    """A lineup for one run and tool, built once: lines and keys made."""

    __slots__ = (
        "_lifted", "_past", "all_pure", "asks", "bypassed", "cells", "count_marks", "end",
        "event_of", "guards", "hearing", "holds", "lifts", "lines", "lineup", "meters", "passes",
        "permits", "policy", "records", "redacts", "refusals", "run", "shadow", "since", "slices",
        "switches", "taken", "tallied", "until", "warnings", "watchers",
    )  # fmt: skip

    def __init__(
        self,
        policy: Policy,
        events: tuple[Event, ...],
        mode: str,
        can: tuple[Action, ...],
        lifts: tuple[str, ...] = (),
        bypasses: tuple[str, ...] = (),
    ) -> None:
        self.policy = policy.hash
        self.warnings, self.count_marks = policy.warnings, policy.count_marks
        self.run = events[0].run
        chains = tuple(
            [policy.guards(event.stage, event.tool, event.run, mode) for event in events]
        )
        self.lineup = lineup = policy.lineups.of(
            chains, tuple([event.stage for event in events]), can, mode
        )
        self.guards, self.event_of, self.end = lineup.guards, lineup.event_of, lineup.end
        # A chain with a guard that is always active does not only watch, whatever its policy says.
        self.shadow = policy.shadow and all(placed.shadow for placed in lineup.guards)
        self.passes, self.redacts, self.tallied, self.cells = (
            lineup.passes, lineup.redacts, lineup.tallied, lineup.cells,
        )  # fmt: skip
        self.hearing = lineup.hearing(events)
        self.all_pure, self.switches, self.asks = lineup.all_pure, lineup.switches, lineup.asks
        self.lifts = frozenset(lifts)
        self._lifted = [_lifted(cells) for cells in self.cells] if lifts else []
        self.bypassed = (
            frozenset([one.id for one in self.guards if one.whole in bypasses])
            if bypasses
            else NOBODY
        )
        self._past = [_past(cells) for cells in self.cells] if bypasses else []
        self.taken: set[str] = set()
        self.meters: list[tuple[int, tuple[Line, ...]]] = []
        self.watchers: dict[int, Callable[..., Any]] = {}
        self.records: list[Recorded] = []
        self.refusals: list[tuple[int, Callable[..., Any], str, int]] = []
        self.permits: list[Permit] = []
        self.since, self.until = 0, FOREVER
        self._count(events)
        lines: list[Line] = []
        self.slices: list[Slice] = []
        for pos, own in self.meters:
            start = len(lines)
            lines += own
            tallied = bool(own and own[-1].follows)
            self.slices.append(Slice(pos, start, len(lines) - tallied))
            if tallied:
                self.slices.append(Slice(pos, len(lines) - 1, len(lines), tally=True))
        self.lines = tuple(lines)
        self.holds = any(line.hold_ms for line in lines)

    def _count(self, events: tuple[Event, ...]) -> None:
        """Enter the guards that keep something of the run. One that cannot even say what is judged
        as one that raises."""
        at = 0
        broken: list[Pure] = []
        for pos, placed in self.lineup.counting:
            try:
                at += self._enter(pos, placed, events[self.event_of[pos]], at)
            except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
                broken.append((pos, always_raises(error), self.event_of[pos]))
        if broken:
            self.hearing = self.hearing.joined_by(broken)
            self.all_pure = sorted([*self.all_pure, *broken], key=itemgetter(0))

    def _enter(self, pos: int, placed: Placed, event: Event, at: int) -> int:
        """Enter one guard by its kind; returns how many lines it brings."""
        guard, index = placed.guard, self.event_of[pos]
        if placed.kind is Kind.METER:
            own = self._lines(pos, guard.lines(event))
            self.meters.append((pos, own))
            spanning = having(guard, "span")
            if spanning is not None:
                since, until = spanning.span(event.at)
                self.since, self.until = max(self.since, since), min(self.until, until)
            watching = having(guard, "watch")
            if watching is not None:
                self.watchers[pos] = watching.watch
            return len(own)
        shadow = pos + 1 if placed.shadow else 0
        name = ("~" if shadow else "") + guard.key(event)
        self.records.append(
            (pos, guard.judge, name, index, writes_at(guard, event.stage), at, shadow)
        )
        hearing = having(guard, "refused")
        if hearing is not None:
            self.refusals.append((pos, hearing.refused, name, index))
        giving = having(guard, "vacate")
        if giving is not None:
            self.permits.append((name, giving.vacate, placed.id))
        return 0

    def _lines(self, pos: int, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        """A meter's lines as they stand here: actions as they are carried out, shadow keys apart,
        its tally behind."""
        shadow = pos + 1 if self.guards[pos].shadow else 0
        cells = self.cells_for(self.guards[pos].id, self.event_of[pos])
        made: list[Line] = []
        for line in lines:
            _, bands, unit, when, _, hold_ms, keep, window_ms, _, idle_s, bits, push = line
            sound_line(line)
            name = ("~" if shadow else "") + line.key + (f"/{window_ms}" if window_ms else "")
            bands = tuple(sorted([(limit, cells[action]) for limit, action in bands]))
            when = When.LOOK if name in self.taken else when
            self.taken.add(name)
            made.append(
                Line(
                    name, bands, unit, when, 0, hold_ms, keep, window_ms, shadow, idle_s, bits, push
                )
            )  # fmt: skip
        if self.counts(pos) and any(_warns(line, self.count_marks) for line in made if line.bands):
            made.append(self.tally(pos, len(made)))
        return tuple(made)

    def counts(self, pos: int) -> bool:
        """Whether warnings of the guard at `pos` are counted; those of a late answer, which has no
        place, are."""
        if pos < 0:
            return self.tallied[0]
        return self.tallied[self.event_of[pos]] and (
            self.count_marks or not only_marks(self.guards[pos].guard)
        )

    def cells_for(self, guard: str, event: int) -> tuple[Action, ...]:
        """What each action of a guard becomes; where a person has said yes to what it asks for,
        nothing waits, and where the action goes past it, nothing is refused."""
        if guard in self.bypassed:
            return self._past[event]
        return self._lifted[event] if guard in self.lifts else self.cells[event]

    @property
    def redactors(self) -> list[Pure]:
        """The pure guards that may want something hidden."""
        return self.lineup.redactors

    def tally(self, pos: int, follows: int = 0) -> Line:
        """The line that counts the warnings of the guard at `pos` in this task, and escalates at
        the last one."""
        placed = self.guards[pos]
        return self.tally_of(
            placed.id, pos + 1 if placed.shadow else 0, self.event_of[pos], follows
        )

    def tally_of(self, guard: str, shadow: int, event: int, follows: int = 0) -> Line:
        """The same for a guard known by its id alone (a late answer's)."""
        run = self.run
        scope = ("task", run.task) if run.task else ("run", run.id)
        name = ("~" if shadow else "") + key(run.tenant, "warn", *scope, guard)
        band = (self.warnings - 1, self.cells_for(guard, event)[Action.ESCALATE])
        return Line(name, (band,), when=When.JUDGED, follows=follows, shadow=shadow)


def only_marks(guard: Any) -> bool:
    """Whether warnings of a guard are marks: others, or its own limit, say what follows."""
    return having(guard, "only_marks") is not None


def _warns(line: Line, count_marks: bool) -> bool:
    """Whether a line gives warnings that count: at its limit, or at a mark below it where marks
    count."""
    warned = [action == Action.WARN for _, action in line.bands]
    return any(warned) if count_marks else warned[-1:] == [True]


def _lifted(cells: tuple[Action, ...]) -> tuple[Action, ...]:
    return tuple([Action.ALLOW if action == Action.ESCALATE else action for action in cells])


def _past(cells: tuple[Action, ...]) -> tuple[Action, ...]:
    """What the actions of a guard become that an action goes past: it asks and refuses nothing, its
    warnings only warn. What it wants changed, and what isolates or ends, stands."""
    own = {Action.WARN: Action.WARN, Action.ESCALATE: Action.ALLOW, Action.BLOCK: Action.ALLOW}
    stops = (Action.ESCALATE, Action.BLOCK)
    return tuple(
        [own.get(Action(said), done) if done in stops else done for said, done in enumerate(cells)]
    )


Watch = tuple[
    tuple[tuple[str, tuple[int, Any]], ...],
    tuple[Expect, ...],
    tuple[tuple[str, int, Any], ...],
    bool,
]
"""The gates' records and then the epoch's as last seen, what a batch expects of them, what a
decision was made from, and whether any gate has something to say."""


class Plans:
    """The plans of one run under one policy, and what it knows of the gates: `confirmed` at that
    time of the host, which was `told` that time of the store. `polite` ones let others go first
    where they race. With a `clock`, which gives nanoseconds, decisions say how long each guard
    took."""

    __slots__ = (
        "_plans",
        "can",
        "clock",
        "confirmed",
        "gates",
        "limited",
        "max_age_ms",
        "policy",
        "polite",
        "run",
        "shares",
        "told",
        "tools",
        "watch",
    )

    def __init__(
        self,
        policy: Policy,
        run: RunInfo,
        can: tuple[Action, ...] = EVERY_ACTION,
        max_age_ms: int = MAX_AGE_MS,
        polite: bool = False,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.polite = polite
        self.clock = clock
        self.policy = policy
        self.run = run
        self.can = can
        self.limited = () if can == EVERY_ACTION else tuple([int(action) for action in can])
        self.max_age_ms = max_age_ms
        self.gates = gates_of(run)
        self.shares = policy.shares(run)
        self.confirmed = self.told = -1
        self.tools: dict[str, ToolKnown] = {}
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self.watch = self.look({})

    def look(self, records: Records) -> Watch:
        """Look at the gates' records; what a decision needs of them is kept until one of them
        moves. A store whose epoch is known is expected to be in it."""
        seen = [(name, records.get(name, ABSENT)) for name in self.gates]
        self._narrow([known[1] for _, known in seen[2:]])
        epoch = records.get(EPOCH, ABSENT)
        remembers = [] if epoch is ABSENT else [expectation(epoch[0])]
        self.watch = (
            (*seen, (EPOCH, epoch)),
            (*[(name, version, version + 1) for name, (version, _) in seen], *remembers),
            tuple([(name, known[0], known[1]) for name, known in seen if known is not ABSENT]),
            any(known[1] is not None and not known[1].keys() <= BESIDE for _, known in seen),
        )
        return self.watch

    def _narrow(self, ends: list[Any]) -> None:
        """Take over what the records of a run and its ancestors say that it may do: other processes
        may know of less than this one."""
        if any(value is not None and MAY in value for value in ends):
            known = self.run.mandate
            may = join(known, *map(mandate_in, ends))
            if may is not known:
                self.run = msgspec.structs.replace(self.run, may=may)
                self._plans.clear()

    def of(
        self,
        events: tuple[Event, ...],
        mode: str,
        lifts: tuple[str, ...] = (),
        bypasses: tuple[str, ...] = (),
        now: int = -1,
    ) -> Plan:
        """The plan for these events at that time, or at their own: by their stages, tool and mode,
        whose fault a failure is, whether a result reports one, to whose questions a person has said
        yes, and past which guards it goes."""
        first = events[0]
        shape: tuple[Any, ...]
        if (
            len(events) == 1
            and not (lifts or bypasses)
            and type(first) is not Failure
            and FAILED not in first.traits
        ):
            shape = (type(first), first.tool, mode)
        else:
            told = tool_fault(first) if type(first) is Failure else FAILED in first.traits
            shape = (*map(type, events), first.tool, mode, lifts, bypasses, told)
        plan = self._plans.get(shape)
        at = first.at if now < 0 else now
        if plan is None or not plan.since <= at < plan.until:
            if len(self._plans) >= 1_024:
                self._plans.clear()
            if at != first.at:
                events = tuple([msgspec.structs.replace(event, at=at) for event in events])
            plan = self._plans[shape] = Plan(self.policy, events, mode, self.can, lifts, bypasses)
        return plan

    def takes(self, event: Event) -> tuple[bool, tuple[Permit, ...]]:
        """What the batch of an event may have taken, or given back, in whatever mode it was judged:
        whether it holds something, and where places are."""
        judged = [
            plan
            for shape, plan in list(self._plans.items())
            if shape[0] is type(event) and event.tool in shape
        ]
        plans = (*judged, self.of((event,), NORMAL))
        places = {permit[0]: permit for plan in plans for permit in plan.permits}
        return any(plan.holds for plan in plans), tuple(places.values())
