"""Budgets: what is used or reserved of each, what is held, and how a run used them up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from stanchion.audit.reader import FoundRecord, Progress, TrailReader
from stanchion.audit.rebuilt import GoneRecord, Rebuilding, inputs_of, moment_of
from stanchion.audit.record import RecordEntry
from stanchion.audit.runs import RunStory, records_of
from stanchion.guards.budget import ALLOTTED, SPENDS, Budget, allotment_key, allotments
from stanchion.kernel.chain import Plans
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Moment, RunInfo
from stanchion.kernel.lookups import Answered, Ask
from stanchion.kernel.replay import could
from stanchion.kernel.state import SKIPPED, Batch, Line, When
from stanchion.kernel.units import NOTHING, Amounts, Unit
from stanchion.ops.views.amounts import MEASURES, UNITS
from stanchion.ops.views.names import name_of
from stanchion.ops.views.stored import windows
from stanchion.ops.views.veiled import veiled
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.custom import with_guards
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.deciding.open_calls import run_of, spends
from stanchion.stores.leasing.lease import POOLS, is_slice, lender_key, lender_of
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Took

WHOLE: Final = ("tenant", "fleet")
"""Scopes of which there is one, so that their counters do not say whose they are."""

Limit = tuple[int, float | None]
"""A limit, and its window in seconds."""


class BudgetLimits(Struct, frozen=True):
    """The limits of a policy by counter and what is measured: those that are the same for all, and
    the budgets that each task has its own limit of."""

    own: dict[tuple[str, str], Limit] = {}
    of_tasks: dict[tuple[str, str], Budget] = {}

    def of(self, counter: str, measure: str, whose: str) -> Limit | None:
        """The limit of a budget; `whose` is the task where it is a task's."""
        name = (counter, measure)
        bounding = self.of_tasks[name].for_task(whose) if name in self.of_tasks else None
        if bounding is None:
            return self.own.get(name)
        limits = {MEASURES[unit]: limit for unit, limit in bounding.limits().items()}
        return limits[measure], bounding.window_s


class BudgetView(Struct, frozen=True):
    """One budget as it stands: whose, of what, how much is used or reserved, and its limit where
    that is known.

    Numbers are in the unit that `measure` names: `one` (calls), `tokens`, `cost_microusd`,
    `api_calls`, `duration_ms`.
    """

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    used: int
    limit: int | None = None
    window_s: float | None = None
    period: str = ""
    """The hour, day or month that it is of, where it is one with a `window`."""

    @property
    def share(self) -> float:
        """How much of it is used; 0 where its limit is not known."""
        return 0.0 if self.limit is None else 1.0 if not self.limit else self.used / self.limit


class HeldPart(Struct, frozen=True):
    """What is reserved of one budget: which, whose, of what, and how much."""

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    amount: int


class HeldView(Struct, frozen=True):
    """What a call has reserved and not settled. A slice is what a process holds of a budget of the
    whole fleet; `heard_ms` is when that process was last heard of."""

    call: str
    run: str
    since_ms: int
    parts: tuple[HeldPart, ...]
    slice: bool = False
    heard_ms: int | None = None


def limits_of(policy: CompiledPolicy) -> BudgetLimits:
    """The limits that a policy sets."""
    guards = [seat.placed.guard for seat in policy.seats if isinstance(seat.placed.guard, Budget)]
    own = {
        (str(guard.counter), MEASURES[unit]): (limit, guard.window_s)
        for guard in guards
        for unit, limit in guard.limits().items()
    }
    of_tasks = {
        (str(guard.counter), MEASURES[unit]): guard
        for guard in guards
        if guard.of_task is not None
        for unit in guard.measured
    }
    return BudgetLimits(own, of_tasks)


def budgets(store: Store, limits: BudgetLimits, name: str = "") -> list[BudgetView]:
    """Every budget in a store, by whose it is; or those of a run, task, agent or tenant of that
    name."""
    each = ((one, veiled(one)) for one in _spent(store, limits))
    found = [shown for one, shown in each if _is_of(one, name) or _is_of(shown, name)]
    return sorted(found, key=lambda one: (one.tenant, one.per, one.whose, one.budget, one.measure))


def most_used(found: list[BudgetView], count: int) -> list[BudgetView]:
    """Those of which least is left."""
    return sorted(found, key=lambda one: (-one.share, -one.used))[:count]


def held(store: Store, name: str = "", tenant: str | None = None) -> list[HeldView]:
    """What is held of budgets, the oldest first: all of it, or that of a call, run, budget, or
    whose that is called so, and of one tenant."""
    windowed = windows(store)
    beats = {seen.key: seen.touched_ms for seen in store.look(lender_key(""))}
    found = []
    for hold in store.holds():
        if not spends(hold):
            continue
        parts = tuple(_parts(hold.took, windowed))
        heard = (
            max(hold.since_ms, beats.get(lender_key(lender_of(hold.id)), 0))
            if is_slice(hold.id)
            else None
        )
        one = HeldView(hold.id, run_of(hold.id), hold.since_ms, parts, is_slice(hold.id), heard)
        shown = veiled(one)
        if _is_held_by(one, name, tenant) or _is_held_by(shown, name, tenant):
            found.append(shown)
    return sorted(found, key=lambda one: (one.since_ms, one.slice, one.call))


def _spent(store: Store, limits: BudgetLimits) -> Iterator[BudgetView]:
    for cell in store.look():
        name = name_of(cell.key, cell.live is not None)
        used = cell.number if cell.live is None else cell.live
        match name.parts:
            case ("budget", counter, unit, per, *whose) if unit in UNITS and not name.shadow:
                asked_s = name.asked_ms / 1000 if name.window_ms else None
                period = whose.pop()[1:] if len(whose) > (per not in WHOLE) else ""
                named = ":".join(whose)
                found = limits.of(counter, unit, named)
                limit, window_s = (None, asked_s) if found is None else found
                yield BudgetView(
                    name.tenant, counter, per, named, unit, used, limit, window_s, period
                )
            case (first, unit, "run", whose) if first == ALLOTTED and unit in UNITS:
                yield BudgetView(name.tenant, "allotment", "child run", whose, unit, used)


def _is_of(one: BudgetView, name: str) -> bool:
    return not name or name in (one.tenant, one.whose, one.budget)


def _parts(took: tuple[Took, ...], windowed: frozenset[str]) -> Iterator[HeldPart]:
    for part in took:
        if not part.keeps or part.key.startswith(POOLS):
            continue
        name = name_of(part.key, part.key in windowed)
        measure = MEASURES[Unit(part.unit)]
        match name.parts:
            case ("budget", counter, _, per, *whose):
                yield HeldPart(name.tenant, counter, per, ":".join(whose), measure, part.amount)
            case (first, _, "run", run) if first == ALLOTTED:
                yield HeldPart(name.tenant, "allotment", "child run", run, measure, part.amount)
            case _:
                yield HeldPart(name.tenant, name.text, "", "", measure, part.amount)


def _is_held_by(one: HeldView, name: str, tenant: str | None) -> bool:
    tenants = {part.tenant for part in one.parts}
    names = {
        one.call,
        one.run,
        *tenants,
        *[word for part in one.parts for word in (part.budget, part.whose)],
    }
    return (not name or name in names) and (tenant is None or tenant in tenants)


# What a recorded decision had counted: the lines of its batch, beside the values that its record
# has of them.


def counted(policy: CompiledPolicy, run: RunInfo, entry: RecordEntry) -> Iterator[tuple[Line, int]]:
    """The lines that a decision reached, each with its value before, found by judging it again as
    far as its batch.

    Nothing where the policy is another one, or the record has too little of the event, or of what
    it was judged on, to be judged again.
    """
    if not entry.values or entry.left or not policy.hash.startswith(entry.policy):
        return
    try:
        lines = lines_of(Plans(policy, run, could(inputs_of(entry))), moment_of(entry, run), entry)
    except ValueError:
        return
    said = entry.actions if entry.actions else (0,) * len(lines)
    if len(lines) == len(entry.values) == len(said):
        each = zip(lines, entry.values, said, strict=True)
        yield from ((line, value) for line, value, action in each if action != SKIPPED)


def lines_of(plans: Plans, moment: Moment, entry: RecordEntry) -> tuple[Line, ...]:
    """The lines of the batch that a decision is judged again to; none where it comes to no
    batch."""
    inputs = inputs_of(entry)
    answers = dict(inputs.answers)
    records = {name: (version, value) for name, version, value in inputs.records}
    deciding = decide(plans, moment, records)
    try:
        need = next(deciding)
        while isinstance(need, Ask):
            need = deciding.send(
                tuple(answers.get(lookup.name, Answered(None)) for lookup in need.lookups)
            )
    except StopIteration:
        return ()
    return need.lines if isinstance(need, Batch) else ()


PARTS: Final = 10
"""Into how many parts the time of a run is divided."""

MOST_SHAPES: Final = 64
"""How many kinds of calls of one part are looked into at the most, and how many are remembered in
all."""
DONE: Final = MOST_SHAPES + 1
CHANGES: Final = ("settled", "late")
"""What a store says of a settlement that changed its counters."""
MOST_PENDING: Final = 100_000
"""How many settlements are remembered until their calls are read."""


class Burned(Struct, frozen=True, kw_only=True):
    """One budget as a run used it: what was used or reserved of it after each part of the run,
    `None` where that is not known. `key` is its counter. Without a policy the limit is not known,
    and it is what the run itself used."""

    measure: Unit
    used: tuple[int | None, ...]
    budget: str = ""
    per: str = "run"
    limit: int | None = None
    window_s: float | None = None
    key: str = ""


class _Sample(NamedTuple):
    """A counter as the newest record of a part has it, and how many records are newer than that
    one."""

    age: int
    used: int
    before: int


class _Settled(NamedTuple):
    """What a call used in the end: in which part that was known, how many records are newer, and
    the amounts."""

    part: int
    age: int
    used: Amounts


Taken = list[tuple[str, Unit]]
"""The counters on which calls of one kind reserve something that is settled later."""


def burn_down(
    reader: TrailReader,
    story: RunStory,
    policy: CompiledPolicy | None,
    progress: Progress | None = None,
) -> list[Burned]:
    """Every budget of a run; without its policy, everything it used that can be bounded, except for
    mere calls.

    Records are read once, newest first, and how many there are makes no difference to the memory it
    takes.
    """
    budgets = [] if policy is None else list(_budgets(policy, story.run))
    if policy is not None and not budgets:
        return []
    reading = _Reading(reader, story, policy)
    for age, found in enumerate(records_of(reader, story, progress)):
        if found.is_decision:
            reading.take(age, found)
    if policy is None:
        every = [
            Burned(measure=unit, used=reading.course(unit.name))
            for unit in Unit
            if unit is not Unit.ONE
        ]
        return [one for one in every if one.used[-1]]
    return [replace(one, used=reading.course(one.key)) for one in budgets]


def policy_of(story: RunStory) -> CompiledPolicy | None:
    """The policy of a run, where its file is still the same; `None` where it is not, or was handed
    in as data."""
    if not story.source:
        return None
    try:
        policy = load_policy(story.source, story.env)
        braked, _ = with_guards(policy, (), brake=True)
    except PolicyError:
        return None
    return next((one for one in (policy, braked) if one.hash == story.policy), None)


def ends(story: RunStory) -> tuple[int, ...]:
    """When each part of a run ended."""
    return tuple(story.began + story.lasted_ms * (part + 1) // PARTS for part in range(PARTS))


def _budgets(policy: CompiledPolicy, run: RunInfo) -> Iterator[Burned]:
    """The budgets that bound a run, and what was carved out for it."""
    for unit, limit in allotments(run).items():
        yield Burned(
            measure=unit,
            used=(),
            budget="allotment",
            per="child run",
            limit=limit,
            key=allotment_key(run, unit),
        )
    for seat in policy.seats:
        guard, placed = seat.placed.guard, seat.placed
        if not isinstance(guard, Budget) or placed.shadow or not seat.concerns_run(run):
            continue
        bounding = guard.of(run)
        limits = {} if bounding is None else bounding.limits()
        window = f"/{guard.window_ms}" if guard.window_ms else ""
        for unit, name in guard.counts(run).items():
            yield Burned(
                measure=unit,
                used=(),
                budget=placed.id,
                per=guard.per,
                limit=limits[unit],
                window_s=guard.window_s,
                key=name + window,
            )


class _Reading:
    """What is known while records are read from the newest to the oldest.

    The newest record of a part that has a counter says how it stood; what was settled after that
    record changes it. Where the policy is not known there is nothing but what the run took and
    settled.
    """

    def __init__(self, reader: TrailReader, story: RunStory, policy: CompiledPolicy | None) -> None:
        self._story, self._policy = story, policy
        self._rebuilding = None if policy is None else Rebuilding(reader, policy, story.run)
        self._samples: list[dict[str, _Sample]] = [{} for _ in range(PARTS)]
        self._changes: list[dict[str, int]] = [defaultdict(int) for _ in range(PARTS)]
        self._looked: list[dict[object, int]] = [{} for _ in range(PARTS)]
        self._shapes: dict[object, Taken] = {}
        self._pending: dict[str, _Settled] = {}

    def take(self, age: int, found: FoundRecord) -> None:
        """Take in a decision that is older than all before."""
        try:
            entry = found.entry()
        except MsgspecError:
            return
        part = self._part(entry.at)
        for (name, used), said in zip(entry.settles, entry.settled, strict=False):
            if said in CHANGES and len(self._pending) < MOST_PENDING:
                self._pending[name] = _Settled(part, age, NOTHING if used is None else used)
        if entry.stage not in SPENDS:
            return
        settled = self._pending.pop(entry.id, None)
        if self._policy is None:
            self._take_amounts(entry, part, settled)
            return
        shape = (entry.stage, entry.tool, entry.with_)
        if self._may_look(part, shape, entry.went):
            self._look(age, self._judged(found, entry), part, shape)
        if settled is not None:
            for name, unit in self._shapes.get(shape, ()):
                sample = self._samples[settled.part].get(name)
                if sample is None or sample.age >= settled.age:
                    self._changes[settled.part][name] += settled.used[unit] - entry.amounts[unit]

    def _part(self, at: int) -> int:
        return min(
            PARTS - 1, max(0, at - self._story.began) * PARTS // max(1, self._story.lasted_ms)
        )

    def _may_look(self, part: int, shape: object, went: bool) -> bool:
        """Whether a kind of call has not been found in this part yet: one that was refused has
        reached some counters at the most, so that a few more are looked into."""
        looked = self._looked[part]
        if shape not in looked:
            return len(looked) < MOST_SHAPES
        return looked[shape] < (DONE if went else MOST_SHAPES)

    def _judged(self, found: FoundRecord, entry: RecordEntry) -> RecordEntry:
        """A decision's record with what it was judged on; without its counters, where that is not
        there any more."""
        try:
            return entry if self._rebuilding is None else self._rebuilding.entry(found)
        except GoneRecord:
            return replace(entry, values=())

    def _look(self, age: int, entry: RecordEntry, part: int, shape: object) -> None:
        """See how the counters stood that a decision had before it."""
        assert self._policy is not None
        looked, taken = self._looked[part], Taken()
        for line, before in counted(self._policy, self._story.run, entry):
            if line.shadow or line.when == When.LOOK:
                continue
            unit = Unit(line.unit)
            used = before + (entry.amounts[unit] if entry.went else 0)
            self._samples[part].setdefault(line.key, _Sample(age, used, before))
            if line.hold_ms:
                taken.append((line.key, unit))
        looked[shape] = DONE if entry.went else looked.get(shape, 0) + 1
        if entry.went and taken and len(self._shapes) < MOST_SHAPES * PARTS:
            self._shapes[shape] = taken

    def _take_amounts(self, entry: RecordEntry, part: int, settled: _Settled | None) -> None:
        """Count what a call took, and what it turned out to use."""
        if not entry.went or not entry.now:
            return
        for unit in Unit:
            self._changes[part][unit.name] += entry.amounts[unit]
            if settled is not None and unit is not Unit.ONE:
                self._changes[settled.part][unit.name] += settled.used[unit] - entry.amounts[unit]

    def course(self, name: str) -> tuple[int | None, ...]:
        """What was used of a counter after each part."""
        first = next((part[name] for part in self._samples if name in part), None)
        now = first.before if first is not None else 0 if self._policy is None else None
        course: list[int | None] = []
        for samples, changes in zip(self._samples, self._changes, strict=True):
            sample = samples.get(name)
            now = now if sample is None else sample.used
            now = None if now is None else max(0, now + changes.get(name, 0))
            course.append(now)
        return tuple(course)
