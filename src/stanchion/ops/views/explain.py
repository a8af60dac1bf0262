"""Explaining a decision: its findings in order, the state they were made from, and what would have
made it pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from stanchion.audit.rebuilt import Forgotten, event_of, inputs_of, moment_of
from stanchion.audit.record import RecordedFinding, RecordEntry
from stanchion.audit.worded import worded
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.declared import effect_of, sink_values
from stanchion.kernel.events import Event, Moment, ToolCall
from stanchion.kernel.lookups import Answered
from stanchion.kernel.replay import could
from stanchion.kernel.state import Line
from stanchion.kernel.table import TABLE
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES
from stanchion.ops.views.burn_down import lines_of
from stanchion.ops.views.case import Case
from stanchion.ops.views.conditions import Part, parts_of
from stanchion.ops.views.names import kind_of
from stanchion.ops.views.remedies import remedies
from stanchion.ops.views.verdicts import VerdictView, plan_of, verdicts
from stanchion.policy.argument_lint import about_arguments, written_schemas
from stanchion.policy.compiled import SAFE_MODE, CompiledPolicy, Seat
from stanchion.policy.conditions.view import View
from stanchion.policy.rules import Rule
from stanchion.policy.said import said_of


class Reason(msgspec.Struct, frozen=True, kw_only=True):
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
    when: Part | None = None
    check: Part | None = None
    to_pass: tuple[str, ...] = ()
    evidence: dict[str, str] = {}


class Counter(msgspec.Struct, frozen=True):
    """A counter as the decision found it: what it counts and for which guard, its value before, and
    what each limit leads to once it is exceeded. The numbers are in the unit that `measure`
    names."""

    guard: str
    counts: str
    before: int
    limits: tuple[tuple[int, str], ...]
    shadow: bool = False
    measure: str = "one"


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
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
    findings: tuple[Reason, ...]
    shadow: tuple[Reason, ...]
    passed: tuple[str, ...]
    skipped: tuple[str, ...]
    counters: tuple[Counter, ...]
    verdicts: tuple[VerdictView, ...] = ()
    notes: tuple[str, ...] = ()
    effect: str = ""
    acts_on: dict[str, Any] = {}
    content: Any = None


def explain(case: Case, policy: CompiledPolicy | None) -> Explanation:
    """Explain a decision from its record and the policy it was made under, or what that policy has
    become."""
    entry = case.entry
    moment = moment_in(case)
    event = moment.events[0]
    same = policy is not None and policy.hash == entry.policy
    plan = plan_of(entry, moment, policy)
    counters: tuple[Counter, ...] = ()
    missing = case.missing
    forgotten = ""
    if policy is not None and same:
        try:
            counters = _counters(policy, moment, case.judged(policy))
        except Forgotten as error:
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
        notes=(*entry.notes, *[words for words in (missing, forgotten) if words]),
        effect=effect_of(entry.traits),
        acts_on=_acts_on(policy, event),
        content=entry.content,
    )


def _acts_on(policy: CompiledPolicy | None, event: Event) -> dict[str, Any]:
    if policy is None or not isinstance(event, ToolCall):
        return {}
    return sink_values(policy.known(event.tool).sinks, event.args)


def moment_in(case: Case) -> Moment:
    """The moment as far as the record has it."""
    try:
        return moment_of(case.entry, case.run, case.args)
    except ValueError:
        return Moment((event_of(case.entry, case.run, case.args),))


def _reason(
    said: RecordedFinding,
    policy: CompiledPolicy | None,
    event: Event | None,
    case: Case,
    missing: str,
) -> Reason:
    seat = None if policy is None else policy.seat(said.guard)
    if seat is None and said.code.startswith("safe_mode."):
        seat = Seat(SAFE_MODE)
    guard = None if seat is None else seat.placed.guard
    own, words = getattr(guard, "advice", ""), worded(said, case.erased)
    when = check = None
    # A rule whose condition broke is no better explained by testing it on what is left of the
    # event.
    if isinstance(guard, Rule) and event is not None and not missing:
        view = View(event)
        when = parts_of(guard.when, view) if guard.when != "true" else None
        check = None if guard.check is None else parts_of(guard.check, view)
    return Reason(
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
    said: RecordedFinding, seat: Seat | None, event: Event | None, policy: CompiledPolicy | None
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


def _counters(policy: CompiledPolicy, moment: Moment, entry: RecordEntry) -> tuple[Counter, ...]:
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


def _counter(line: Line, value: int, owners: dict[str, str], tallies: dict[str, str]) -> Counter:
    counts = (
        "warnings" if line.key in tallies else kind_of(line.key.partition("}")[2].partition(":")[0])
    )
    guard = tallies.get(line.key, owners.get(line.key, ""))
    limits = tuple((limit, Action(action).name) for limit, action in line.bands)
    return Counter(guard, counts, value, limits, line.shadow > 0, MEASURES[Unit(line.unit)])
