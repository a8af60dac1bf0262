"""Showing what became of traces: a table by set, the rules behind it, goals, and single stops and
successes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion_lab.flow.counting import Count, by_set, totals, worst
from stanchion_lab.flow.replaying import Halt, Replayed
from stanchion_lab.flow.trace import Call, Reply

HEAD: Final = (
    "",
    "traces",
    "undisturbed",
    "95 % interval",
    "calls stopped",
    "questions",
    "answers",
    "succeed",
    "both",
)
LONGEST: Final = 240

NOTES: Final = (
    (
        "undisturbed: no honest call was stopped, and no result withheld; a call that failed in "
        "the record is no loss."
    ),
    (
        "questions: asked for each task, of its user's own calls. answers: honest ones that were "
        "stopped or changed."
    ),
    (
        "succeed: everything that the attacker needs went ahead. both: the attack fails, and "
        "nothing honest is stopped."
    ),
    (
        "A call that is stopped has no result; the agent goes on as recorded, and nobody answers "
        "unless told so."
    ),
)


class Measured(msgspec.Struct, frozen=True):
    """Everything that was played, how long it took, and of each set how many traces have no call:
    they cannot be disturbed, so they are left out of every share, and told."""

    played: tuple[Replayed, ...]
    seconds: float
    note: str = ""
    idle: dict[str, int] = {}


def lines(measured: Measured, show: int = 0) -> Iterator[str]:
    """The report for people; `show` is how many stops and successes of each set are printed one by
    one."""
    sets, groups, whole = by_set(measured.played), worst(measured.played), totals(measured.played)
    yield f"Whole tasks: {len(measured.played):,} traces in {measured.seconds:.1f} s{measured.note}"
    yield from table([HEAD, *[_cells(count) for count in (*sets, *groups, *whole)]])
    for note in NOTES:
        yield f"  {note}"
    if measured.idle:
        yield f"  left out, for they have no call: {_codes(measured.idle)}"
    yield from _part("stops of honest steps, by rule", sets, lambda count: _codes(count.rules))
    yield from _part("stops of attackers' steps, by rule", sets, lambda count: _codes(count.caught))
    yield from _part(
        "attacks that succeed, by goal",
        groups if groups else sets,
        lambda count: _goals(count.goals),
    )
    if show:
        yield from _shown(measured.played, show)


def plain(measured: Measured) -> dict[str, Any]:
    """The report as data."""
    return {
        "traces": len(measured.played),
        "seconds": round(measured.seconds, 3),
        "left_out": measured.idle,
        "sets": [_data(count) for count in by_set(measured.played)],
        "worst": [_data(count) for count in worst(measured.played)],
        "totals": [_data(count) for count in totals(measured.played)],
        "stops": [
            _halt(one, halt) for one in measured.played for halt in (*one.stops, *one.answers)
        ],
        "successes": [one.trace.id for one in measured.played if one.succeeded],
    }


def _data(count: Count) -> dict[str, Any]:
    low, high = count.interval
    goals = {goal: list(found) for goal, found in count.goals.items()}
    return {
        **msgspec.structs.asdict(count),
        "goals": goals,
        "low": round(low, 6),
        "high": round(high, 6),
    }


def _halt(one: Replayed, halt: Halt) -> dict[str, Any]:
    return {
        "set": one.trace.set,
        "id": one.trace.id,
        "step": halt.at,
        "what": halt.what,
        "code": halt.code,
        "why": halt.why,
    }


def table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows in columns, the first to the left and the others to the right."""
    widths = [max([len(row[at]) for row in rows]) for at in range(len(rows[0]))]
    for name, *cells in rows:
        shown = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield f"  {'  '.join([name.ljust(widths[0]), *shown])}".rstrip()


def _cells(count: Count) -> tuple[str, ...]:
    low, high = count.interval
    attacked = count.kind == "attack"
    return (
        count.name,
        str(count.traces),
        share(count.undisturbed, count.traces),
        f"{low:.1%} to {high:.1%}",
        share(count.stopped, count.calls),
        f"{count.questions / max(1, count.played):.2f}",
        str(count.answers),
        share(count.succeeded, count.traces) if attacked else "",
        share(count.joint, count.traces) if attacked else "",
    )


def share(hits: int, of: int) -> str:
    """So many of so many, and the part that is."""
    return f"{hits}/{of} {hits / of:.1%}" if of else "0/0"


def _part(title: str, counts: list[Count], worded: Callable[[Count], str]) -> Iterator[str]:
    some = [(count.name, said) for count in counts if (said := worded(count))]
    if some:
        yield ""
        yield f"{title}:"
        width = max([len(name) for name, _ in some])
        for name, said in some:
            yield f"  {name.ljust(width)}  {said}"


def _codes(codes: dict[str, int]) -> str:
    return ", ".join([f"{code} {count}" for code, count in codes.items()])


def _goals(goals: dict[str, tuple[int, int]]) -> str:
    return ", ".join([f"{goal} {won}/{of}" for goal, (won, of) in goals.items() if won])


def _shown(played: tuple[Replayed, ...], most: int) -> Iterator[str]:
    sets = dict.fromkeys([one.trace.set for one in played])
    for name in sets:
        own = [one for one in played if one.trace.set == name]
        stops = [(one, halt) for one in own for halt in (*one.stops, *one.answers)]
        for one, halt in stops[:most]:
            yield from _stop(one, halt)
        for one in [one for one in own if one.succeeded][:most]:
            yield from _success(one)


def _stop(one: Replayed, halt: Halt) -> Iterator[str]:
    yield ""
    yield f"STOPPED {one.trace.set}: {one.trace.id}, step {halt.at}"
    yield f"  user  {_short(one.trace.prompt)}"
    yield f"  call  {_short(_call(halt.what, halt.args))}"
    yield f"  rule  {halt.code}: {_short(halt.why)}"
    for name, said in halt.evidence.items():
        yield f"  {name}: {_short(str(said))}"


def _success(one: Replayed) -> Iterator[str]:
    yield ""
    yield f"SUCCEEDED {one.trace.set}: {one.trace.id}"
    yield f"  user  {_short(one.trace.prompt)}"
    for step in one.trace.wanted:
        yield f"  {_wanted(step)}"


def _wanted(step: Call | Reply) -> str:
    return (
        f"call  {_short(_call(step.tool, step.args))}"
        if isinstance(step, Call)
        else f"says  {_short(step.wants)}"
    )


def _call(tool: str, args: dict[str, Any]) -> str:
    return f"{tool} {msgspec.json.encode(args).decode()}" if args else tool


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
