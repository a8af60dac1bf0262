"""What a decision does to states: runs end, and tools and agents are isolated or warned of."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Isolate, Signals
from stanchion.kernel.gates import (
    Ending,
    LastWords,
    called,
    ending_key,
    standing_key,
    standing_of,
    stop_of,
)
from stanchion.kernel.state import ABSENT, FOREVER, StoreLost, key
from stanchion.kernel.states import Mark, Signal, Terms, moved
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.run_end import CLOSED_HERE, end
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.epoch_memory import changed
from stanchion.runtime.standing.host_memory import CLOSED
from stanchion.runtime.standing.states import REMEMBERED_MS, TERMS, record_shift, shift, shown

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
    key = ending_key(desk.info.tenant, desk.info.id)
    ending = msgspec.to_builtins(desk.ended)
    try:
        yield from change(
            desk.shield.records,
            desk.new_id(),
            desk.info.tenant,
            key,
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


def repeated(desk: Desk, name: str, decision: Decision, after: int) -> Flow[bool]:
    """Count that something would be isolated, once for each decision; says whether it is the how
    manyth time in a day from which it is. Without the store nobody knows, and it is."""
    guard = "" if decision.determining is None else decision.determining.guard
    counted = yield from times(desk, guard, name, decision, after, REMEMBERED_MS)
    return counted is None or len(counted) >= after


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
        yield from change(
            desk.shield.records, f"{decision.id}.{guard}.{name}", desk.info.tenant, place, one_more
        )
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
        asked += [(name, (Signal.EXHAUSTED,), TERMS, why) for name in _spenders(desk, decision)]
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


def _spenders(desk: Desk, decision: Decision) -> tuple[str, ...]:
    """Whose budget is used up: that of the run, and that of the agent or the tenant (no name) if it
    is theirs."""
    run = f"run:{desk.info.id}"
    found = decision.determining
    whose = found.args[1] if found is not None and found.code == "budget.exceeded" else ""
    return {"agent": (run, f"agent:{desk.info.agent}"), "tenant": (run, "")}.get(str(whose), (run,))


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
