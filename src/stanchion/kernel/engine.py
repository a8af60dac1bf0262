"""The engine: one generator that judges a moment, yields what it needs of the world, and returns a decision."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from stanchion.kernel.actions import PROCEEDS, UNCHANGED, Action, Risk
from stanchion.kernel.autonomy import EXHAUSTED, autonomy, exhausted
from stanchion.kernel.chain import BLIND_MS, Plan, Plans, Watch
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.epoch import takes_over
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import CLEAR, Gate, pass_gates
from stanchion.kernel.happened import has_happened
from stanchion.kernel.judging import (
    Found,
    answers_of,
    failed,
    judge_answers,
    judge_pure,
    lookups_of,
    note,
    patches_of,
    reached,
    read_of,
    settle_known,
    with_late,
)
from stanchion.kernel.layout import Wanted, keep, lay, place, watched, word
from stanchion.kernel.lineup import COUNTING
from stanchion.kernel.lookups import Answer, Ask
from stanchion.kernel.refusals import Entry, enter, entry_of, joined, keep_entry
from stanchion.kernel.soundness import sound_ruling
from stanchion.kernel.state import (
    ABSENT,
    CLOCK,
    EPOCH,
    FOREVER,
    STANDING,
    Batch,
    Crowded,
    Moved,
    Put,
    Records,
    Reply,
    StoreLost,
    When,
)
from stanchion.kernel.states import NORMAL

TRIES: Final = 8
"""How often a moment is judged because state moved meanwhile; then it is refused."""

UNSETTLED: Final = "kernel.done_unsettled"
"""What is said where the store is lost and it has happened already: nothing can be refused any more."""

Need = Ask | Batch | Moved
Given = tuple[Answer, ...] | Reply


def decide(plans: Plans, moment: Moment, records: Records) -> Generator[Need, Any, Decision]:
    """Judge a moment. Yields an `Ask` or a `Batch`, receives answers or a `Reply`, returns the decision.

    Where plans are polite, it also yields `Moved` before it judges again.
    """
    events = moment.events
    first = events[0]
    read = plans.policy.read
    readings = read_of(moment, read)
    now = first.at
    mode = NORMAL
    judged: Plan | None = None
    answers: dict[str, Answer] = {}
    before: Found = []
    before_cut = 0
    ceiling = PROCEEDS if moment.attempt > 1 else UNCHANGED
    for stale in range(TRIES):
        watch = plans.watch
        for name, known in watch[0]:
            if records.get(name, ABSENT) is not known:
                watch = plans.look(records)
                break
        _, gate_expects, gate_used, closed = watch
        expects, used = [*gate_expects], [*gate_used]
        gate: Gate | None = None
        if closed:
            gate = _gate(plans, watch, first, now)
            mode = gate.mode
            gate = None if gate == CLEAR else gate
        else:
            mode = NORMAL
        spent: Finding | None = None
        if plans.shares and mode == NORMAL and (gate is None or gate.finding is None):
            mode, budgets, known_of = autonomy(plans.shares, records)
            expects += budgets
            used += known_of
            spent = exhausted(first) if mode == EXHAUSTED else None
        fixed = len(expects)
        plan = plans.of(events, mode, moment.lifts)
        if plan is not judged:
            judged = plan
            before, before_cut = judge_pure(plan, readings)
            if moment.late:
                before, before_cut = with_late(plan, moment.late, before, before_cut)
        found, cut = before, before_cut
        since, until = 0, FOREVER
        if gate is not None:
            since, until = gate.since, gate.until
            if gate.finding is not None:
                found, cut = [(-1, gate.finding)], -1
        if spent is not None:
            found, cut = [(-1, spent)], -1

        asked: tuple[tuple[str, Answer], ...] = ()
        if plan.asks and cut > -1:
            lookups = lookups_of(plan, readings, cut, answers)
            if lookups:
                given: tuple[Answer, ...] = yield Ask(tuple(lookups), plan.policy)
                answers.update(zip([lookup.name for lookup in lookups], given, strict=True))
            asked = answers_of(plan, answers, cut)
            found, cut = judge_answers(plan, readings, answers, list(found), cut)

        wanted: Wanted = []
        for recorded in plan.records:
            pos, judge, name, index, _when, _at, _shadow = recorded
            if pos > cut:
                break
            seen = records.get(name, ABSENT)
            version = seen[0]
            used.append((name, version, seen[1]))
            expects.append((name, version, version + 1))
            try:
                ruling = judge(readings[index], seen[1], now)
                if ruling is None:
                    continue
                sound_ruling(ruling)
                if ruling.since > since:
                    since = ruling.since
                if ruling.until < until:
                    until = ruling.until
                if ruling.put is not None:
                    if ruling.when is not None:
                        recorded = (*recorded[:4], ruling.when, *recorded[5:])
                    wanted.append((recorded, ruling.put, version))
                if ruling.finding is not None:
                    found = list(found) if found is before else found
                    cut = note(plan, pos, ruling.finding, found, cut)
            except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
                found = list(found) if found is before else found
                cut = note(plan, pos, failed(plan, pos, first, error), found, cut)

        go = True
        if found:
            found, cut, go = settle_known(plan, read, readings, found, cut, ceiling)
        if since > 0 or until < FOREVER:
            expects.append((CLOCK, since, until))

        if found or cut < plan.end or moment.again:
            lines, slices = lay(plan, found, cut, moment.again)
        else:
            lines, slices = plan.lines, plan.slices
        puts = place(wanted, slices, cut, found, ceiling) if wanted else ()
        if moment.stakes:
            expects += [(stake.key, stake.version, stake.version + 1) for stake in moment.stakes]
            expects += [(CLOCK, 0, stake.until) for stake in moment.stakes if stake.until < FOREVER]
            puts += tuple([(stake.key, stake.value, stake.when, 0, 0) for stake in moment.stakes if stake.when])
        stateful = len(expects) > fixed
        aged = plans.confirmed < 0 or not 0 <= first.at - plans.confirmed <= plans.max_age_ms
        if not (lines or stateful or moment.settles or gate is not None or spent is not None or aged):
            inputs = Inputs(tuple(used), asked, None, "", mode, now, stale, plans.limited)
            if not found:
                return Decision(first.id, Action.ALLOW, plan.policy, (), (), (), (), (), False, inputs, plan.passes)
            made = _resolve(plan, moment, found, cut, inputs)
            return (
                (yield from enter(plan, moment, readings, records, made, TRIES, plans.polite))
                if plan.refusals
                else made
            )

        entry: Entry | None = None
        if plan.refusals and not go and not lines and cut < plan.refusals[0][0]:
            # Nothing is counted and none of the guards that watch has a record here: the refusal is known for certain.
            entry = entry_of(plan, readings, records, _resolve(plan, moment, found, cut, Inputs()))
        try:
            reply: Reply = yield Batch(
                first.id,
                first.run.tenant,
                go,
                tuple(expects) if entry is None else (*expects, *entry.expects),
                moment.settles,
                lines,
                moment.amounts,
                puts if entry is None else puts + entry.puts,
                ceiling,
            )
        except StoreLost as lost:
            found, cut = _store_lost(plans, plan, first, found, cut, lost)
            inputs = Inputs(
                tuple(used),
                asked,
                None,
                lost.why,
                mode,
                now,
                stale,
                plans.limited,
                confirmed=(plans.confirmed, plans.told),
                crowd=(lost.others, lost.waited_ms) if isinstance(lost, Crowded) else None,
            )
            return _resolve(plan, moment, found, cut, inputs)
        if reply.stale:
            now = reply.now
            forgot = _forgot(watch, records, reply)
            if forgot:
                found, cut = _store_forgot(plan, moment, found, cut)
                inputs = Inputs(tuple(used), asked, None, "", mode, now, stale, plans.limited, forgot)
                return _resolve(plan, moment, found, cut, inputs)
            for fresh in reply.fresh:
                if fresh.key != CLOCK:
                    records[fresh.key] = (fresh.number, fresh.value)
            lost_stake = _lost_stake(moment, reply) if moment.stakes else ""
            if lost_stake:
                refusal = Finding(Action.BLOCK, "kernel.taken", guard="kernel", shadow=plan.shadow)
                inputs = Inputs(tuple(used), asked, None, "", mode, now, stale, plans.limited, lost_stake)
                return _resolve(plan, moment, [(-1, refusal)], -1, inputs)
            if plans.polite:
                yield Moved(next((fresh.key for fresh in reply.fresh if fresh.key != CLOCK), ""))
            continue

        plans.confirmed, plans.told = first.at, reply.now
        if moment.stakes:
            puts = _keep_stakes(records, moment, puts, reply)
        wrote = keep(records, wanted, puts, lines, reply, ceiling) if puts else ()
        inputs = Inputs(tuple(used), asked, reply, "", mode, now, stale, plans.limited)
        held = reply.go and (plan.holds if lines is plan.lines else any(line.hold_ms for line in lines))
        if reply.actions:
            found, cut = word(plan, events, found, cut, lines, slices, reply)
        if plan.watchers:
            found = watched(plan, events, found, cut, slices, reply)
        if not reply.actions and not found:
            return Decision(first.id, Action.ALLOW, plan.policy, (), (), (), (), (), held, inputs, plan.passes, wrote)
        made = _resolve(plan, moment, found, cut, inputs, held, wrote)
        if entry is not None:
            keep_entry(records, entry)
            return joined(made, entry)
        return (yield from enter(plan, moment, readings, records, made, TRIES, plans.polite)) if plan.refusals else made

    plan = plans.of(events, mode, moment.lifts)
    args: tuple[str | int, ...] = (TRIES,)
    code = "kernel.contention"
    if has_happened(first):
        code, args = UNSETTLED, (f"the state changed {TRIES} times while it was judged",)
    refusal = Finding(Action.BLOCK, code, args, guard="kernel", shadow=plan.shadow)
    return _resolve(plan, moment, [(-1, refusal)], -1, Inputs(mode=mode, now=now, stale=TRIES, can=plans.limited))


def _lost_stake(moment: Moment, reply: Reply) -> str:
    """The record that somebody else was first to change, or that it is too late for; empty where it was something else
    that moved."""
    fresh = {cell.key for cell in reply.fresh}
    return next((stake.key for stake in moment.stakes if stake.key in fresh or stake.until <= reply.now), "")


def _keep_stakes(records: Records, moment: Moment, puts: tuple[Put, ...], reply: Reply) -> tuple[Put, ...]:
    """Remember the stakes that were written; returns the puts of guards alone."""
    written = [stake for stake in moment.stakes if stake.when]
    for stake in written:
        if reply.go or stake.when == When.JUDGED:
            records[stake.key] = (stake.version + 1, stake.value)
    return puts[: len(puts) - len(written)]


def _gate(plans: Plans, watch: Watch, event: Event, now: int) -> Gate:
    """What the gates say of an event, as they are known."""
    return pass_gates([known[1] for _, known in watch[0][: len(plans.gates)]], event, now)


def _store_lost(plans: Plans, plan: Plan, event: Event, found: Found, cut: int, lost: StoreLost) -> tuple[Found, int]:
    """Without the store nothing can be counted: refuse, unless every guard that needs it may fail open. Nothing opens
    because many came at once: whoever floods the store would open it.

    The gates stand before that. What was closed when they were last confirmed stays closed; and nothing opens where
    that is too long ago, because somebody may have closed a gate since.
    """
    code, said = (UNSETTLED, (lost.why,)) if has_happened(event) else (lost.code, lost.said)
    closed = [*found] if cut < 0 else []
    if plans.watch[3] and not closed and plans.confirmed >= 0:
        finding = _gate(plans, plans.watch, event, plans.told).finding
        closed = [] if finding is None else [(-1, finding)]
    if closed:
        return [*closed, (-1, _refused(code, said, plan))], -1
    needing = [pos for pos in (*[m[0] for m in plan.meters], *[r[0] for r in plan.records]) if pos <= cut]
    enforced = [plan.guards[pos] for pos in needing if not plan.guards[pos].shadow]
    recent = plans.confirmed >= 0 and 0 <= event.at - plans.confirmed <= BLIND_MS
    opens = bool(enforced) and all(placed.fail_open for placed in enforced) and event.risk < Risk.CRITICAL and recent
    return _opened(code, said, plan, found, cut, opens and not isinstance(lost, Crowded))


def _forgot(watch: Watch, records: Records, reply: Reply) -> str:
    """The record that shows that a store has lost what it held: its epoch is another, or it or a state is older than
    the batch knew it to be. Empty where all is well, or an operator has said to go on: then nothing is known of the
    store but its new epoch.

    What the process knows by now says nothing of that: another decision may have learned more meanwhile.
    """
    before = dict(watch[0])
    for fresh in reply.fresh:
        if fresh.key == EPOCH:
            if not takes_over(before[EPOCH], fresh):
                return EPOCH
            records.clear()
            return ""
    older = [fresh.key for fresh in reply.fresh if fresh.number < before.get(fresh.key, ABSENT)[0]]
    return next((name for name in older if name.endswith(STANDING)), "")


def _store_forgot(plan: Plan, moment: Moment, found: Found, cut: int) -> tuple[Found, int]:
    """A store that lost what it held knows of no halt, no budget and no approval: refuse everything but reads."""
    first = moment.events[0]
    if cut < 0:
        return [*found, (-1, _refused("kernel.store_forgot", (), plan))], -1
    reads = "read_only" in first.traits and "destructive" not in first.traits and first.risk < Risk.HIGH
    return _opened("kernel.store_forgot", (), plan, found, cut, reads and not moment.stakes)


def _refused(code: str, args: tuple[str, ...], plan: Plan) -> Finding:
    return Finding(Action.BLOCK, code, args, guard="kernel", shadow=plan.shadow)


def _opened(code: str, args: tuple[str, ...], plan: Plan, found: Found, cut: int, opens: bool) -> tuple[Found, int]:
    """What is found where there is no state: what was known without it where the action may go ahead all the same, and
    nothing but the refusal where not."""
    if opens:
        return [(-1, Finding(Action.ALLOW, code, args, guard="kernel", shadow=plan.shadow)), *found], cut
    if plan.shadow:
        return [(-1, _refused(code, args, plan)), *found], cut
    return [(-1, _refused(code, args, plan))], -1


def _resolve(
    plan: Plan,
    moment: Moment,
    found: Found,
    cut: int,
    inputs: Inputs,
    held: bool = False,
    wrote: tuple[Known, ...] = (),
) -> Decision:
    """The most severe finding wins; patches apply if it goes ahead; effects are joined, once each, in order."""
    ordered = reached(found, cut)
    real = tuple(finding for _, finding in ordered if not finding.shadow)
    action = max([finding.action for finding in real], default=Action.ALLOW)
    effects = tuple(dict.fromkeys(effect for finding in real for effect in finding.effects))
    return Decision(
        moment.id,
        action,
        plan.policy,
        real,
        tuple([placed.id for placed in plan.guards[cut + 1 :]]) if cut < plan.end else (),
        tuple(finding for _, finding in ordered if finding.shadow),
        patches_of(ordered) if action <= PROCEEDS else (),
        effects,
        held,
        inputs,
        _passed(plan, [finding for _, finding in ordered], cut, bool(inputs.lost)) if plan.passes else (),
        wrote,
        moment.events[0].stage if action > PROCEEDS and has_happened(moment.events[0]) else None,
    )


def _passed(plan: Plan, spoke: list[Finding], cut: int, lost: bool) -> tuple[str, ...]:
    """The guards that were asked and found nothing, of those that want it written down."""
    loud = {finding.guard for finding in spoke}
    asked = plan.guards[: cut + 1]
    quiet = [placed.id for placed in asked if placed.log_pass and not (lost and placed.kind in COUNTING)]
    return tuple(dict.fromkeys([guard for guard in quiet if guard not in loud]))
