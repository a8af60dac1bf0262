"""Explaining a decision: its case, its findings in order, and what would have made it pass."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from stanchion.audit.apart import is_erased
from stanchion.audit.journal import Start
from stanchion.audit.reader import FoundRecord, Progress, TrailReader
from stanchion.audit.rebuilt import (
    GoneRecord,
    Rebuilding,
    args_of,
    event_of,
    inputs_of,
    moment_of,
    run_of,
)
from stanchion.audit.record import OUTCOME, RecordedFinding, RecordEntry
from stanchion.audit.worded import worded
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.declared import effect_of, sink_values
from stanchion.kernel.events import OF_STAGE, Event, Moment, RunInfo, ToolCall
from stanchion.kernel.lookups import Answered
from stanchion.kernel.replay import could
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line
from stanchion.kernel.table import TABLE
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES
from stanchion.ops.views.budgets import lines_of
from stanchion.ops.views.names import kind_of
from stanchion.ops.views.records import DecisionView, record_view
from stanchion.ops.views.remedies import ConditionPart, Cures, parts_of, remedies
from stanchion.ops.views.trails import record
from stanchion.ops.views.verdicts import VerdictView, plan_of, verdicts
from stanchion.policy.compiled import SAFE_MODE, CompiledPolicy, GuardSeat
from stanchion.policy.conditions.view import EventView
from stanchion.policy.custom import BRAKE, with_guards
from stanchion.policy.definitions import hash_beside
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import compile_document, read_policy
from stanchion.policy.rules import Rule
from stanchion.policy.said import said_of
from stanchion.policy.tool_lint import about_arguments, written_schemas


class DecisionCase(Struct, frozen=True):
    """A decision's record, who was at work, where the policy came from, and the arguments of an
    outcome's call.

    `source` is empty where the policy was handed in as data, and `None` where nothing is known of
    it. `tools` is the digest of the tools' definitions that were known besides it. `place` is where
    the record stands, for what else its trail has to say, and `newest` a newer decision, where
    this one is called the last.
    """

    entry: RecordEntry
    run: RunInfo
    source: str | None = None
    env: str | None = None
    args: dict[str, Any] | None = None
    tools: str = ""
    place: tuple[TrailReader, FoundRecord] | None = None
    newest: str = ""

    @property
    def erased(self) -> bool:
        """Whether what was said in the record is erased."""
        return self.place is not None and is_erased(
            self.place[1].line.body, self.place[1].line.kept
        )

    @property
    def missing(self) -> str:
        """What of the event is not there any more, in words; empty where all of it is."""
        if self.erased:
            return "it cannot be judged again: the content of its record was erased"
        entry = self.entry
        if self.args is not None or self.place is None or entry.kind != OUTCOME or not entry.call:
            return ""
        if "args" in entry.beside or "args" not in OF_STAGE[Stage(entry.stage)].__struct_fields__:
            return ""
        intent = self.place[0].find(entry.call)
        if intent is None:
            return (
                "its conditions are not tested again: the record of its call is not in the trail, "
                "or was removed from it"
            )
        gone = is_erased(intent.line.body, intent.line.kept)
        return (
            "its conditions are not tested again: the arguments of its call were erased"
            if gone
            else ""
        )

    def judged(self, policy: CompiledPolicy) -> RecordEntry:
        """The record with everything that the decision was judged on; raises `GoneRecord` where
        that is not there."""
        if self.place is None:
            if self.entry.left:
                raise GoneRecord("the records of its run are not available")
            return self.entry
        reader, found = self.place
        return Rebuilding(reader, policy, self.run).entry(found)


def case_of(reader: TrailReader, found: FoundRecord) -> DecisionCase:
    """The case of a decision in a trail; what is no longer there is left out."""
    entry = found.entry()
    args = args_of(reader, entry)
    begun = reader.begun(found)
    if begun is None:
        return DecisionCase(entry, run_of(entry), args=args, place=(reader, found))
    if begun.policy.startswith(entry.policy):
        entry = replace(entry, policy=begun.policy)
    return DecisionCase(
        entry, begun.run, begun.source, begun.env, args, begun.tools, (reader, found)
    )


def case_just_made(entry: RecordEntry, start: Start, folder: Path | None) -> DecisionCase:
    """The case of a decision that was just made; `folder` is its trail, where the arguments of a
    call may stand."""
    args = None if folder is None else args_of(TrailReader(folder), entry)
    return DecisionCase(entry, start.info, start.source, start.env, args, start.tools)


def policy_of(case: DecisionCase, imports: bool = True) -> CompiledPolicy | None:
    """The policy that a decision was made under, as it is now; `None` where it cannot be loaded, or
    was handed in. Without `imports` none of the code that it names is run."""
    if not case.source:
        return None
    try:
        read = read_policy(case.source)
        policy = compile_document(read.variant(case.env), read.files, imports)
    except PolicyError:
        return None
    if case.tools and hash_beside(policy.hash, case.tools) == case.entry.policy:
        # The file is as it was, and only definitions of tools came from the program: all that it
        # says still holds.
        return CompiledPolicy(
            policy.file,
            policy.seats,
            policy.calls,
            policy.undos,
            policy.files,
            digest=case.entry.policy,
        )
    if policy.hash == case.entry.policy or all(
        said.guard != BRAKE.id for said in case.entry.findings
    ):
        return policy
    try:
        braked, _ = with_guards(policy, (), brake=True)
    except PolicyError:
        return policy
    return braked if braked.hash == case.entry.policy else policy


class FindingReason(Struct, frozen=True, kw_only=True):
    """One finding: who found what, the entry of the policy that says so and where it stands, and
    what would have made it pass. `when` and `check` are a rule's conditions, part by part;
    `evidence` is what a guard that asked was told, as a person is shown it, and `detail` what the
    agent was not told."""

    guard: str
    action: str
    code: str
    message: str
    advice: str
    detail: str = ""
    use: str = ""
    place: str = ""
    entry: dict[str, Any] = {}
    when: ConditionPart | None = None
    check: ConditionPart | None = None
    to_pass: tuple[str, ...] = ()
    evidence: dict[str, str] = {}


class CounterView(Struct, frozen=True):
    """A counter as the decision found it: what it counts and for which guard, its value before, and
    what each limit leads to once it is exceeded. The numbers are in the unit that `measure`
    names."""

    guard: str
    counts: str
    before: int
    limits: tuple[tuple[int, str], ...]
    shadow: bool = False
    measure: str = "one"


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a decision was made. `changed` says that the policy is another one by now: what is quoted
    from it is as it is now, and conditions are not tested again. `passed` are then the guards that
    the record itself names, and `verdicts` are not known. They are what each guardrail said; guards
    that are parts of one are one there."""

    id: str
    run: str
    stage: str
    tool: str
    agent: str
    role: str
    task: str
    action: str
    proceeds: bool
    happens: str
    at_ms: int
    store_ms: int
    policy: str
    source: str | None
    env: str | None
    hash: str
    changed: bool
    findings: tuple[FindingReason, ...]
    shadow: tuple[FindingReason, ...]
    passed: tuple[str, ...]
    skipped: tuple[str, ...]
    counters: tuple[CounterView, ...]
    verdicts: tuple[VerdictView, ...] = ()
    notes: tuple[str, ...] = ()
    effect: str = ""
    acts_on: dict[str, Any] = {}
    content: Any = None
    cures: Cures = Cures()


def explain(case: DecisionCase, policy: CompiledPolicy | None) -> Explanation:
    """Explain a decision from its record and the policy it was made under, or what that policy has
    become."""
    entry = case.entry
    moment = moment_in(case)
    event = moment.events[0]
    same = policy is not None and policy.hash == entry.policy
    plan = plan_of(entry, moment, policy)
    counters: tuple[CounterView, ...] = ()
    missing = case.missing
    forgotten = ""
    after = [f"after it all was allowed, up to `{case.newest}`"] if case.newest else []
    if policy is not None and same:
        try:
            counters = _counters(policy, moment, case.judged(policy))
        except GoneRecord as error:
            # That its own record says nothing any more is told once.
            forgotten = "" if case.erased else str(error)
    about: dict[str, Event] = {}
    if plan is not None:
        about = {
            placed.id: moment.events[at]
            for placed, at in zip(plan.guards, plan.event_of, strict=True)
        }
    spoke = {said.guard for said in (*entry.findings, *entry.shadow)} | set(entry.skipped)
    action = Action[entry.action]
    return Explanation(
        id=entry.id,
        run=entry.run,
        stage=entry.stage,
        tool=entry.tool,
        agent=entry.agent,
        role=case.run.role,
        task=entry.task,
        action=entry.action,
        proceeds=action <= PROCEEDS,
        happens=TABLE[event.stage].get(action, ""),
        at_ms=entry.at,
        store_ms=entry.now,
        policy="" if policy is None else policy.file.name,
        source=case.source,
        env=case.env,
        hash=entry.policy,
        changed=not same,
        findings=tuple(
            _reason(said, policy, about.get(said.guard), case, missing) for said in entry.findings
        ),
        shadow=tuple(
            _reason(said, policy, about.get(said.guard), case, missing) for said in entry.shadow
        ),
        passed=entry.passed
        if plan is None
        else tuple(guard for guard in about if guard not in spoke),
        skipped=entry.skipped,
        counters=counters,
        verdicts=verdicts(entry, plan, case.erased),
        notes=(*entry.notes, *[words for words in (missing, forgotten) if words], *after),
        effect=effect_of(entry.traits),
        acts_on=_acts_on(policy, event),
        content=entry.content,
    )


def _acts_on(policy: CompiledPolicy | None, event: Event) -> dict[str, Any]:
    if policy is None or not isinstance(event, ToolCall):
        return {}
    return sink_values(policy.known(event.tool).sinks, event.args)


def moment_in(case: DecisionCase) -> Moment:
    """The moment as far as the record has it."""
    try:
        return moment_of(case.entry, case.run, case.args)
    except ValueError:
        return Moment((event_of(case.entry, case.run, case.args),))


def _reason(
    said: RecordedFinding,
    policy: CompiledPolicy | None,
    event: Event | None,
    case: DecisionCase,
    missing: str,
) -> FindingReason:
    seat = None if policy is None else policy.seat(said.guard)
    if seat is None and said.code.startswith("safe_mode."):
        seat = GuardSeat(SAFE_MODE)
    guard = None if seat is None else seat.placed.guard
    own, words = getattr(guard, "advice", ""), worded(said, case.erased)
    when = check = None
    # A rule whose condition broke is no better explained by testing it on what is left of the
    # event.
    if isinstance(guard, Rule) and event is not None and not missing:
        view = EventView(event)
        when = parts_of(guard.when, view) if guard.when != "true" else None
        check = None if guard.check is None else parts_of(guard.check, view)
    return FindingReason(
        guard=said.guard,
        action=said.action,
        code=said.code,
        message=words.message,
        advice=own if own and said.code == "rule.broken" else words.advice,
        detail=words.detail,
        use="" if guard is None else getattr(guard, "name", ""),
        place="" if seat is None else seat.place,
        entry={} if policy is None else said_of(policy.file, said.guard),
        when=when,
        check=check,
        to_pass=(*remedies(said, guard, event, when, check), *_unfit(said, seat, event, policy)),
        evidence=_evidence(said, guard, case.entry),
    )


def _unfit(
    said: RecordedFinding,
    seat: GuardSeat | None,
    event: Event | None,
    policy: CompiledPolicy | None,
) -> Iterator[str]:
    """Where a condition that failed does not fit the tool: as the policy defines it, or as it was
    called."""
    if said.code != "kernel.guard_error" or not isinstance(event, ToolCall):
        return
    if seat is not None and policy is not None:
        called = {"properties": dict.fromkeys(event.args, True)}
        known = written_schemas(policy.file).get(event.tool, called)
        for point in about_arguments(seat, {event.tool: known}):
            yield f"{point.message}: {point.advice}"


def _evidence(said: RecordedFinding, guard: Any, entry: RecordEntry) -> dict[str, str]:
    """What a guard was told that it judged by, where it can show that to a person."""
    shown = getattr(guard, "shown", None)
    answers = [
        answer.value
        for name, answer in entry.answers
        if name == said.guard and isinstance(answer, Answered)
    ]
    return dict(shown(answers[0])) if shown is not None and answers else {}


def _counters(
    policy: CompiledPolicy, moment: Moment, entry: RecordEntry
) -> tuple[CounterView, ...]:
    """What the counters were, where the record's values are those of the lines that this moment
    leads to."""
    plans = Plans(policy, moment.events[0].run, could(inputs_of(entry)))
    lines = lines_of(plans, moment, entry)
    if not entry.values or len(lines) != len(entry.values):
        return ()
    plan = plans.of(moment.events, entry.mode)
    owners = {
        line.key: plan.guards[pos].id
        for pos, own in plan.meters
        for line in own
        if not line.follows
    }
    tallies = {plan.tally(pos).key: placed.id for pos, placed in enumerate(plan.guards)}
    actions = entry.actions if entry.actions else (0,) * len(lines)
    return tuple(
        _counter(line, value, owners, tallies)
        for line, value, action in zip(lines, entry.values, actions, strict=True)
        if action >= 0 and not line.bits
    )


def _counter(
    line: Line, value: int, owners: dict[str, str], tallies: dict[str, str]
) -> CounterView:
    counts = (
        "warnings" if line.key in tallies else kind_of(line.key.partition("}")[2].partition(":")[0])
    )
    guard = tallies.get(line.key, owners.get(line.key, ""))
    limits = tuple((limit, Action(action).name) for limit, action in line.bands)
    return CounterView(guard, counts, value, limits, line.shadow > 0, MEASURES[Unit(line.unit)])


LAST = "last"
"""What the newest decision of the newest run can be called that was not simply allowed; where all
were, its newest one."""
LOOKED: Final = 10_000
"""How many decisions are looked through for it."""

Known = tuple[TrailReader, FoundRecord]
"""A decision, and the trail it is in."""


class NoDecision(LookupError):
    """That a record is there and is no decision."""


class UnreadableDecision(ValueError):
    """That the record of a decision is there and cannot be read."""


def newest_decisions(readers: Sequence[TrailReader], most: int) -> list[DecisionView]:
    """The newest decisions of all trails, newest first; those that cannot be read are left out."""
    found = []
    for reader, each in islice(_newest(readers), most):
        begun = reader.begun(each)
        view = record_view(each, None if begun is None else begun.source).decision
        found += [] if view is None else [view]
    return found


def case_named(
    readers: Sequence[TrailReader], name: str, told: Progress | None = None
) -> DecisionCase | None:
    """A decision by its id, its place, or `last`; `None` where there is none. Raises `NoDecision`
    for a record that is none, `UnreadableDecision` for one that cannot be read, `Ambiguous` for a
    place that can be several."""
    known = _last(readers) if name == LAST else _by_name(readers, name, told)
    if known is None:
        return None
    newest = next(_newest(readers), known) if name == LAST else known
    try:
        return replace(case_of(*known), newest="" if newest == known else newest[1].stub.id)
    except (MsgspecError, ValueError, KeyError):
        raise UnreadableDecision(name) from None


def _last(readers: Sequence[TrailReader]) -> Known | None:
    newest, allowed = islice(_newest(readers), LOOKED), Action.ALLOW.name
    last = next(newest, None)
    if last is None or last[1].stub.action != allowed:
        return last
    others = (one for one in newest if one[1].stub.action != allowed)
    return next((one for one in others if _is_beside(one, last)), last)


def _is_beside(one: Known, other: Known) -> bool:
    """Whether two decisions were made in one run as it was opened once, or in those of a family.
    Checks are runs of one name, each opened for one decision."""
    stub, beside = one[1].stub, other[1].stub
    if stub.run_id == beside.run_id:
        return stub.id != beside.id and stub.id.rpartition(".")[0] == beside.id.rpartition(".")[0]
    return _root(one) == _root(other)


def _root(one: Known) -> str:
    begun = one[0].begun(one[1])
    return one[1].stub.run_id if begun is None else begun.run.root


def _newest(readers: Sequence[TrailReader]) -> Iterator[Known]:
    return heapq.merge(*map(_decisions, readers), key=lambda known: known[1].stub.at, reverse=True)


def _decisions(reader: TrailReader) -> Iterator[Known]:
    return ((reader, found) for found in reader.backwards() if found.is_decision)


def _by_name(readers: Sequence[TrailReader], name: str, told: Progress | None) -> Known | None:
    for reader in readers:
        found = record(reader, name, told)
        if found is not None and found.is_decision:
            return reader, found
        if found is not None:
            raise NoDecision(name)
    return None
