"""Effects: what findings mean for their run besides the action, carried out once for each decision,
in their order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from stanchion.audit.journal import Fact
from stanchion.kernel.compare_and_set import change_together
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import ALERT, FLAG, MARKS, Finding, Isolate
from stanchion.kernel.state import ABSENT, StoreLost
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.shifts import isolate, strikes_key, times
from stanchion.runtime.deciding.strikes import hold
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.occurring import tell_run
from stanchion.runtime.standing.veil import tell
from stanchion.telemetry.occurrences import Kind

if TYPE_CHECKING:
    from stanchion.policy.sections import Strikes

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
                tell_run(desk, Kind.ALERT, f"guard `{finding.guard}`: {finding.message}", event)
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
