"""Laying out a batch: lines and tallies in chain order, records behind them, and words for what
came back."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.chain import Plan, Recorded, Slice
from stanchion.kernel.decision import Known
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import failure_of
from stanchion.kernel.judgement import Found, note
from stanchion.kernel.soundness import sound
from stanchion.kernel.state import ABSENT, Line, Put, Records, Reply, When


def lay(
    plan: Plan, found: Found, cut: int, again: bool = False
) -> tuple[tuple[Line, ...], list[Slice]]:
    """The lines before the stop, with a tally behind every guard that has warned, in chain order.

    Where an action is judged `again`, as a lesser request, its warnings were counted the first
    time; a late answer comes but once.
    """
    lines: list[Line] = []
    slices: list[Slice] = []
    warned = [(pos, f) for pos, f in found if f.counts and plan.counts(pos)]
    if again:
        warned = [(pos, finding) for pos, finding in warned if pos < 0]
    for pos, own in plan.meters:
        if pos > cut:
            break
        while warned and warned[0][0] < pos:
            _lay_tally(plan, *warned.pop(0), lines, slices)
        start = len(lines)
        tallied = bool(own and own[-1].follows)
        if tallied and again:
            tallied, own = False, own[:-1]
        lines += own
        slices.append(Slice(pos, start, len(lines) - tallied))
        if tallied:
            slices.append(Slice(pos, len(lines) - 1, len(lines), tally=True))
    for pos, finding in warned:
        _lay_tally(plan, pos, finding, lines, slices)
    return tuple(lines), slices


def _lay_tally(
    plan: Plan, pos: int, finding: Finding, lines: list[Line], slices: list[Slice]
) -> None:
    shadow = 0
    if finding.shadow:
        shadow = pos + 1 if pos >= 0 else plan.end + 1 + len(lines)
    lines.append(plan.tally_of(finding.guard, shadow, _event(plan, pos)))
    slices.append(Slice(pos, len(lines) - 1, len(lines), tally=True, warner=finding.guard))


def _event(plan: Plan, pos: int) -> int:
    return plan.event_of[pos] if pos >= 0 else 0


Wanted = list[tuple[Recorded, Any, int]]
"""Records to be written: whose, the new value, the version it was judged on."""


def place(
    wanted: Wanted, slices: list[Slice], cut: int, found: Found, ceiling: Action
) -> tuple[Put, ...]:
    """Records to write, each behind as many lines as stand before its guard."""
    placed = []
    refused = {pos for pos, finding in found if finding.shadow and finding.action > ceiling}
    for (pos, _judge, name, _event, when, _at, shadow), value, _version in wanted:
        if pos <= cut and (when == When.JUDGED or pos not in refused):
            behind = sum([s.end - s.start for s in slices if s.pos < pos])
            placed.append((name, value, when, behind, shadow))
    return tuple(placed)


def keep(
    records: Records,
    wanted: Wanted,
    puts: tuple[Put, ...],
    lines: tuple[Line, ...],
    reply: Reply,
    ceiling: Action,
) -> tuple[Known, ...]:
    """Remember what was written, and give it. The version is the one it was judged on plus one: the
    cache may have moved."""
    written: list[Known] = []
    stop = next(
        (i for i, a in enumerate(reply.actions) if a >= STOPS and not lines[i].shadow), len(lines)
    )
    said = reply.actions
    refused = {
        line.shadow for line, a in zip(lines, said, strict=False) if line.shadow and a > ceiling
    }
    versions = {recorded[2]: version for recorded, _, version in wanted}
    for name, value, when, at, shadow in puts:
        if ((reply.go and shadow not in refused) or when == When.JUDGED) and at <= stop:
            version = versions[name] + 1
            written.append((name, version, value))
            if records.get(name, ABSENT)[0] < version:
                records[name] = (version, value)
    return tuple(written)


def word(
    plan: Plan,
    events: tuple[Event, ...],
    found: Found,
    cut: int,
    lines: tuple[Line, ...],
    slices: list[Slice],
    reply: Reply,
) -> tuple[Found, int]:
    """Word what the bands said; what the store stopped at skips everything behind it."""
    found = list(found)
    for part in slices:
        action = max(reply.actions[part.start : part.end], default=0)
        if action <= 0:
            continue
        values = reply.values[part.start : part.end]
        if part.tally:
            cut = _escalate(
                plan, part, Action(action), values[0] + 1, lines[part.start], found, cut
            )
            continue
        event = events[plan.event_of[part.pos]]
        cells = plan.cells_for(plan.guards[part.pos].id, plan.event_of[part.pos])
        try:
            guard = plan.guards[part.pos].guard
            said = reply.actions[part.start : part.end]
            at = said.index(action)
            meant = _meant(guard.lines(event)[at], cells, Action(action), values[at])
            finding = sound(guard.word(event, meant, values, said))
            if cells[finding.action] != action:
                finding = _as_found(finding, meant)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
            finding = Finding(
                Action(action), "kernel.guard_error", (plan.guards[part.pos].id, failure_of(error))
            )
        cut = note(plan, part.pos, finding, found, cut)
    return found, cut


def watched(
    plan: Plan, events: tuple[Event, ...], found: Found, cut: int, slices: list[Slice], reply: Reply
) -> Found:
    """Tell the guards that watch what the store found on their lines; what they say of it goes
    ahead."""
    found = list(found)
    for part in slices:
        watch = plan.watchers.get(part.pos)
        if watch is None or part.tally or part.pos > cut:
            continue
        try:
            finding = watch(events[plan.event_of[part.pos]], reply.values[part.start : part.end])
            if finding is not None:
                note(plan, part.pos, _as_found(sound(finding), Action.ALLOW), found, cut)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything; what happened has happened
            args = (plan.guards[part.pos].id, failure_of(error))
            note(plan, part.pos, Finding(Action.ALLOW, "kernel.guard_error", args), found, cut)
    return found


def _meant(line: Line, cells: tuple[Action, ...], action: Action, value: int) -> Action:
    """What a guard itself says where the store found `action`: of its bands that come to this here,
    the lowest was exceeded for certain, and so was every one that lies below the value before."""
    able = sorted([(limit, own) for limit, own in line.bands if cells[own] == action])
    return max([own for limit, own in able if limit < value or limit == able[0][0]])


def _as_found(finding: Finding, action: Action) -> Finding:
    """What a guard worded, with the action the store found: words change nothing that was
    counted."""
    return finding if finding.action == action else msgspec.structs.replace(finding, action=action)


def _escalate(
    plan: Plan, part: Slice, action: Action, count: int, line: Line, found: Found, cut: int
) -> int:
    """The third warning, behind the warning itself."""
    warner = part.warner if part.warner else plan.guards[part.pos].id
    shadow = line.shadow > 0
    entry = Finding(action, "kernel.third_warning", (warner, count), guard=warner, shadow=shadow)
    found.append((part.pos, entry))
    return part.pos if action >= STOPS and not shadow and part.pos < cut else cut
