"""What a store holds as lines for people: a tenant's shield, runs, counters and records, and the open holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from stanchion.cli.cells import COUNTER, MOST, RECORD, RUN, SHIELD, Cell, Tenant, name_of
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.times import shown, span
from stanchion.cli.verdict import row
from stanchion.kernel.gates import Standing
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING, Mark, phase
from stanchion.kernel.units import MICRO, Unit
from stanchion.stores.seen import Hold, Took

LONGEST: Final = 60
"""How much of a record's value is shown."""

NUMBERS: Final = frozenset({"total", "version"})
UNITS: Final = {Unit.TOKENS: " tokens", Unit.API_CALLS: " API calls", Unit.DURATION_MS: " ms"}


def tenant_lines(tenant: str, held: Tenant, terminal: Terminal, now: int) -> Iterator[str]:
    """Everything of one tenant."""
    whose = f"tenant {terminal.paint(visible(tenant), 'bold')}"
    yield terminal.paint("the fleet", "bold") if tenant == FLEET else whose
    for cell in held.cells.get(SHIELD, ()):
        if cell.standing is not None:
            yield from _standing(cell.standing, cell.seen.touched_ms, terminal, now)
    yield from _part("runs that ended", RUN, ("run", "when", "why"), _ended, held, terminal)
    yield from _part("counters", COUNTER, ("total", "counter", "window", "last"), _counter, held, terminal)
    yield from _part("records", RECORD, ("version", "record", "last", "value"), _record, held, terminal)


WORDS: Final = {
    SAFE: ("SAFE MODE", "mild"),
    HALTED: ("HALTED", "bad"),
    QUARANTINE: ("QUARANTINED", "bad"),
    WARNING: ("warning", "mild"),
    NORMAL: ("normal", "good"),
}
"""How states are shown."""


def _standing(standing: Standing, changed: int, terminal: Terminal, now: int) -> Iterator[str]:
    yield from _mark("shield", "", standing.own, f"; last changed {shown(changed)}", terminal, now)
    for name, mark in sorted(standing.marks.items()):
        kind, _, who = name.partition(":")
        yield from _mark(kind, f"{who} ", mark, "", terminal, now)


def _mark(kind: str, who: str, mark: Mark, more: str, terminal: Terminal, now: int) -> Iterator[str]:
    """One state: what it is now, until when, and why; what has ended by itself is told as over."""
    state = phase(mark, now).state
    words, style = WORDS[mark.state]
    over = " (over)" if state == NORMAL != mark.state else " (over, and watched)" if state != mark.state else ""
    until = f" until {shown(mark.until)}{over}" if mark.until else ""
    why = f": {mark.why}" if mark.why else ""
    first, *rest = row(kind, visible(f"{who}{words}{until}{why}{more}"), terminal)
    yield first.replace(words, terminal.paint(words, style), 1)
    yield from rest


def _part(
    title: str,
    kind: str,
    columns: tuple[str, ...],
    row_of: Callable[[Cell], tuple[str, ...]],
    held: Tenant,
    terminal: Terminal,
) -> Iterator[str]:
    cells = held.cells.get(kind, [])
    if not cells:
        return
    yield ""
    yield f"  {terminal.paint(title, 'bold')}"
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 4)
    yield from (f"    {line}" for line in table(columns, [row_of(cell) for cell in cells], NUMBERS, room))
    more = held.more.get(kind, 0)
    if more:
        yield f"    … and {more:,} more: name a prefix, or see `--json`"


def _ended(cell: Cell) -> tuple[str, ...]:
    ending = cell.ending
    why = "" if ending is None else f"{ending.code}: {ending.why}"
    return cell.name.parts[1], shown(cell.seen.touched_ms), why


def _counter(cell: Cell) -> tuple[str, ...]:
    seen, name = cell.seen, cell.name
    window = "" if seen.live is None else f"{seen.live:,} in {span(name.window_ms)}"
    return f"{seen.number:,}", _named(cell), window, shown(seen.touched_ms)


def _record(cell: Cell) -> tuple[str, ...]:
    return f"{cell.seen.number:,}", _named(cell), shown(cell.seen.touched_ms), _short(cell.seen.value)


def _named(cell: Cell) -> str:
    return f"{cell.name.text} (in shadow mode)" if cell.name.shadow else cell.name.text


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def hold_lines(holds: list[Hold], terminal: Terminal) -> Iterator[str]:
    """The open holds: what each took, and when it is due."""
    yield terminal.paint("open holds", "bold")
    for hold in holds[:MOST]:
        due = f"lapsed {shown(hold.due_ms)}" if hold.lapsed else f"due {shown(hold.due_ms)}"
        yield f"{visible(hold.id)}  {terminal.paint(due, 'mild' if hold.lapsed else 'dim')}"
        for took in hold.took:
            yield from row("took", visible(_took(took)), terminal)
    if len(holds) > MOST:
        yield "  … and more: name a prefix, or see `--json`"


def _took(took: Took) -> str:
    if took.unit == Unit.COST_MICROUSD:
        amount = f"${took.amount / MICRO:.6f}"
    else:
        amount = f"{took.amount:,}{UNITS.get(Unit(took.unit), '')}"
    name = name_of(took.key)
    whose = f" (tenant {name.tenant})" if name.tenant != "default" else ""
    return f"{amount} of {name.text}{whose}, {'charged until settled' if took.keeps else 'given back when due'}"
