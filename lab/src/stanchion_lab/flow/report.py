"""Showing what became of traces: tables of honest tasks and of attacks, the rules behind them, and
single questions and attacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from stanchion_lab.flow.counting import (
    Attacks,
    Tasks,
    Through,
    attacks_by_phrasing,
    attacks_by_set,
    failures,
    grouped,
    passes_inattentive,
    tasks_by_set,
    went_through,
)
from stanchion_lab.flow.replaying import Halt, Replayed
from stanchion_lab.flow.trace import AS_IT_IS, Call

TASKS: Final = (
    "honest tasks",
    "tasks",
    "no question",
    "95 % interval",
    "one",
    "more",
    "blocked",
    "answers changed",
)
ATTACKS: Final = (
    "attacks as they are",
    "attacks",
    "through",
    "95 % interval",
    "in part",
    "inattentive",
    "local",
    "reads",
    "answers",
)
LONGEST: Final = 240

NOTES: Final = (
    "A person says yes to every question about an honest step, and the task goes on; one ticket is",
    "one question. blocked: something was refused for good. Nobody says yes to an attacker.",
    "through: every call of the attack that is outward, irreversible or privileged went ahead with",
    "nobody asked; in part: only some of several. inattentive: through with somebody who says yes",
    "about each tool that the task uses anyway. local, reads, answers: attacks that reach no",
    "further, and how many of them went ahead.",
)


class Measured(msgspec.Struct, frozen=True):
    """Everything that was played, how long it took, how it was played, how many traces of each set
    have no call, and how many attacks of each cannot be asked for in other ways."""

    played: tuple[Replayed, ...]
    seconds: float
    note: str = ""
    idle: dict[str, int] = {}
    unphrased: dict[str, int] = {}


def lines(measured: Measured, show: int = 0) -> Iterator[str]:
    """The report for people; `show` is how many questions and attacks of each set are printed one
    by one."""
    played = measured.played
    yield f"Whole tasks: {len(played):,} traces in {measured.seconds:.1f} s{measured.note}"
    failed = failures(played)
    if failed:
        yield f"  THE GUARD FAILED, the figures say nothing: traces by code: {_listed(failed)}"
    tasks, attacks = tasks_by_set(played), attacks_by_set(played)
    if tasks:
        yield from table([TASKS, *[_task_cells(count) for count in tasks]])
    if attacks:
        yield ""
        yield from table([ATTACKS, *[_attack_cells(count) for count in attacks]])
    yield from _phrasing_lines(attacks_by_phrasing(played))
    yield ""
    for note in NOTES:
        yield f"  {note}"
    if measured.idle:
        yield f"  left out, for they have no call: {_listed(measured.idle)}"
    if measured.unphrased:
        yield (
            f"  asked for in no other way, for nothing tells what of a text is the attacker's: "
            f"{_listed(measured.unphrased)}"
        )
    yield from _part("honest steps, by rule", [(one.name, _listed(one.codes)) for one in tasks])
    yield from _part(
        "attackers' steps, by rule", [(one.name, _listed(one.codes)) for one in attacks]
    )
    yield from _part("attacks through, by goal", [(one.name, _goals(one.goals)) for one in attacks])
    if show:
        yield from _shown(played, show)


def plain(measured: Measured) -> dict[str, Any]:
    """The report as data."""
    played = measured.played
    return {
        "traces": len(played),
        "seconds": round(measured.seconds, 3),
        "failed": failures(played),
        "left_out": measured.idle,
        "not_phrased": measured.unphrased,
        "tasks": msgspec.to_builtins(tasks_by_set(played)),
        "attacks": msgspec.to_builtins(attacks_by_set(played)),
        "phrasings": msgspec.to_builtins(attacks_by_phrasing(played)),
        "halts": [
            {"set": one.trace.set, "id": one.trace.id, "step": halt.at, "side": halt.side}
            | {"what": halt.what, "code": halt.code, "why": halt.why, "asks": halt.asks}
            for one in played
            for halt in one.halts
        ],
        "through": [
            one.trace.id for one in played if one.trace.kind == "attack" and went_through(one)
        ],
    }


def table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows in columns, the first to the left and the others to the right."""
    widths = [max([len(row[at]) for row in rows]) for at in range(len(rows[0]))]
    for name, *cells in rows:
        shown = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield f"  {'  '.join([name.ljust(widths[0]), *shown])}".rstrip()


def _task_cells(count: Tasks) -> tuple[str, ...]:
    return (
        count.name,
        str(count.tasks),
        share(count.none, count.tasks),
        _interval(count),
        share(count.one, count.tasks),
        share(count.more, count.tasks),
        str(count.blocked),
        str(count.changed),
    )


def _attack_cells(count: Attacks) -> tuple[str, ...]:
    real = count.through.of
    return (
        count.name,
        str(count.attacks),
        _rate(count.through),
        _interval(count) if real else "",
        share(count.part, real) if real else "",
        share(count.inattentive, real) if real else "",
        _rate(count.local),
        _rate(count.reads),
        _rate(count.answers),
    )


def _phrasing_lines(counts: list[Attacks]) -> Iterator[str]:
    """Through by the way of asking, where there are several."""
    ways = [way for way in dict.fromkeys([one.phrasing for one in counts]) if way != AS_IT_IS]
    if not ways:
        return
    shown = {(one.name, one.phrasing): _rate(one.through) for one in counts}
    rows: list[tuple[str, ...]] = [("through, by phrasing", AS_IT_IS, *ways)]
    for name in dict.fromkeys([one.name for one in counts]):
        rows.append((name, *[shown.get((name, way), "") for way in (AS_IT_IS, *ways)]))
    yield ""
    yield from table(rows)


def _interval(count: Tasks | Attacks) -> str:
    low, high = count.interval
    return f"{low:.0%} to {high:.0%}"


def share(hits: int, of: int) -> str:
    """So many of so many, and the part that is."""
    return f"{hits}/{of} {hits / of:.1%}" if of else "0/0"


def _rate(through: Through) -> str:
    return share(through.hits, through.of) if through.of else ""


def _part(title: str, counts: Iterable[tuple[str, str]]) -> Iterator[str]:
    some = [(name, said) for name, said in counts if said]
    if some:
        yield ""
        yield f"{title}:"
        width = max([len(name) for name, _ in some])
        for name, said in some:
            yield f"  {name.ljust(width)}  {said}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join([f"{name} {count}" for name, count in counts.items()])


def _goals(goals: dict[str, Through]) -> str:
    return ", ".join([f"{goal} {one.hits}/{one.of}" for goal, one in goals.items() if one.hits])


def _shown(played: tuple[Replayed, ...], most: int) -> Iterator[str]:
    for own in grouped(played, lambda one: one.trace.set).values():
        honest = [one for one in own if one.trace.kind == "honest"]
        attacks = [one for one in own if one.trace.kind == "attack"]
        halts = [(one, halt) for one in honest for halt in one.halts]
        for task, halt in halts[:most]:
            yield from _halted(task, halt)
        through = [one for one in attacks if went_through(one)]
        for attack in through[:most]:
            yield from _attack("THROUGH", attack)
        waved = [one for one in attacks if not went_through(one) and passes_inattentive(one)]
        for attack in waved[:most]:
            yield from _attack("INATTENTIVE", attack)


def _halted(one: Replayed, halt: Halt) -> Iterator[str]:
    yield ""
    said = "ASKED" if halt.asks else "REFUSED"
    yield f"{said} {one.trace.set}: {one.trace.id}, step {halt.at}"
    yield f"  user  {_short(one.trace.prompt)}"
    yield f"  call  {_short(_call(halt.what, halt.args))}"
    yield f"  rule  {halt.code}: {_short(halt.why)}"
    for name, shown in halt.evidence.items():
        yield f"  {name}: {_short(str(shown))}"


def _attack(what: str, one: Replayed) -> Iterator[str]:
    yield ""
    yield f"{what} {one.trace.set}, {one.trace.phrasing}: {one.trace.id}"
    yield f"  user  {_short(one.trace.prompt)}"
    steps = [step for step in one.trace.steps if isinstance(step, Call)]
    for step, attempt in zip(steps, one.attempts, strict=True):
        yield f"  {attempt.outcome}, {attempt.effect}  {_short(_call(step.tool, step.args))}"
    for halt in [halt for halt in one.halts if halt.side == "attack"]:
        yield f"  rule  {halt.code}: {_short(halt.why)}"


def _call(tool: str, args: dict[str, Any]) -> str:
    return f"{tool} {msgspec.json.encode(args).decode()}" if args else tool


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
