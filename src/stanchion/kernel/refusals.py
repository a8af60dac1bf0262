"""Refusals: an action that was refused is shown to the record guards that keep count of it, whoever refused it.

They stand in the chain like others, and a stop before them skips them. But a loop of refused calls is a loop: so when
the decision is made they are shown the finding that refuses, their records are written in a batch of its own, and what
they say of it stands behind everything that was found.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plan
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.state import ABSENT, Batch, Expect, Moved, Put, Records, Reply, StoreLost, When

COUNTED: Final = frozenset({Action.RETRY, Action.BLOCK, Action.QUARANTINE})
"""Actions that refuse and leave the run going. What waits for a person or for its turn is not refused yet."""

OWN: Final = frozenset({"kernel.bad_event"})
"""Refusals of the engine and the runtime that are about what was proposed; the others are about the state of things,
and say nothing of what the agent does."""

ENTRY: Final = ".refused"
"""How the id of the batch ends that enters a refusal."""


def refusal_of(plan: Plan, decision: Decision) -> Finding | None:
    """The finding by which a decision refuses what was proposed; none where it goes ahead, waits, or ends the run."""
    if decision.action not in COUNTED:
        return None
    said = decision.determining
    if said is None or (said.guard == "kernel" and said.code.startswith("kernel.") and said.code not in OWN):
        return None
    if not said.about and any(placed.id == said.guard and placed.kind is Kind.METER for placed in plan.guards):
        # What a meter refuses is about its counter, however much of it is used.
        return msgspec.structs.replace(said, about=said.guard)
    return said


def is_entry(batch: Batch) -> bool:
    """Whether a batch enters a refusal."""
    return batch.id.endswith(ENTRY)


def enter(
    plan: Plan, moment: Moment, records: Records, decision: Decision, tries: int, polite: bool
) -> Generator[Batch | Moved, Any, Decision]:
    """Show a refusal to the guards that watch for one, write what they keep of it, and join what they say.

    It is refused in any case: where the store is lost, or others are faster `tries` times, nothing is entered.
    """
    refusal = refusal_of(plan, decision)
    if refusal is None:
        return decision
    first = moment.events[0]
    for _ in range(tries):
        used, said, expects, puts = _asked(plan, moment.events, records, refusal, decision.action)
        if not expects:
            return _joined(decision, said, ())
        try:
            reply: Reply = yield Batch(
                first.id + ENTRY, first.run.tenant, expects=tuple(expects), puts=tuple(puts), ceiling=int(Action.HALT)
            )
        except StoreLost:
            return decision
        if not reply.stale:
            for name, value, *_ in puts:
                version = next(known for key, known, _ in used if key == name) + 1
                if records.get(name, ABSENT)[0] < version:
                    records[name] = (version, value)
            return _joined(decision, said, tuple(used))
        for fresh in reply.fresh:
            records[fresh.key] = (fresh.number, fresh.value)
        if polite:
            yield Moved(next((fresh.key for fresh in reply.fresh), ""))
    return decision


Used = list[tuple[str, int, Any]]


def _asked(
    plan: Plan, events: tuple[Event, ...], records: Records, refusal: Finding, action: Action
) -> tuple[Used, list[Finding], list[Expect], list[Put]]:
    """What each guard says of a refusal by its record as it is known, and what it wants written."""
    used: Used = []
    said: list[Finding] = []
    expects: list[Expect] = []
    puts: list[Put] = []
    for pos, judge, name, index in plan.refusals:
        version, value = records.get(name, ABSENT)
        placed = plan.guards[pos]
        try:
            ruling = judge(events[index], value, refusal)
            if ruling is None:
                continue
            finding = ruling.finding
            if finding is not None:
                meant = finding.action
                # What says no more than the refusal itself changes nothing that is carried out.
                meant = meant if meant <= action else plan.cells[index][meant]
                finding = msgspec.structs.replace(
                    finding,
                    action=meant,
                    guard=placed.id,
                    shadow=placed.shadow,
                    said=None if meant == finding.action else finding.action,
                )
        except Exception as error:  # noqa: BLE001 - a guard may raise anything; it is refused already
            args = (placed.id, type(error).__name__)
            said.append(Finding(Action.ALLOW, "kernel.guard_error", args, guard=placed.id, shadow=placed.shadow))
            continue
        used.append((name, version, value))
        expects.append((name, version, version + 1))
        if ruling.put is not None:
            puts.append((name, ruling.put, When.JUDGED, 0, 0))
        if finding is not None:
            said.append(finding)
    return used, said, expects, puts


def _joined(decision: Decision, said: list[Finding], used: tuple[tuple[str, int, Any], ...]) -> Decision:
    """A decision with what was said of its refusal behind its findings; the most severe of all determines it."""
    if not said and not used:
        return decision
    real = tuple([finding for finding in said if not finding.shadow])
    return msgspec.structs.replace(
        decision,
        action=max([decision.action, *[finding.action for finding in real]]),
        findings=decision.findings + real,
        shadow=decision.shadow + tuple([finding for finding in said if finding.shadow]),
        effects=tuple(dict.fromkeys([*decision.effects, *[effect for one in real for effect in one.effects]])),
        inputs=msgspec.structs.replace(decision.inputs, refused=used),
    )
