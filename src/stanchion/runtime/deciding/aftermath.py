"""The aftermath of a decision: what it means for the run as a whole is carried out, and what it
leaves is owed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.audit.journal import Fact
from stanchion.kernel.actions import Action
from stanchion.kernel.compare_and_set import LEFT, change_together
from stanchion.kernel.counter_scopes import spenders
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import (
    ALERT,
    ASK,
    FINAL,
    FLAG,
    GUIDE,
    MARKS,
    ROLLBACK,
    Finding,
    Isolate,
    Narrow,
    Signals,
)
from stanchion.kernel.gates import (
    MAX_MARKED,
    STRIKES,
    Ending,
    LastWords,
    Struck,
    called,
    ending_key,
    standing_key,
    standing_of,
    stop_of,
)
from stanchion.kernel.happened import has_happened
from stanchion.kernel.state import ABSENT, FOREVER, StoreLost, key
from stanchion.kernel.states import Mark, Signal, Terms, moved
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import CLOSED_HERE, end
from stanchion.runtime.deciding.mandates import narrow
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.undos import roll_back
from stanchion.runtime.deciding.unsettled import doubtful, owed, places_of
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.epoch_memory import CLOSED, changed
from stanchion.runtime.standing.occurring import tell_run
from stanchion.runtime.standing.states import REMEMBERED_MS, TERMS, record_shift, shift, shown
from stanchion.runtime.standing.veil import tell
from stanchion.telemetry.occurrences import Kind

if TYPE_CHECKING:
    from stanchion.policy.sections import Strikes
    from stanchion.runtime.deciding.escalation import Granted

EXHAUSTED: Final = frozenset({"budget.exceeded", "kernel.exhausted"})
"""Codes that say that a budget is used up."""


def end_run(desk: Desk, code: str, why: str, by: Finding | None = None) -> Flow[None]:
    """End a run, here at once and for every other process; without the store it stays ended here.
    `by` is the finding that had the last word, if one had."""
    veil = desk.shield.policy.veil
    why = veil.words(why)
    last: LastWords | None = None
    if by is not None:
        args = [veil.words(arg) if isinstance(arg, str) else arg for arg in by.args]
        last = LastWords(by.guard, by.code, tuple(args))
    with desk.counting:
        if desk.ended in (None, CLOSED_HERE):  # a run ends once for all, and for one reason
            desk.ended = Ending(code, why, last)
    code, why = desk.ended.code, desk.ended.why
    end(desk, code, why)
    ending = msgspec.to_builtins(desk.ended)
    try:
        yield from desk.change(
            ending_key(desk.info.tenant, desk.info.id),
            lambda value, _: LEFT if isinstance(stop_of(value), Ending) else ending,
        )
        yield from changed(desk.shield.memory, desk.shield.clock())
    except StoreLost:
        desk.tell(
            "the store could not be reached: other processes do not know yet that this run has "
            "ended"
        )


def isolate(desk: Desk, name: str, how: Isolate, why: str) -> Flow[None]:
    """Isolate a tool or an agent of the run's tenant for a time, by the store's clock."""
    signals, runs = (Signal.FAILING, Signal.REPEATED), 2 if how.what == "failing_tool" else 1
    terms = Terms(quarantine_ms=how.for_ms, halt_after=FOREVER, runs=runs)
    if not (yield from signal_state(desk, name, signals, why, terms)):
        shown = called(desk.shield.policy.veil.name(name))
        desk.tell(f"the store could not be reached: {shown} is refused, but not isolated")


def times(
    desk: Desk, guard: str, name: str, decision: Decision, most: int, within_ms: int
) -> Flow[list[int] | None]:
    """Count a strike of a guard against something, once for each decision; says when those were
    given that are no older than so long, the last `most` of them. `None` where the store cannot be
    asked."""
    counted: list[int] = []

    def one_more(value: Any, now: int) -> Any:
        known = {} if value is None else value
        counted[:] = [at for at in known.get("times", ()) if now - at < within_ms]
        if known.get("last") == decision.id:
            return LEFT
        counted.append(now)
        del counted[:-most]
        return {"times": list(counted), "last": decision.id}

    place = strikes_key(desk, guard, name)
    try:
        yield from desk.change(place, one_more, f"{decision.id}.{guard}.{name}")
    except StoreLost:
        return None
    return counted


def strikes_key(desk: Desk, guard: str, name: str) -> str:
    """Where the strikes of a guard against something are counted."""
    return key(desk.info.tenant, "strikes", guard, name)


def signalled(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Move the states that a decision's findings give signals to, where they do move: that is known
    without a trip."""
    asked = [
        (name, tuple(Signal(signal) for signal in signals), finding.terms.terms, finding.message)
        for finding in decision.findings
        if isinstance(finding.terms, Signals)
        for name, signals in finding.terms.to
    ]
    if decision.code in EXHAUSTED:
        why = "" if decision.determining is None else decision.determining.message
        asked += [
            (name, (Signal.EXHAUSTED,), TERMS, why) for name in spenders(desk.info, _per(decision))
        ]
    if not asked:
        return
    reply = decision.inputs.reply
    now = event.at if reply is None else reply.now
    standing = standing_of(desk.shield.records.get(standing_key(desk.info.tenant), ABSENT)[1])
    for name, signals, terms, why in asked:
        mark = standing.marks.get(name, Mark()) if name else standing.own
        root = desk.info.root
        if any(moved(mark, signal, now, why, terms, root) is not None for signal in signals):
            yield from signal_state(desk, name, signals, why, terms)


def _per(decision: Decision) -> str:
    """Whose budget is used up, where it is one that others have, too."""
    found = decision.determining
    return str(found.args[1]) if found is not None and found.code == "budget.exceeded" else ""


def signal_state(
    desk: Desk, name: str, signals: tuple[Signal, ...], why: str, terms: Terms = TERMS
) -> Flow[bool]:
    """Give signals to a state from within a run, and write down what has changed; says whether the
    store took it."""
    tenant = desk.info.tenant
    try:
        shifts = yield from shift(
            desk.shield.records, desk.new_id(), tenant, name, signals, why, terms, desk.info.root
        )
    except StoreLost:
        return False
    if any(CLOSED & {one.before, one.after} for one in shifts):
        yield from changed(desk.shield.memory, desk.shield.clock())
    for one in shifts:
        record_shift(desk.shield, tenant, one, run=desk.info.id)
        desk.tell(f"{called(desk.shield.policy.veil.name(name))} is now {shown(one.after)}: {why}")
    return True


ISOLATE: Final = Isolate()
FORGOT: Final = "kernel.store_forgot"


def owe(desk: Desk, moment: Moment, decision: Decision | None = None) -> None:
    """Leave to the next trip what a moment was to give back and nobody knows to be given back; one
    that begins something gives back what it may have taken, which is nothing where the store was
    not asked."""
    event, unsettled = moment.events[0], desk.shield.unsettled
    if moment.settles or has_happened(event):
        unsettled.owe(owed(desk, event, moment.settles))
    elif decision is None or decision.inputs.crowd is None:
        unsettled.owe(doubtful(desk, event))


def passed_over(desk: Desk, moment: Moment, decision: Decision) -> None:
    """Leave to the next trip the places that an outcome was to give back, at guards which its
    refusal kept from being asked."""
    if has_happened(moment.events[0]):
        desk.shield.unsettled.owe(places_of(desk, moment.events[0], decision.skipped))


def aftermath(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Carry out what a decision means for its run: warnings, states, its end, what is undone, whom
    it asks."""
    if decision.action >= Action.ESCALATE:
        desk.last_refused = (event, decision)
    for finding in decision.findings:
        if finding.action == Action.WARN:
            desk.notice(event, finding)
        elif isinstance(finding.terms, Narrow):
            yield from narrow(desk, decision, finding.terms)
    if decision.code in EXHAUSTED:
        desk.shield.answers.unpaid.refused(
            desk.shield.policy, desk.info, decision, desk.shield.clock()
        )
    yield from signalled(desk, event, decision)
    if decision.code == FORGOT:
        text = (
            "the state store was emptied, or restored from an older copy: see `stanchion state "
            "accept`"
        )
        tell_run(desk.shield, Kind.STORE_FORGOT, text, event, "store")
    determining, by_action = decision.determining, BY_ACTION.get(decision.action)
    if by_action is not None and determining is not None:
        yield from by_action(desk, event, decision, determining)
    if not MARKS.isdisjoint(decision.effects):
        yield from carry_out(desk, event, decision)
    if ROLLBACK in decision.effects:
        yield from roll_back(desk)
    if ASK in decision.effects and decision.action != Action.ESCALATE:
        from stanchion.runtime.deciding.escalation import report

        yield from report(desk, event, decision)


def _halt(desk: Desk, event: Event, _decision: Decision, by: Finding) -> Flow[None]:
    if by.guard != "kernel":
        tell_run(desk.shield, Kind.RUN_HALTED, f"a run was ended: {by.message}", event)
        yield from end_run(desk, "kernel.ended", by.message, by if FINAL in by.effects else None)


def _quarantine(desk: Desk, event: Event, decision: Decision, by: Finding) -> Flow[None]:
    """Isolate the tool or the agent, where it is time for that. Without the store nobody knows how
    often it was, and it is."""
    terms = terms_of(decision, ISOLATE)
    whole = terms.what == "agent" or not event.tool
    if whole and terms.what == "only_tool":
        return
    name, after = f"agent:{desk.info.agent}" if whole else f"tool:{event.tool}", terms.after
    if after > 1:
        counted = yield from times(desk, by.guard, name, decision, after, REMEMBERED_MS)
        if counted is not None and len(counted) < after:
            return
    yield from isolate(desk, name, terms, by.message)


def _guide(desk: Desk, _event: Event, _decision: Decision, by: Finding) -> Flow[None]:
    if GUIDE in by.effects:
        desk.tell(by.advice)
    yield from ()


BY_ACTION: Final = {Action.HALT: _halt, Action.QUARANTINE: _quarantine, Action.RETRY: _guide}
"""What the action of a decision has done, beside what its findings ask for."""


def hold(
    desk: Desk, decision: Decision, name: str, guard: str, count: int, until: int
) -> Flow[None]:
    """Have a run, an agent or the tenant (no name) wait for a person in every process, until the
    strikes are forgotten. Where more wait than can be kept, the whole tenant does. Without the
    store the run's next event waits."""

    def held(value: Any, now: int) -> Any:
        standing = standing_of(value)
        live = {one: each for one, each in standing.struck.items() if now < each.until}
        place = name if name in live or len(live) < MAX_MARKED else ""
        last = max(until, live[place].until) if place in live else until
        struck = {**live, place: Struck(guard, count, now, last)}
        return msgspec.to_builtins(msgspec.structs.replace(standing, struck=struck))

    try:
        yield from _change(desk, f"{decision.id}.{guard}.struck", held)
    except StoreLost:
        desk.enters(
            Finding(Action.ESCALATE, "strikes.reached", (guard, called(name), count), guard=STRIKES)
        )


def looked_at(desk: Desk, granted: Granted, decision: Decision) -> Flow[None]:
    """End the wait for strikes where an action goes ahead because a person said yes to it; strikes
    that were given since they were asked wait for another yes."""
    if granted.approved is None or not decision.proceeds or STRIKES not in granted.lifts:
        return
    asked_at, run = granted.approved.opened_at, desk.info
    names = {"", f"agent:{run.agent}", *[f"run:{one}" for one in (run.id, *run.parents)]}

    def released(value: Any, _now: int) -> Any:
        standing = standing_of(value)
        left = {
            one: each
            for one, each in standing.struck.items()
            if one not in names or each.since > asked_at
        }
        if len(left) == len(standing.struck):
            return LEFT
        return msgspec.to_builtins(msgspec.structs.replace(standing, struck=left))

    try:
        yield from _change(desk, f"{decision.id}.looked_at", released)
    except StoreLost:
        desk.tell("the store could not be reached: the strikes wait for another yes")


def _change(desk: Desk, batch: str, new: Any) -> Flow[None]:
    yield from desk.change(standing_key(desk.info.tenant), new, batch)
    yield from changed(desk.shield.memory, desk.shield.clock())


MOST: Final = 1_000
"""How many strikes are counted."""
MOST_GUARDS: Final = 256
"""Of how many guards a run keeps what they marked."""


def carry_out(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Carry out what the findings of a decision mean for its run, each effect of a guard once, in
    the chain's order. Guards that only watch are no part of it."""
    done: set[tuple[str, str]] = set()
    for finding in decision.findings:
        for effect in finding.effects:
            if effect not in MARKS or (finding.guard, effect) in done:
                continue
            done.add((finding.guard, effect))
            if effect == FLAG:
                _flag(desk, finding)
            elif effect == ALERT:
                tell_run(
                    desk.shield, Kind.ALERT, f"guard `{finding.guard}`: {finding.message}", event
                )
            else:
                yield from _strike(desk, decision, finding)


def _flag(desk: Desk, finding: Finding) -> None:
    if finding.guard not in desk.flagged and len(desk.flagged) < MOST_GUARDS:
        desk.flagged[finding.guard] = None
        _write_down(desk, "run.flagged", finding)


def _strike(desk: Desk, decision: Decision, finding: Finding) -> Flow[None]:
    """Count a finding against whom the policy says, and do what so many lead to. Without the store
    nobody knows how many there are: the run's next step is refused for that by itself."""
    terms: Strikes = desk.shield.policy.file.strikes
    whose = struck(desk)
    decay_ms = round(terms.decay_s * 1_000)
    given = yield from times(desk, finding.guard, whose, decision, MOST, decay_ms)
    if given is None:
        desk.tell("the store could not be reached: a strike is not counted")
        return
    count = len(given)
    if finding.guard in desk.strikes or len(desk.strikes) < MOST_GUARDS:
        desk.strikes[finding.guard] = count
    _write_down(desk, "run.strike", finding, count=count)
    if terms.quarantine_at is not None and count >= terms.quarantine_at:
        name = f"agent:{desk.info.agent}" if desk.info.agent else f"run:{desk.info.id}"
        why = f"guard `{finding.guard}` has given {count} strikes"
        yield from isolate(desk, name, Isolate(for_ms=round(terms.quarantine_s * 1_000)), why)
    if terms.escalate_at is not None and count >= terms.escalate_at:
        until = (
            given[-terms.escalate_at] + decay_ms
        )  # from then on fewer are remembered than it takes
        yield from hold(
            desk, decision, "" if terms.per == "tenant" else whose, finding.guard, count, until
        )


def struck(desk: Desk) -> str:
    """Against whom strikes count, as the policy says."""
    per: str = desk.shield.policy.file.strikes.per
    return {"run": f"run:{desk.info.id}", "agent": f"agent:{desk.info.agent}", "tenant": "tenant"}[
        per
    ]


def recall_strikes(desk: Desk) -> Flow[None]:
    """Learn how many strikes each guard has given before this process knew the run; one trip to the
    store. Without it nobody knows: the run's next step is refused for that by itself."""
    terms: Strikes = desk.shield.policy.file.strikes
    records, whose = desk.shield.records, struck(desk)
    guards = [seat.placed.id for seat in desk.shield.policy.seats][:MOST_GUARDS]
    places = {guard: strikes_key(desk, guard, whose) for guard in guards}
    if not places:
        return
    try:
        batch = f"strikes-{os.urandom(8).hex()}"
        seen = yield from change_together(
            records, batch, desk.info.tenant, lambda: tuple(places.values()), lambda _: {}
        )
    except StoreLost:
        return
    oldest = seen.reply.now - round(terms.decay_s * 1_000)
    for guard, place in places.items():
        kept = records.get(place, ABSENT)[1]
        if kept is None:
            records.pop(place, None)
        elif count := len([at for at in kept["times"] if at > oldest]):
            desk.strikes.setdefault(guard, count)


def _write_down(desk: Desk, what: str, finding: Finding, **data: Any) -> None:
    info, shield = desk.info, desk.shield
    said = {"guard": finding.guard, "code": finding.code, **data}
    fact = Fact(
        shield.clock(),
        what,
        f"run:{info.id}",
        info.tenant,
        info.id,
        info.agent,
        finding.message,
        said,
    )
    if not shield.unwritten.put(lambda: tell(shield, fact), f"what guard `{finding.guard}` marked"):
        desk.tell(
            "the audit trail cannot be written: what a guard marked is recorded as soon as it can "
            "be"
        )
