"""Refusals: an action that was refused is shown to the record guards that keep count of it, whoever
refused it.

They stand in the chain like others, and a stop before them skips them. But a loop of refused calls
is a loop: so they are shown the finding that refuses, and what they say of it stands behind
everything that was found. Their records go along with the batch where the decision is known before
it, and have one of their own where it is not, or there is none.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.case import EngineCase
from stanchion.kernel.chain import Plan
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed, Reading, failure_of
from stanchion.kernel.soundness import sound, sound_ruling
from stanchion.kernel.state import (
    ABSENT,
    Batch,
    Expect,
    Moved,
    Put,
    Records,
    Reply,
    StoreLost,
    When,
)
from stanchion.kernel.tuples import NamedTuple

COUNTED: Final = frozenset({Action.RETRY, Action.BLOCK, Action.QUARANTINE})
"""Actions that refuse and leave the run going. What waits for a person or for its turn is not
refused yet."""

OWN: Final = frozenset(
    {"kernel.bad_event", "kernel.unread", "kernel.no_form", "kernel.too_large", "kernel.no_lesser"}
)
"""Refusals of the engine and the runtime that are about what was proposed; the others are about the
state of things, and say nothing of what the agent does."""

ENTRY: Final = ".refused"
"""How the id of the batch ends that enters a refusal."""


def refusal_of(plan: Plan, decision: Decision) -> Finding | None:
    """The finding by which a decision refuses what was proposed; none where it goes ahead, waits,
    or ends the run."""
    if decision.action not in COUNTED:
        return None
    said = decision.determining
    if said is None or (
        said.guard == "kernel" and said.code.startswith("kernel.") and said.code not in OWN
    ):
        return None
    if not said.about and any(
        placed.id == said.guard and placed.kind is Kind.METER for placed in plan.guards
    ):
        # What a meter refuses is about its counter, however much of it is used.
        return msgspec.structs.replace(said, about=said.guard)
    return said


def is_entry(batch: Batch) -> bool:
    """Whether a batch enters a refusal."""
    return batch.id.endswith(ENTRY)


class RefusalEntry(NamedTuple):
    """A refusal as it is entered: the records it is judged on, what is said of it, and what a batch
    needs for it."""

    used: tuple[Known, ...]
    said: tuple[Finding, ...]
    expects: tuple[Expect, ...]
    puts: tuple[Put, ...]

    @property
    def written(self) -> tuple[Known, ...]:
        """The records as it leaves them."""
        versions = {name: version for name, version, _ in self.used}
        return tuple([(name, versions[name] + 1, value) for name, value, *_ in self.puts])


def entry_of(
    plan: Plan, readings: tuple[Reading, ...], records: Records, decision: Decision
) -> RefusalEntry | None:
    """What the guards that watch make of a decision, by their records as they are known; `None`
    where it is no refusal or none of them has anything to keep or to say of it."""
    refusal = refusal_of(plan, decision)
    if refusal is None:
        return None
    used: list[tuple[str, int, Any]] = []
    said: list[Finding] = []
    puts: list[Put] = []
    for pos, judge, name, index in plan.refusals:
        version, value = records.get(name, ABSENT)
        placed = plan.guards[pos]
        try:
            ruling = judge(readings[index], value, refusal)
            if ruling is None:
                continue
            sound_ruling(ruling)
            if ruling.finding is not None:
                said.append(
                    _placed(placed, sound(ruling.finding), decision.action, plan.cells[index])
                )
        except Exception as error:  # noqa: BLE001 - a guard may raise anything; it is refused already
            args = (placed.id, failure_of(error))
            said.append(
                Finding(
                    Action.ALLOW, "kernel.guard_error", args, guard=placed.id, shadow=placed.shadow
                )
            )
            continue
        used.append((name, version, value))
        if ruling.put is not None:
            puts.append((name, ruling.put, When.JUDGED, 0, 0))
    if not used and not said:
        return None
    expects = tuple([(name, version, version + 1) for name, version, _ in used])
    return RefusalEntry(tuple(used), tuple(said), expects, tuple(puts))


def _placed(
    placed: Placed, finding: Finding, refused: Action, cells: tuple[Action, ...]
) -> Finding:
    """A finding as it stands in a decision. What says no more than the refusal changes nothing that
    is carried out, and stays as it is; what says more is carried out as the host can."""
    action = finding.action if finding.action <= refused else cells[finding.action]
    said = None if action == finding.action else finding.action
    return msgspec.structs.replace(
        finding, action=action, guard=placed.id, shadow=placed.shadow, said=said
    )


def enter(
    case: EngineCase, records: Records, decision: Decision, entry: RefusalEntry | None, tries: int
) -> Generator[Batch | Moved, Any, Decision]:
    """Join what is said of a refusal: by the entry that went along with the batch, or by one that
    is entered in a batch of its own.

    It is refused in any case: where the store is lost, or others are faster `tries` times, nothing
    is entered.
    """
    if entry is not None:
        keep_entry(records, entry)
        return joined(decision, entry)
    first = case.first
    for _ in range(tries):
        entry = entry_of(case.plan, case.readings, records, decision)
        if entry is None:
            return decision
        if not entry.expects:
            return joined(decision, entry)
        try:
            reply: Reply = yield Batch(
                first.id + ENTRY, first.run.tenant, expects=entry.expects, puts=entry.puts
            )
        except StoreLost:
            return decision
        if not reply.stale:
            keep_entry(records, entry)
            return joined(decision, entry)
        for fresh in reply.fresh:
            records[fresh.key] = (fresh.number, fresh.value)
        if case.plans.polite:
            yield Moved(next((fresh.key for fresh in reply.fresh), ""))
    return decision


def keep_entry(records: Records, entry: RefusalEntry) -> None:
    """Remember what was written of a refusal; the cache may have moved."""
    for name, version, value in entry.written:
        if records.get(name, ABSENT)[0] < version:
            records[name] = (version, value)


def joined(decision: Decision, entry: RefusalEntry) -> Decision:
    """A decision with what was said of its refusal behind its findings; the most severe of all
    determines it."""
    real = tuple([finding for finding in entry.said if not finding.shadow])
    return msgspec.structs.replace(
        decision,
        action=max([decision.action, *[finding.action for finding in real]]),
        findings=decision.findings + real,
        shadow=decision.shadow + tuple([finding for finding in entry.said if finding.shadow]),
        effects=tuple(
            dict.fromkeys([*decision.effects, *[effect for one in real for effect in one.effects]])
        ),
        inputs=msgspec.structs.replace(decision.inputs, refused=entry.used),
        wrote=decision.wrote + entry.written,
    )
