"""The engine: one generator that judges a moment, yields what it needs of the world, and returns a
decision."""

from __future__ import annotations

from collections.abc import Callable, Generator, Set as AbstractSet
from typing import Any, Final

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.autonomy import EXHAUSTED, USED_UP, autonomy, exhausted
from stanchion.kernel.case import EngineCase
from stanchion.kernel.chain import Plan, Plans
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import CLEAR
from stanchion.kernel.happened import has_happened
from stanchion.kernel.judgement import (
    answers_of,
    failed,
    forget_recalled,
    heard,
    judge_answers,
    judge_pure,
    lookups_of,
    note,
    settle_known,
    with_late,
)
from stanchion.kernel.layout import keep, lay, place, watched, word
from stanchion.kernel.lookups import Answer, Ask
from stanchion.kernel.refusals import RefusalEntry, enter, entry_of
from stanchion.kernel.resolution import resolve
from stanchion.kernel.soundness import sound_ruling
from stanchion.kernel.stages import Stage
from stanchion.kernel.stakes import keep_stakes, lost_stake, rests_on
from stanchion.kernel.state import (
    ABSENT,
    CLOCK,
    EPOCH,
    FOREVER,
    Batch,
    Crowded,
    Moved,
    Records,
    Reply,
    StoreForgot,
    StoreLost,
)
from stanchion.kernel.states import NORMAL
from stanchion.kernel.without_store import (
    UNSETTLED,
    forgot,
    gate_of,
    refused,
    store_forgot,
    store_lost,
)

TRIES: Final = 8
"""How often a moment is judged because state moved meanwhile; then it is refused."""

Need = Ask | Batch | Moved
Clear = Callable[[Moment, tuple[str, ...]], Generator[Any, Any, Moment]]
"""Gives a moment with what is allowed of what was found in it, by fingerprint."""


def decide(
    plans: Plans, moment: Moment, records: Records, clear: Clear | None = None
) -> Generator[Need, Any, Decision]:
    """Judge a moment. Yields an `Ask` or a `Batch`, receives answers or a `Reply`, returns the
    decision.

    Where plans are polite, it also yields `Moved` before it judges again. `clear` asks what people
    have allowed of what guards find.

    A moment goes through the phases below, in this order: what costs nothing comes first, and
    nothing is written before everything that can refuse without it was heard. So a refused call
    pays for no question and takes nothing, and what is observed is what guards would have said one
    after the other.
    """
    case = EngineCase(plans, moment)
    for _ in range(TRIES):
        # 1. Gates: states, ends of runs and budgets stand before every chain, and say by which
        # chain it is judged.
        closed = _look(case, records)
        # 2. The event alone: the guards of that chain that need nothing else.
        plan = _judge_event(case, closed)
        if case.found:
            case = yield from _cleared(case, records, clear)
            plan = case.plan
        # 3. Lookups: all together, for guards that no stop skips. Nothing is held while somebody
        # thinks.
        if plan.asks and case.cut > -1 and (yield from _asked(case, records)):
            case.again()  # somebody has closed a gate meanwhile: look again, and ask nobody twice
            continue
        # 4. Records: guards that keep one judge by what the process knows of it; the batch expects
        # that it still holds.
        if plan.records:
            _judge_records(case, records)
        # 5. Layout: everybody is heard who needs no store; what is left for it is laid out.
        trip = _lay(case)
        # 6. No trip: nothing is left for the store, and what is known of the gates is recent.
        if not trip:
            entry = None
            made = resolve(
                plan,
                case.moment,
                case.readings,
                case.found,
                case.cut,
                case.inputs(),
                trace=None if plans.clock is None else case.trace(),
            )
            break
        # 7. One batch: a refusal that is certain already is entered along with it.
        entry = None if case.go else _known_refusal(case, records)
        try:
            reply: Reply = yield _batch(case, entry)
        except StoreLost as lost:
            # 8. Store lost: what stood when it last answered still stands, and guards open or
            # refuse as they say.
            return _lost(case, lost)
        # 9. Stale: something moved since the process looked. Nothing was written: look now, and
        # judge again; unless the store has forgotten, or somebody else was first to what the action
        # rests on.
        if reply.stale:
            stopped = yield from _moved(case, records, reply)
            if stopped is not None:
                return stopped
            continue
        # 10. Carried out: remember what was written, put into words what the bands said, and
        # resolve.
        made = _answered(case, records, reply)
        break
    else:
        # 11. Contention: others were faster in every try, so it is refused.
        return _contended(case)
    # 12. Refusals: shown to the guards that count them, unless that went along with the batch.
    if plan.refusals and made.action > PROCEEDS:
        return (yield from enter(case, records, made, entry, TRIES))
    return made


def _look(case: EngineCase, records: Records) -> Finding | None:
    """Look at the gates, and at the budgets by which the mode goes; gives the refusal where one of
    them is closed.

    Records that are the same objects as last time say the same as last time. A gate goes before
    budgets: where it refuses, or has a mode of its own, how much is left is not asked.
    """
    plans = case.plans
    watch = plans.watch
    for name, known in watch[0]:
        if records.get(name, ABSENT) is not known:
            watch = plans.look(records)
            break
    if case.first.run.may is not plans.run.may:
        case.narrow()
    _, expects, used, marked = watch
    case.watch, case.expects, case.used = watch, [*expects], [*used]
    closed: Finding | None = None
    mode = NORMAL
    if marked:
        gate = gate_of(plans, watch, case.first, case.now)
        mode, closed = gate.mode, gate.finding
        if closed is not None and closed.action == Action.ESCALATE:
            case.asks, closed = closed, None
        case.standing = gate != CLEAR
        case.since, case.until = gate.since, gate.until
    if plans.shares and mode == NORMAL and closed is None:
        mode, budgets, known_of = autonomy(plans.shares, records)
        case.expects += budgets
        case.used += known_of
        if mode == EXHAUSTED and USED_UP not in case.moment.bypasses:
            closed = exhausted(case.first)
    case.mode, case.fixed = mode, len(case.expects)
    if case.moment.carried is not None:
        case.expects += case.moment.carried.expects()
    return closed


def _judge_event(case: EngineCase, closed: Finding | None) -> Plan:
    """Pick the chain for the mode, and judge its pure guards and the late answers before them; what
    was said by the same chain in an earlier try still holds. What is closed skips the whole
    chain."""
    moment = case.moment
    case.plan = plan = case.plans.of(
        moment.events, case.mode, moment.lifts, moment.bypasses, case.now
    )
    if plan.until < FOREVER:
        case.since, case.until = max(case.since, plan.since), min(case.until, plan.until)
    if plan is not case.judged_by:
        clock = case.plans.clock
        if clock is None:
            before, before_cut, _ = judge_pure(plan, case.readings)
        else:
            from stanchion.kernel.timing import judge_timed

            case.took = {}
            before, before_cut = judge_timed(plan, case.readings, clock, case.took)
        if moment.late:
            before, before_cut = with_late(plan, moment.late, before, before_cut)
        case.judged_by, case.before, case.before_cut = plan, before, before_cut
    if closed is not None:
        case.found, case.cut, case.standing = [(-1, closed)], -1, True
    elif case.asks is not None:
        case.found, case.cut = with_late(plan, (case.asks,), case.before, case.before_cut)
    else:
        case.found, case.cut = case.before, case.before_cut
    return plan


def _cleared(
    case: EngineCase, records: Records, clear: Clear | None
) -> Generator[Any, Any, EngineCase]:
    """The case, judged once more where people have allowed something of what guards found: that is
    no finding then. A stream waits for nobody."""
    if clear is None:
        return case
    clearing, spoke = case.plan.lineup.clearing, {finding.guard for _, finding in case.found}
    if case.first.stage is Stage.MODEL_CHUNK or spoke.isdisjoint([one.id for one in clearing]):
        return case
    found: dict[str, None] = {}
    try:
        for placed in clearing:
            found |= dict.fromkeys(placed.guard.fingerprints(case.readings[0]))
    except Exception:  # noqa: BLE001 - a guard may raise anything: then nothing of it is allowed
        return case
    moment = case.moment
    if (
        not found
        or case.first.cleared
        or (cleared := (yield from clear(moment, (*found,)))) is moment
    ):
        return case
    case = EngineCase(case.plans, cleared)
    _judge_event(case, _look(case, records))
    return case


def _asked(case: EngineCase, records: Records) -> Generator[Need, Any, bool]:
    """Whether the process has learnt something of the gates while it asked what guards want to
    know; otherwise the answers are judged. Guards took as long as their answers, which are asked
    for together."""
    plan, clock = case.plan, case.plans.clock
    lookups = lookups_of(plan, plan.asks, case.readings, case.cut, case.answers)
    if lookups:
        begun = 0 if clock is None else clock()
        given: tuple[Answer, ...] = yield Ask(tuple(lookups), plan.policy)
        if clock is not None:
            took, asked = clock() - begun, {lookup.guard for lookup in lookups}
            case.took |= {pos: took for pos, _, _ in plan.asks if plan.guards[pos].id in asked}
        heard(case.answers, lookups, given)
        if any(records.get(name, ABSENT) is not known for name, known in case.watch[0]):
            return True
    if case.was_answered:
        _judge_answers(case)
    return False


def _judge_answers(case: EngineCase) -> None:
    """Judge by the answers that are there; no answer in time is one as well."""
    plan, cut = case.plan, case.cut
    case.asked = answers_of(plan, case.answers, cut)
    case.found, case.cut = judge_answers(plan, case.readings, case.answers, list(case.found), cut)


def _judge_records(case: EngineCase, records: Records) -> None:
    """Judge the guards that have a record, up to the stop; each rules for a span of time, and may
    want to write."""
    plan, found, cut, since, until = case.plan, case.found, case.cut, case.since, case.until
    expects, used, readings, now = case.expects, case.used, case.readings, case.now
    case.wanted = wanted = []
    clock = case.plans.clock
    begun = 0 if clock is None else clock()
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
            if clock is not None:
                ended = clock()
                case.took[pos] = ended - begun
                begun = ended
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
                found = list(found) if found is case.before else found
                cut = note(plan, pos, ruling.finding, found, cut)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
            found = list(found) if found is case.before else found
            cut = note(plan, pos, failed(plan, pos, case.first, error), found, cut)
    case.found, case.cut, case.since, case.until = found, cut, since, until


def _lay(case: EngineCase) -> bool:
    """Put what was found in order, and lay out lines, records and stakes before the stop; whether
    the store has to be asked.

    Where nothing was found, the lines are the plan's own: stores know them again.
    """
    plan, moment, expects = case.plan, case.moment, case.expects
    if case.found:
        case.found, case.cut, case.go = settle_known(
            plan, case.plans.policy.read, case.readings, case.found, case.cut, case.ceiling
        )
    if case.since > 0 or case.until < FOREVER:
        expects.append((CLOCK, case.since, case.until))
    if case.found or case.cut < plan.end or moment.again:
        case.lines, case.slices = lay(plan, case.found, case.cut, moment.again)
    else:
        case.lines, case.slices = plan.lines, plan.slices
    case.puts = (
        place(case.wanted, case.slices, case.cut, case.found, case.ceiling) if case.wanted else ()
    )
    if moment.stakes:
        expected, puts = rests_on(moment)
        expects += expected
        case.puts += puts
    return bool(case.lines) or _has_to_send(case)


def _has_to_send(case: EngineCase) -> bool:
    """Whether the store has to be asked although nothing is counted: something is expected or
    settled; something stands, which may have ended; or it is too long ago that anything was heard
    of the gates."""
    if len(case.expects) > case.fixed or case.moment.settles or case.standing:
        return True
    plans, first = case.plans, case.first
    return plans.confirmed < 0 or not 0 <= first.at - plans.confirmed <= plans.max_age_ms


def _known_refusal(case: EngineCase, records: Records) -> RefusalEntry | None:
    """The entry of a refusal that is certain before the batch: nothing is counted, and none of the
    guards that watch for refusals has a record here."""
    plan = case.plan
    if case.lines or not plan.refusals or case.cut >= plan.refusals[0][0]:
        return None
    return entry_of(
        plan, case.readings, records, resolve(plan, case.moment, (), case.found, case.cut, Inputs())
    )


def _batch(case: EngineCase, entry: RefusalEntry | None) -> Batch:
    """All state of the decision, carried out at once or not at all."""
    moment, expects, puts = case.moment, case.expects, case.puts
    if case.plans.clock is not None:
        case.begun = case.plans.clock()
    if entry is not None:
        puts += entry.puts
    if moment.carried is not None:
        puts += moment.carried.puts(tuple([finding for _, finding in case.found]))
    return Batch(
        case.first.id,
        case.first.run.tenant,
        case.go,
        tuple(expects) if entry is None else (*expects, *entry.expects),
        moment.settles,
        case.lines,
        moment.amounts,
        puts,
        case.ceiling,
    )


def _lost(case: EngineCase, lost: StoreLost) -> Decision:
    if isinstance(lost, StoreForgot):
        return _forgotten(case, EPOCH)
    plans, plan = case.plans, case.plan
    found, cut = store_lost(plans, plan, case.first, case.found, case.cut, lost)
    crowd = (lost.others, lost.waited_ms) if isinstance(lost, Crowded) else None
    inputs = case.inputs(lost=lost.why, confirmed=(plans.confirmed, plans.told), crowd=crowd)
    trace = None if plans.clock is None else case.trace()
    return resolve(plan, case.moment, case.readings, found, cut, inputs, trace=trace)


def _forgotten(case: EngineCase, name: str) -> Decision:
    """The decision where a record shows that the store has lost what it held."""
    found, cut = store_forgot(case.plan, case.moment, case.found, case.cut)
    inputs = case.inputs(taken=name)
    return resolve(case.plan, case.moment, case.readings, found, cut, inputs)


def _moved(
    case: EngineCase, records: Records, reply: Reply
) -> Generator[Need, Any, Decision | None]:
    """Take over what has moved, for the next try, and let others go first where plans are polite; a
    decision where there is no next try.

    What a store has forgotten is looked for first: nothing else that it says can be relied on then.
    """
    plan, moment = case.plan, case.moment
    case.now = reply.now
    name = forgot(case.watch, records, reply)
    if name:
        return _forgotten(case, name)
    own: AbstractSet[str] = frozenset() if moment.carried is None else moment.carried.moved(reply)
    if own:
        forget_recalled(plan, case.answers)
    for fresh in reply.fresh:
        if fresh.key != CLOCK and fresh.key not in own:
            records[fresh.key] = (fresh.number, fresh.value)
    name = lost_stake(moment, reply) if moment.stakes else ""
    if name:
        taken = [(-1, refused("kernel.taken", (), plan))]
        return resolve(plan, moment, case.readings, taken, -1, case.inputs(taken=name))
    case.again()
    if case.plans.polite:
        yield Moved(next((fresh.key for fresh in reply.fresh if fresh.key != CLOCK), ""))
    return None


def _answered(case: EngineCase, records: Records, reply: Reply) -> Decision:
    """The decision once the store has carried the batch out."""
    plan, moment, lines, puts, found, cut = (
        case.plan,
        case.moment,
        case.lines,
        case.puts,
        case.found,
        case.cut,
    )
    case.plans.confirmed, case.plans.told = case.first.at, reply.now
    if case.plans.clock is not None:  # guards that count took as long as the store, all at once
        took = case.plans.clock() - case.begun
        case.took |= {part.pos: took for part in case.slices if part.pos >= 0 and not part.tally}
    if moment.stakes:
        puts = keep_stakes(records, moment, puts, reply)
    if moment.carried is not None:
        moment.carried.kept(reply)
    wrote = keep(records, case.wanted, puts, lines, reply, case.ceiling) if puts else ()
    held = reply.go and (plan.holds if lines is plan.lines else any(line.hold_ms for line in lines))
    if reply.actions:
        found, cut = word(plan, moment.events, found, cut, lines, case.slices, reply)
    if plan.watchers:
        found = watched(plan, moment.events, found, cut, case.slices, reply)
    inputs = case.inputs(reply)
    trace = None if case.plans.clock is None else case.trace()
    return resolve(plan, moment, case.readings, found, cut, inputs, held, wrote, trace)


def _contended(case: EngineCase) -> Decision:
    """The decision where others were faster each time."""
    plan = case.plans.of(case.moment.events, case.mode, case.moment.lifts, case.moment.bypasses)
    args: tuple[str | int, ...] = (TRIES,)
    code = "kernel.contention"
    if has_happened(case.first):
        code, args = UNSETTLED, (f"the state changed {TRIES} times while it was judged",)
    inputs = Inputs(mode=case.mode, now=case.now, stale=TRIES, can=case.plans.limited)
    said = [(-1, refused(code, args, plan))]
    return resolve(plan, case.moment, case.readings, said, -1, inputs)
