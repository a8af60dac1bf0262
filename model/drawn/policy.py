"""A policy drawn from a case: guards of every kind at drawn places."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import msgspec

from model.drawn.case import Case, Feature
from model.drawn.guards import (
    GONE,
    SECRET,
    Asker,
    Breaker,
    Grumbler,
    Looper,
    Meter,
    Rule,
    Watcher,
    scoped,
)
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.autonomy import Share
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.lineup import Lineups
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, When
from stanchion.kernel.units import Unit
from stanchion.readings import Reading, read

A = Action
ACTIONS = (A.ALLOW, A.WARN, A.WARN, A.WARN, A.REDACT, A.DEGRADE, A.RETRY, A.QUEUE, A.ESCALATE, A.BLOCK, A.BLOCK,  # noqa: E501
           A.QUARANTINE, A.HALT)  # fmt: skip
MODES = ("", "safe", "strict", "lockdown", "exhausted")


class Entry(NamedTuple):
    """A guard, and when it applies."""

    placed: Placed
    charges: bool
    others: bool
    modes: tuple[str, ...]
    tool: str


class DrawnPolicy:
    """A compiled policy as the engine sees one."""

    def __init__(self, case: Case) -> None:
        drawn = case.drawn(0)
        self.hash = "drawn"
        self.lineups = Lineups()
        self.shadow = case.has(Feature.SHADOW) and drawn.random() < 0.08
        self.warnings = drawn.choice((2, 3, 3))
        self.can = EVERY_ACTION
        if case.has(Feature.LIMITED):
            self.can = tuple(
                action for action in Action if action in (A.ALLOW, A.BLOCK) or drawn.random() < 0.7
            )
        self.entries = [_entry(case, number, self.shadow) for number in range(case.guards)]
        drawn.shuffle(self.entries)
        self._budgets = _budgets(case, drawn) if case.has(Feature.MODES) and not self.shadow else []
        self.count_marks = drawn.random() < 0.5

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        """The guards that apply, in any order."""
        return tuple(
            [
                entry.placed
                for entry in self.entries
                if (entry.charges if stage == Stage.CHARGE else entry.others)
                and mode in entry.modes
                and entry.tool in ("", tool)
                and (stage != Stage.MODEL_CHUNK or entry.placed.kind in (Kind.PURE, Kind.ASKING))
            ]
        )

    def shares(self, run: RunInfo) -> tuple[Share, ...]:
        """The counters of some meters, each with a small limit."""
        scopes = {"tenant": run.tenant, "task": run.task, "run": run.id}
        return tuple(
            [Share(scoped(name, run.tenant, scopes), limit) for name, limit in self._budgets]
        )

    def read(self, event: Any, /) -> Reading[Any]:
        """What an event says."""
        return read(event)


def _budgets(case: Case, drawn: random.Random) -> list[tuple[str, int]]:
    """Counters by which the mode of a run goes; those of windows have no total worth speaking
    of."""
    totals = [number for number in range(case.guards) if not _window(number)]
    chosen = drawn.sample(totals, min(len(totals), drawn.choice((0, 1, 1, 2))))
    return [
        (_first_line(case, number).key, drawn.choice((0, 1, 2, 3, 5, 5, 5, 10)))
        for number in chosen
    ]


def _entry(case: Case, number: int, shadow: bool) -> Entry:
    drawn = case.drawn(1 + number)
    kinds = [_watcher, _watcher]
    kinds += [_meter, _meter] if case.has(Feature.METERS) else []
    kinds += [_record] if case.has(Feature.RECORDS) else []
    kinds += [_asker] if case.has(Feature.ASKING) else []
    placed = Placed(
        id=f"g{number}",
        guard=drawn.choice(kinds)(case, number, drawn),
        priority=drawn.choice((10, 20, 30)),
        category=drawn.choice(tuple(Category)),
        shadow=shadow or (case.has(Feature.SHADOW) and drawn.random() < 0.25),
        fail_open=case.has(Feature.FAILURES) and drawn.random() < 0.4,
        log_pass=number % 2 == 0,
    )
    if placed.kind in (Kind.PURE, Kind.ASKING) and drawn.random() < 0.2:
        placed = msgspec.structs.replace(placed, ends=False)
    charges = case.has(Feature.PAIRS) and drawn.random() < 0.4
    others = not charges or (placed.kind in (Kind.PURE, Kind.ASKING) and drawn.random() < 0.5)
    modes = (
        drawn.choice((MODES, MODES, MODES, ("",), ("safe",), ("strict", "lockdown")))
        if case.has(Feature.GATES)
        else MODES
    )
    return Entry(placed, charges, others, modes, drawn.choice(("", "", "", "a")))


def _finding(drawn: random.Random, code: str) -> Finding:
    effects = tuple(drawn.sample(("page", "log", "mail", "tell"), drawn.choice((0, 0, 1, 2))))
    return Finding(drawn.choice(ACTIONS), f"drawn.{code}", (drawn.randint(0, 3),), effects=effects)


def _rules(case: Case, drawn: random.Random) -> tuple[Rule, ...]:
    rules = []
    for at in range(drawn.choice((1, 1, 2, 3))):
        word = drawn.choice(("", "", SECRET, GONE))
        rule = Rule(drawn.choice((-1, 0, 1, 2)), word, _finding(drawn, drawn.choice("xxyz")))
        failing = drawn.random() if case.has(Feature.FAILURES) else 1.0
        if failing < 0.2:
            rule = Rule(rule.mark, word, raises=failing < 0.14, nonsense=failing >= 0.14)
        elif case.has(Feature.PATCHES) and drawn.random() < 0.5:
            edit = drawn.choice(
                ("span", "span", "span", "span", "whole", "stays", "wide", "lost", "odd")
            )
            mild = Finding(drawn.choice((A.REDACT, A.REDACT, A.WARN, A.DEGRADE)), f"drawn.edit{at}")
            rule = Rule(rule.mark, SECRET if edit in ("span", "stays") else word, mild, edit)
        rules.append(rule)
    return tuple(rules)


def _watcher(case: Case, number: int, drawn: random.Random) -> Any:
    return Watcher(_rules(case, drawn), drawn.random() < 0.6, number % 4 == 3)


def _asker(case: Case, number: int, drawn: random.Random) -> Any:
    raises = drawn.choice((-1, 0)) if case.has(Feature.FAILURES) else -1
    return Asker(_rules(case, drawn), drawn.random() < 0.5, drawn.choice((-1, 1)), raises)


def _record(case: Case, number: int, drawn: random.Random) -> Any:
    writes = drawn.choice((When.JUDGED, When.PROCEED))
    says = _finding(drawn, "record")
    if drawn.random() < 0.35:
        return Breaker(
            f"g{number}", drawn.randint(0, 2), drawn.choice((40, 400, 4_000)), says, writes
        )
    failing = drawn.choice((-1, -1, 0, 1)) if case.has(Feature.FAILURES) else -1
    nonsense = drawn.choice((-1, -1, 2)) if case.has(Feature.FAILURES) else -1
    kind = Grumbler if case.drawn(500 + number).random() < 0.7 else Looper
    return kind(f"g{number}", drawn.randint(1, 3), says, writes, failing, nonsense)


def _meter(case: Case, number: int, drawn: random.Random) -> Any:
    lines = [_line(case, drawn, f"g{number}.{at}") for at in range(drawn.choice((1, 1, 2, 3)))]
    failing = case.has(Feature.FAILURES)
    if failing and drawn.random() < 0.05:
        lines.append(Line(f"run/g{number}.odd", when=When.JUDGED, hold_ms=100))
    elif drawn.random() < 0.3:
        other = _first_line(case, drawn.randrange(case.guards))
        lines.append(other._replace(bands=_bands(drawn), when=When.LOOK, hold_ms=0))
    return Meter(
        tuple(lines),
        drawn.choice(("", "", "", "b")) if failing else "",
        drawn.choice((-1, -1, 0)) if failing else -1,
        drawn.choice((-1, -1, 1)) if failing else -1,
        drawn.choice(((), ("page",), ("mail", "log"))),
        drawn.choice(("", "", "span")) if case.has(Feature.PATCHES) else "",
    )


def _first_line(case: Case, number: int) -> Line:
    """The first line of the guard with that number, were it a meter: what another one may look
    at."""
    return Line(f"{_scope(number)}/g{number}.0", unit=_unit(number), window_ms=_window(number))


def _scope(number: int) -> str:
    return ("tenant", "task", "run")[number % 3]


def _unit(number: int) -> int:
    return (Unit.ONE, Unit.ONE, Unit.TOKENS)[number % 3]


def _window(number: int) -> int:
    return (0, 0, 0, 1_600)[number % 4]


def _bands(drawn: random.Random) -> tuple[tuple[int, Action], ...]:
    actions = (
        A.WARN,
        A.WARN,
        A.WARN,
        A.REDACT,
        A.DEGRADE,
        A.QUEUE,
        A.ESCALATE,
        A.BLOCK,
        A.BLOCK,
        A.HALT,
    )
    return tuple(
        (drawn.randint(0, 6), drawn.choice(actions)) for _ in range(drawn.choice((0, 1, 1, 2)))
    )


def _line(case: Case, drawn: random.Random, name: str) -> Line:
    number = int(name[1:].split(".", maxsplit=1)[0])
    when = drawn.choice((When.PROCEED, When.PROCEED, When.PROCEED, When.JUDGED, When.LOOK))
    holds = case.has(Feature.HOLDS) and when != When.JUDGED
    return Line(
        key=f"{_scope(number)}/{name}",
        bands=_bands(drawn),
        unit=_unit(number),
        when=when,
        hold_ms=drawn.choice((0, 300, 900)) if holds else 0,
        keep=drawn.random() < 0.5,
        window_ms=_window(number),
    )
