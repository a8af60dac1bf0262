"""Changing what stands before every chain: ending runs, and the states of a shield, its tools, agents and runs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.changing import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Signals
from stanchion.kernel.gates import MAX_MARKED, Ending, called, ending_key, standing_key, standing_of
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import ABSENT, FOREVER, Records, StoreLost, key
from stanchion.kernel.states import NORMAL, SAFE, Mark, Signal, Terms, moved, phase
from stanchion.runtime.drivers import Flow
from stanchion.runtime.host_memory import CLOSED
from stanchion.runtime.remembering import changed
from stanchion.runtime.veiling import tell

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.shield import Shield

TERMS: Final = Terms()
EXHAUSTED: Final = frozenset({"budget.exceeded", "kernel.exhausted"})
"""Codes that say that a budget is used up."""

REMEMBERED_MS: Final = 86_400_000
"""How long it is remembered how often something was quarantined."""


SAFE_MODE_VARIABLES: Final = ("STANCHION_SAFE_MODE", "VERONICA_SAFE_MODE")


def asked_for_safe_mode(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for safe mode."""
    return any(environ.get(name, "").strip().lower() in ("1", "true", "yes", "on") for name in SAFE_MODE_VARIABLES)


def end_run(desk: Desk, code: str, why: str) -> Flow[None]:
    """End a run, here at once and for every other process; without the store it stays ended here."""
    why = desk.shield.policy.veil.words(why)
    desk.ended = Ending(code, why)
    desk.over(code, why)
    key = ending_key(desk.info.tenant, desk.info.id)
    ending = msgspec.to_builtins(desk.ended)
    try:
        yield from change(
            desk.shield.records, desk.new_id(), desk.info.tenant, key, lambda value, _: LEFT if value else ending
        )
        yield from changed(desk.shield.memory, desk.shield.clock())
    except StoreLost:
        desk.tell("the store could not be reached: other processes do not know yet that this run has ended")


class Shift(NamedTuple):
    """A state that has changed: whose (empty: the tenant's own), from what, to what, and why."""

    name: str
    before: str
    after: str
    why: str


def shift(
    records: Records,
    batch_id: str,
    tenant: str,
    name: str,
    signals: tuple[Signal, ...],
    why: str,
    terms: Terms = TERMS,
) -> Flow[tuple[Shift, ...]]:
    """Give signals to a tenant's state, or to that of something in it (`tool:NAME`, `agent:NAME`, `run:ID`), one after
    the other; says what has changed. What a signal does not move stays, and nothing is written for it."""
    shifts: list[Shift] = []

    def after(value: Any, now: int) -> Any:
        shifts.clear()
        standing = standing_of(value)
        mark = first = standing.marks.get(name, Mark()) if name else standing.own
        for signal in signals:
            was, new = mark, moved(mark, signal, now, why, terms)
            if new is not None:
                mark = new
                before = phase(was, now).state
                shifts.extend([Shift(name, before, mark.state, why)] if mark.state != before else [])
        if mark is first:
            return LEFT
        if not name:
            return msgspec.to_builtins(msgspec.structs.replace(standing, own=mark))
        live = {one: each for one, each in standing.marks.items() if one != name and _lasts(each, now)}
        if len(live) >= MAX_MARKED:
            del live[min(live, key=lambda one: live[one].until or FOREVER)]
        marks = {**live, name: mark} if _lasts(mark, now) else live
        return msgspec.to_builtins(msgspec.structs.replace(standing, marks=marks))

    yield from change(records, batch_id, tenant, standing_key(tenant), after)
    return tuple(shifts)


def scope_of(tenant: str, scope: str) -> tuple[str, str]:
    """The tenant and the name under which a scope's state is kept: empty for the tenant's own."""
    if scope == "fleet":
        return FLEET, ""
    kind, _, name = scope.partition(":")
    if scope and (kind not in ("tool", "agent", "run") or not name):
        raise ValueError(f"the scope is `{scope}`: give `tool:NAME`, `agent:NAME`, `run:ID` or `fleet`, or none at all")
    return tenant, scope


def _lasts(mark: Mark, now: int) -> bool:
    """Whether a mark still says something; one that was quarantined before is remembered for a day."""
    over = mark.until + mark.after_ms + (REMEMBERED_MS if mark.times else 0)
    return phase(mark, now).state != NORMAL or (mark.until > 0 and now < over)


def isolate(desk: Desk, name: str, for_ms: int, why: str) -> Flow[None]:
    """Isolate a tool or an agent of the run's tenant for a time, by the store's clock."""
    signals = (Signal.FAILING, Signal.REPEATED)
    if not (yield from signal_state(desk, name, signals, why, Terms(quarantine_ms=for_ms, halt_after=FOREVER))):
        shown = called(desk.shield.policy.veil.name(name))
        desk.tell(f"the store could not be reached: {shown} is refused, but not isolated")


def repeated(desk: Desk, name: str, decision: Decision, after: int) -> Flow[bool]:
    """Count that something would be isolated, once for each decision; says whether it is the how manyth time in a day
    from which it is. Without the store nobody knows, and it is."""
    guard = "" if decision.determining is None else decision.determining.guard
    counted: list[int] = []

    def one_more(value: Any, now: int) -> Any:
        known = {} if value is None else value
        counted[:] = [at for at in known.get("times", ()) if now - at < REMEMBERED_MS]
        if known.get("last") == decision.id:
            return LEFT
        counted.append(now)
        del counted[:-after]
        return {"times": list(counted), "last": decision.id}

    strikes = key(desk.info.tenant, "strikes", guard, name)
    try:
        yield from change(desk.shield.records, f"{decision.id}.strike", desk.info.tenant, strikes, one_more)
    except StoreLost:
        return True
    return len(counted) >= after


def signalled(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Move the states that a decision's findings give signals to, where they do move: that is known without a trip."""
    reply = decision.inputs.reply
    now = event.at if reply is None else reply.now
    standing = standing_of(desk.shield.records.get(standing_key(desk.info.tenant), ABSENT)[1])
    asked = [
        (name, tuple(Signal(signal) for signal in signals), finding.terms.terms, finding.message)
        for finding in decision.findings
        if isinstance(finding.terms, Signals)
        for name, signals in finding.terms.to
    ]
    if decision.code in EXHAUSTED:
        why = "" if decision.determining is None else decision.determining.message
        asked.append((f"run:{desk.info.id}", (Signal.EXHAUSTED,), TERMS, why))
    for name, signals, terms, why in asked:
        mark = standing.marks.get(name, Mark()) if name else standing.own
        if any(moved(mark, signal, now, why, terms) is not None for signal in signals):
            yield from signal_state(desk, name, signals, why, terms)


def signal_state(desk: Desk, name: str, signals: tuple[Signal, ...], why: str, terms: Terms = TERMS) -> Flow[bool]:
    """Give signals to a state from within a run, and write down what has changed; says whether the store took it."""
    tenant = desk.info.tenant
    try:
        shifts = yield from shift(desk.shield.records, desk.new_id(), tenant, name, signals, why, terms)
    except StoreLost:
        return False
    if any(CLOSED & {one.before, one.after} for one in shifts):
        yield from changed(desk.shield.memory, desk.shield.clock())
    for one in shifts:
        record_shift(desk.shield, tenant, one, run=desk.info.id)
        desk.tell(f"{called(desk.shield.policy.veil.name(name))} is now {shown(one.after)}: {why}")
    return True


def record_shift(
    shield: Shield, tenant: str, one: Shift, by: str = "", run: str = "", proof: Mapping[str, Any] | None = None
) -> None:
    """Write down that a state has changed; where it cannot be, the state has changed all the same."""
    about = one.name if one.name else "fleet" if tenant == FLEET else f"tenant:{tenant}"
    data = {"before": shown(one.before), "after": shown(one.after), **({} if proof is None else proof)}
    with contextlib.suppress(AuditLost):
        tell(shield, Fact(shield.clock(), f"state.{shown(one.after)}", about, tenant, run, by, one.why, data))


def shown(state: str) -> str:
    """A state as people call it."""
    return {NORMAL: "normal", SAFE: "safe_mode"}.get(state, state)
