"""Explaining a decision: its findings in order, the state they were made from, and what would have made it pass."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from holdfast.audit.recent import Remembered
from holdfast.audit.record import Entry, Said
from holdfast.kernel.actions import PROCEEDS, Action
from holdfast.kernel.chain import Plans
from holdfast.kernel.content import with_content
from holdfast.kernel.engine import decide
from holdfast.kernel.events import OF_STAGE, Event, Moment
from holdfast.kernel.gates import NORMAL
from holdfast.kernel.guard import order
from holdfast.kernel.lookups import Answered, Ask
from holdfast.kernel.stages import Stage
from holdfast.kernel.state import Batch, Line
from holdfast.kernel.table import TABLE
from holdfast.kernel.words import advice_of, message_of
from holdfast.lab.conditions import Part, parts_of
from holdfast.lab.remedies import remedies
from holdfast.policy.compiled import SAFE_MODE, CompiledPolicy, Seat
from holdfast.policy.conditions.view import View
from holdfast.policy.rules import Rule
from holdfast.policy.said import said_of

WITHHELD: Final = frozenset({"$withheld", "$sha256"})
"""Keys by which a record's content is known not to be the content itself."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One finding: who found what, the entry of the policy that says so and where it stands, and what would have made
    it pass. `when` and `check` are a rule's conditions, part by part."""

    guard: str
    action: str
    code: str
    message: str
    advice: str
    use: str = ""
    place: str = ""
    entry: dict[str, Any] = {}
    when: Part | None = None
    check: Part | None = None
    to_pass: tuple[str, ...] = ()


class Counter(msgspec.Struct, frozen=True):
    """A counter as the decision found it: what it counts and for which guard, its value before, and what each limit
    leads to once it is exceeded."""

    guard: str
    counts: str
    before: int
    limits: tuple[tuple[int, str], ...]
    shadow: bool = False


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a decision was made. `changed` says that the policy is another one by now: what is quoted from it is as it
    is now, and conditions are not tested again."""

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
    source: str
    env: str | None
    hash: str
    changed: bool
    findings: tuple[Reason, ...]
    shadow: tuple[Reason, ...]
    passed: tuple[str, ...]
    skipped: tuple[str, ...]
    counters: tuple[Counter, ...]
    content: Any = None


def explain(remembered: Remembered, policy: CompiledPolicy | None) -> Explanation:
    """Explain a decision from its record and the policy it was made under, or what that policy has become."""
    entry = remembered.entry
    same = policy is not None and policy.hash == entry.policy
    event = _event(remembered)
    spoke = {said.guard for said in (*entry.findings, *entry.shadow)} | set(entry.skipped)
    chain = policy.guards(event.stage, event.tool, event.run, NORMAL) if policy is not None and same else ()
    action = Action[entry.action]
    return Explanation(
        id=entry.id,
        run=entry.run,
        stage=entry.stage,
        tool=entry.tool,
        agent=entry.agent,
        role=remembered.run.role,
        task=entry.task,
        action=entry.action,
        proceeds=action <= PROCEEDS,
        happens=TABLE[event.stage].get(action, ""),
        at_ms=entry.at,
        store_ms=entry.now,
        policy="" if policy is None else policy.file.name,
        source=remembered.source,
        env=remembered.env,
        hash=entry.policy,
        changed=not same,
        findings=tuple(_reason(said, policy, event if same else None) for said in entry.findings),
        shadow=tuple(_reason(said, policy, event if same else None) for said in entry.shadow),
        passed=tuple(placed.id for placed in sorted(chain, key=order) if placed.id not in spoke),
        skipped=entry.skipped,
        counters=_counters(policy, event, entry) if policy is not None and same else (),
        content=entry.content,
    )


def _event(remembered: Remembered) -> Event:
    """The event as far as the record has it."""
    entry = remembered.entry
    kind: Any = OF_STAGE[Stage(entry.stage)]
    names = kind.__struct_fields__
    texts = {f.name: "" for f in msgspec.structs.fields(kind) if f.required and f.type is str}
    own = {name: value for name, value in remembered.event.items() if name in names}
    data = {**texts, **own, "id": entry.id, "at": entry.at, "call": entry.call, "tool": entry.tool}
    bare: Event = msgspec.convert({**data, "run": msgspec.to_builtins(remembered.run)}, kind)
    if entry.content is None or _withheld(entry.content):
        return bare
    try:
        whole: Event = msgspec.convert(msgspec.to_builtins(with_content(bare, entry.content)), kind)
    except (msgspec.ValidationError, TypeError):
        return bare
    return whole


def _withheld(content: Any) -> bool:
    return isinstance(content, dict) and bool(WITHHELD & content.keys())


def _reason(said: Said, policy: CompiledPolicy | None, event: Event | None) -> Reason:
    seat = None if policy is None else policy.seat(said.guard)
    if seat is None and said.code.startswith("safe_mode."):
        seat = Seat(SAFE_MODE)
    guard = None if seat is None else seat.placed.guard
    own = getattr(guard, "advice", "")
    when = check = None
    # A rule whose condition broke is no better explained by testing it on what is left of the event.
    if isinstance(guard, Rule) and event is not None:
        view = View(event)
        when = parts_of(guard.when, view) if guard.when != "true" else None
        check = None if guard.check is None else parts_of(guard.check, view)
    return Reason(
        guard=said.guard,
        action=said.action,
        code=said.code,
        message=said.text if said.text else message_of(said.code, said.args),
        advice=own if own and said.code == "rule.broken" else advice_of(said.code, said.args),
        use="" if guard is None else getattr(guard, "name", ""),
        place="" if seat is None else seat.place,
        entry={} if policy is None else said_of(policy.file, said.guard),
        when=when,
        check=check,
        to_pass=remedies(said, guard, event, when, check),
    )


def _counters(policy: CompiledPolicy, event: Event, entry: Entry) -> tuple[Counter, ...]:
    """What the counters were, where the record's values are those of the lines that this event leads to."""
    plans = Plans(policy, event.run)
    deciding = decide(plans, Moment((event,)), {})
    try:
        need = next(deciding)
        while isinstance(need, Ask):
            need = deciding.send(tuple(Answered(None) for _ in need.lookups))
    except StopIteration:
        return ()
    lines = need.lines if isinstance(need, Batch) else ()
    if not entry.values or len(lines) != len(entry.values):
        return ()
    plan = plans.of((event,), NORMAL)
    owners = {line.key: plan.guards[pos].id for pos, own in plan.meters for line in own if not line.follows}
    tallies = {plan.tally(pos).key: placed.id for pos, placed in enumerate(plan.guards)}
    return tuple(
        _counter(line, value, owners, tallies) for line, value in zip(lines, entry.values, strict=True) if value >= 0
    )


def _counter(line: Line, value: int, owners: dict[str, str], tallies: dict[str, str]) -> Counter:
    counts = "warnings" if line.key in tallies else line.key.partition("}")[2].partition(":")[0]
    guard = tallies.get(line.key, owners.get(line.key, ""))
    limits = tuple((limit, Action(action).name) for limit, action in line.bands)
    return Counter(guard, counts, value, limits, line.shadow > 0)
