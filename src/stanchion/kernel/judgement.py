"""Judging: guards give findings, findings get their places, and what is known before the batch is
put in order."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import msgspec

from stanchion.kernel.actions import PROCEEDS, STOPS, Action, Risk
from stanchion.kernel.autonomy import refusing
from stanchion.kernel.chain import Plan
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import TELL, Finding, Patch
from stanchion.kernel.guard import Kind, Placed, Reading, TooDense, failure_of
from stanchion.kernel.lineup import Asks
from stanchion.kernel.lookups import (
    UNHEARD,
    Answer,
    Answered,
    Expired,
    Failed,
    Lookup,
    Over,
    answer_name,
)
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import UNREAD
from stanchion.kernel.soundness import sound, sound_lookup

Found = list[tuple[int, Finding]]
"""Findings with their places in the chain; -1 stands before it."""
Read = Callable[[Any], Reading]
"""Reads an event, as the policy does."""


def read_of(moment: Moment, read: Read) -> tuple[Reading, ...]:
    """What a moment's events say. What is known of another first event is left alone: they are
    replaced together."""
    known = moment.readings
    if known and known[0].event is moment.events[0]:
        return known
    return tuple([read(event) for event in moment.events])


def judge_pure(plan: Plan, readings: tuple[Reading, ...]) -> tuple[Found, int, Asks]:
    """Pure guards in order until one stops, and the asking ones that may have a question. Nobody
    looks for gates in what a guard before them stops. One `try` round the loop: only a failure pays
    for being careful."""
    found: Found = []
    hearing, cut, asks = plan.hearing, plan.end, plan.asks
    pure = hearing.early
    try:
        # First those before any guard with a gate, then those behind it that the event concerns.
        for more in (bool(hearing.gates), False):
            for pos, judge, index in pure:
                finding = judge(readings[index])
                if finding is not None:
                    cut = note(plan, pos, finding, found, cut, readings[index])
                    if cut == pos:
                        break
            if not more or cut < plan.end:
                break
            pure, asks = hearing.listening(readings)
        if plan.switches:
            cut = _judge_switched(plan, readings, found, cut)
        return found, cut, asks
    except Exception:  # noqa: BLE001 - a guard may raise anything, and fails closed
        return *judge_carefully(plan, readings), plan.asks


def _judge_switched(plan: Plan, readings: tuple[Reading, ...], found: Found, cut: int) -> int:
    """Guards that a value of the event switches on; behind a stop none is judged. Order is restored
    afterwards."""
    for asked, index, table in plan.switches:
        for pos, judge in table.get(asked(readings[index]), ()):
            if pos > cut:
                break
            finding = judge(readings[index])
            if finding is not None:
                cut = note(plan, pos, finding, found, cut, readings[index])
    return cut


def judge_carefully(plan: Plan, readings: tuple[Reading, ...]) -> tuple[Found, int]:
    """The same, guard by guard: the place that catches everything and fails closed."""
    found: Found = []
    cut = plan.end
    for pos, judge, index in plan.all_pure:
        try:
            finding = judge(readings[index])
            if finding is not None:
                cut = note(plan, pos, finding, found, cut, readings[index])
        except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
            cut = note(plan, pos, failed(plan, pos, readings[0].event, error), found, cut)
        if cut == pos:
            break
    return found, cut


def note(
    plan: Plan,
    pos: int,
    finding: Finding,
    found: Found,
    cut: int,
    reading: Reading | None = None,
) -> int:
    """Enter a guard's finding at its place, with the action that is really carried out; returns the
    new cut. Of a guard that was asked about an event, `reading` is that event's."""
    sound(finding)
    placed = plan.guards[pos]
    cells = plan.cells_for(placed.id, plan.event_of[pos])
    if plan.bypassed and finding.code.startswith("kernel."):
        # The kernel speaks in place of a guard that broke: nobody has said that this may be gone
        # past.
        cells = plan.cells[plan.event_of[pos]]
    if finding.action == Action.REDACT:
        finding = _redaction(finding, placed, cells, reading)
    action = cells[finding.action]
    if finding.patches and not plan.redacts and placed.kind is not Kind.METER:
        # Whatever else it says, it goes ahead only as patched, and the host cannot patch it. Meters
        # word what the store has carried out already.
        action = max(action, cells[Action.REDACT])
    if finding.action == Action.WARN and action >= STOPS:
        finding = refusing(finding, cells)
    found.append(
        (
            pos,
            Finding(
                action, finding.code, finding.args, finding.text, finding.guidance, finding.patches,
                placed.effects_of(finding) if placed.effects else finding.effects,
                finding.terms, placed.id, placed.shadow,
                None if action == finding.action else finding.action, finding.hides, finding.about,
            ),
        )
    )  # fmt: skip
    return pos if action >= STOPS and placed.ends and not placed.shadow and pos < cut else cut


def _redaction(
    finding: Finding, placed: Placed, cells: tuple[Action, ...], reading: Reading | None
) -> Finding:
    """A redaction as it can be carried out: what runs or is written here stays whole. One that
    names nothing to take out is refused: what it is about must not go on as it is. What a meter
    words has been carried out already."""
    if not finding.patches:
        if cells[Action.REDACT] != Action.REDACT or placed.kind is Kind.METER:
            return finding
        return Finding(Action.BLOCK, "kernel.patch_failed", (placed.id,))
    staying = None if reading is None else having(placed.guard, "stays")
    code = None if staying is None else staying.stays.get(finding.code)
    if reading is None or code is None or reading.redaction == Action.REDACT:
        return finding
    return msgspec.structs.replace(
        finding, action=reading.redaction, code=code, patches=(),
        hides=(*finding.hides, *finding.patches), effects=(*finding.effects, TELL),
    )  # fmt: skip


def failed(plan: Plan, pos: int, event: Event, error: Exception) -> Finding:
    if isinstance(error, TooDense):
        found = broken(plan, pos, event, "kernel.too_dense", str(error))
        return msgspec.structs.replace(found, hides=(UNREAD,)) if found.action >= STOPS else found
    return broken(plan, pos, event, "kernel.guard_error", failure_of(error))


def broken(plan: Plan, pos: int, event: Event, code: str, *args: str) -> Finding:
    """What a guard that broke amounts to: a refusal, unless it may fail open and the risk is not
    critical."""
    placed = plan.guards[pos]
    opens = placed.fail_open and event.risk < Risk.CRITICAL
    return Finding(Action.ALLOW if opens else Action.BLOCK, code, (placed.id, *args))


def with_late(plan: Plan, late: tuple[Finding, ...], found: Found, cut: int) -> tuple[Found, int]:
    """Late answers stand before the chain; one that stops skips all of it."""
    early: Found = []
    for finding in late:
        stood = plan.cells_for(finding.guard, 0)
        action = stood[finding.action]
        if action != finding.action:
            worded = (
                refusing(finding, stood)
                if finding.action == Action.WARN and action >= STOPS
                else finding
            )
            finding = msgspec.structs.replace(worded, action=action, said=finding.action)
        early.append((-1, finding))
    if any(finding.action >= STOPS and not finding.shadow for _, finding in early):
        return early, -1
    return early + found, cut


def lookups_of(
    plan: Plan, asks: Asks, readings: tuple[Reading, ...], cut: int, answers: dict[str, Answer]
) -> list[Lookup]:
    wanted: list[Lookup] = []
    for pos, guard, index in asks:
        name = plan.guards[pos].id
        if pos > cut or (answers and answer_name(name, index) in answers):
            continue
        try:
            lookup = guard.ask(readings[index])
            lookup = None if lookup is None else sound_lookup(lookup)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
            answers[answer_name(name, index)] = Failed(type(error).__name__)
            continue
        if lookup is not None:
            wanted.append(Lookup(name, lookup.payload, lookup.deadline_ms, index, lookup.beside))
    return wanted


def heard(answers: dict[str, Answer], lookups: list[Lookup], given: tuple[Answer, ...]) -> None:
    """Enter what was answered; what was only asked beside its event is noted, so that it is not
    asked again."""
    for lookup, answer in zip(lookups, given, strict=True):
        unheard = lookup.beside and type(answer) is Expired
        name = answer_name(lookup.guard, lookup.event) if lookup.event else lookup.guard
        answers[name] = UNHEARD if unheard else answer


def answers_of(plan: Plan, answers: dict[str, Answer], cut: int) -> tuple[tuple[str, Answer], ...]:
    """The answers this judgement rests on; those to questions of another mode's chain are left
    out."""
    asked = [
        answer_name(plan.guards[pos].id, index) for pos, _guard, index in plan.asks if pos <= cut
    ]
    return tuple(
        [(name, answers[name]) for name in asked if answers.get(name, UNHEARD) is not UNHEARD]
    )


def forget_recalled(plan: Plan, answers: dict[str, Answer]) -> None:
    """Forget what the run's memory has answered: it knows more by now."""
    for pos, guard, index in plan.asks:
        if having(guard, "recalls") is not None:
            answers.pop(answer_name(plan.guards[pos].id, index), None)


def judge_answers(
    plan: Plan, readings: tuple[Reading, ...], answers: dict[str, Answer], found: Found, cut: int
) -> tuple[Found, int]:
    for pos, guard, index in plan.asks:
        name = plan.guards[pos].id
        answer = answers.get(answer_name(name, index))
        if pos > cut or answer is None or answer is UNHEARD:
            continue
        event = readings[index].event
        finding: Finding | None
        match answer:
            case Answered(value):
                try:
                    finding = guard.judge(readings[index], value)
                    if finding is not None:
                        cut = note(plan, pos, finding, found, cut, readings[index])
                except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
                    cut = note(plan, pos, failed(plan, pos, event, error), found, cut)
                continue
            case Failed(error_name):
                finding = broken(plan, pos, event, "kernel.lookup_failed", error_name)
            case Expired():
                finding = _expired(plan, pos, event, guard)
            case Over(action, code, args, text):
                # No guard is late or broken here, so that none of them can fail open.
                early = [one for one in found if one[0] < 0]
                found = [one for one in found if one[0] >= 0]
                found, cut = with_late(
                    plan, (Finding(action, code, args, text, guard="kernel"),), found, cut
                )
                return early + found, cut
        cut = note(plan, pos, finding, found, cut)
    return found, cut


def _expired(plan: Plan, pos: int, event: Event, guard: Any) -> Finding:
    """What no answer in time amounts to. A deep guard's route goes by the risk: low and medium go
    ahead, high waits for a person, critical is refused, as with all others."""
    placed = plan.guards[pos]
    if guard.deep and event.risk <= Risk.MEDIUM:
        return Finding(Action.ALLOW, "kernel.lookup_late", (placed.id,))
    if guard.deep and event.risk == Risk.HIGH and not placed.fail_open:
        return Finding(Action.ESCALATE, "kernel.lookup_undecided", (placed.id,))
    return broken(plan, pos, event, "kernel.lookup_expired")


def settle_known(
    plan: Plan, read: Read, readings: tuple[Reading, ...], found: Found, cut: int, ceiling: Action
) -> tuple[Found, int, bool]:
    """Put what is known before the batch in order; judge patched content once more; say whether it
    may be written."""
    found = reached(found, cut)
    if not proceeds(found, PROCEEDS):
        return found, cut, False
    patches = patches_of(found)
    if not patches:
        return found, cut, proceeds(found, ceiling)
    try:
        first = readings[0].event
        patched = with_content(first, apply(content_of(first), patches))
    except (PatchError, ValueError, TypeError):
        # It is a guard's: what stands before the chain patches nothing.
        pos, culprit = next((pos, f) for pos, f in found if f.patches and not f.shadow)
        refusal = Finding(Action.BLOCK, "kernel.patch_failed", (culprit.guard,))
        cut = note(plan, pos, refusal, found, cut)
        found = reached(found, cut)
        if not proceeds(found, PROCEEDS):
            return found, cut, False
        # Where a refusal only warns, what does not fit falls away.
        found = [(pos, msgspec.structs.replace(finding, patches=())) for pos, finding in found]
        return found, cut, proceeds(found, ceiling)
    again, stop, _ = judge_pure(plan, (read(patched), *readings[1:]))
    cut = min(cut, stop)
    said: dict[tuple[str, str], Action] = {}
    for _, finding in found:
        worst = said.get((finding.guard, finding.code), finding.action)
        said[finding.guard, finding.code] = max(worst, finding.action)
    for pos, finding in again:
        milder = (
            finding.action < STOPS and not finding.shadow
        )  # what stops is never patched, and stands as it is
        if milder and finding.patches and _changes(patched, finding.patches):
            refusal = Finding(Action.BLOCK, "kernel.patch_failed", (finding.guard,))
            cut = note(plan, pos, refusal, found, cut)
        elif finding.action > said.get((finding.guard, finding.code), -1):
            found.append((pos, finding))
    found = reached(found, cut)
    return found, cut, proceeds(found, ceiling)


def _changes(event: Event, patches: tuple[Patch, ...]) -> bool:
    """Whether patches would change content that has been patched already: then one round has not
    made it clean."""
    content = content_of(event)
    try:
        return bool(apply(content, patches) != content)
    except PatchError:
        return True


def reached(found: Found, cut: int) -> Found:
    return sorted([entry for entry in found if entry[0] <= cut], key=itemgetter(0))


def proceeds(found: Found, ceiling: Action) -> bool:
    real = [finding.action for _, finding in found if not finding.shadow]
    return max(real, default=Action.ALLOW) <= ceiling


def patches_of(found: Found) -> tuple[Patch, ...]:
    return tuple([patch for _, finding in found if not finding.shadow for patch in finding.patches])
