"""What a store holds as lines for people: a tenant's states, runs, counters, outcomes and records;
the open holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET

from stanchion.cli.printing import table
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.verdict import row
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.states import HALTED, QUARANTINE, SAFE, WARNING
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import UNITS, amount
from stanchion.ops.views.standing import PLAIN, StateView
from stanchion.ops.views.stored import (
    MOST,
    CellView,
    CounterCell,
    HoldView,
    OutcomesCell,
    RecordCell,
    RunCell,
    ShieldCell,
    TenantView,
    TookView,
)
from stanchion.ops.views.times import shown, span

LONGEST: Final = 60
"""How much of a record's value is shown, where nothing says what it means."""

NUMBERS: Final = frozenset({"total", "known", "failed", "in a row"})

PARTS: Final[Sequence[tuple[str, str, tuple[str, ...]]]] = (
    ("runs that ended", "run", ("run", "when", "why")),
    ("counters", "counter", ("total", "counter", "window", "last")),
    ("last outcomes", "outcomes", ("known", "failed", "in a row", "of", "last")),
    ("records", "record", ("record", "last", "says")),
)
"""What is shown of a tenant, in which columns."""

WORDS: Final = {
    SAFE: ("SAFE MODE", "mild"),
    HALTED: ("HALTED", "bad"),
    QUARANTINE: ("QUARANTINED", "bad"),
    WARNING: ("warning", "mild"),
    PLAIN: ("normal", "good"),
}
"""How states are shown."""


def tenant_lines(one: TenantView, terminal: Terminal) -> Iterator[str]:
    """Everything of one tenant."""
    whose = f"tenant {terminal.paint(visible(one.tenant), 'bold')}"
    yield terminal.paint("the fleet", "bold") if one.tenant == FLEET else whose
    for cell in one.cells.get("shield", ()):
        if isinstance(cell, ShieldCell):
            own, *others = cell.states
            yield from _state(
                "shield", "", own, f"; last changed {shown(cell.touched_ms)}", terminal
            )
            for state in others:
                yield from _state(state.kind, f"{state.name} ", state, "", terminal)
    for title, kind, columns in PARTS:
        found = one.cells.get(kind, [])
        if found:
            yield from _part(
                title, columns, [_row(cell) for cell in found], one.more.get(kind, 0), terminal
            )


def _state(kind: str, who: str, one: StateView, more: str, terminal: Terminal) -> Iterator[str]:
    """One state: what it is now, until when, and why; what has ended by itself is told as over."""
    words, style = WORDS[one.put]
    over = "" if not one.over else " (over)" if one.state == PLAIN else " (over, and being watched)"
    until = "" if one.until_ms is None else f" until {shown(one.until_ms)}{over}"
    why = f": {one.why}" if one.why else ""
    first, *rest = row(kind, visible(f"{who}{words}{until}{why}{more}"), terminal)
    yield first.replace(words, terminal.paint(words, style), 1)
    yield from rest


def _part(
    title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], more: int, terminal: Terminal
) -> Iterator[str]:
    yield ""
    yield f"  {terminal.paint(title, 'bold')}"
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 4)
    yield from (f"    {line}" for line in table(columns, rows, NUMBERS, room))
    if more:
        yield f"    … and {more:,} more: give a prefix, or see `--json`"


def _row(cell: CellView) -> tuple[str, ...]:
    last = shown(cell.touched_ms)
    match cell:
        case RunCell():
            return cell.run, last, f"{cell.code}: {cell.why}"
        case CounterCell():
            return amount(cell.measure, cell.total), _named(cell), _window(cell), last
        case OutcomesCell():
            return (
                f"{cell.known:,}",
                f"{cell.failed:,}",
                f"{cell.failed_in_a_row:,}",
                _named(cell),
                last,
            )
        case RecordCell() | ShieldCell():
            said = cell.says if isinstance(cell, RecordCell) else ""
            return _named(cell), last, said if said else _short(cell.value)


def _window(cell: CounterCell) -> str:
    if cell.in_window is UNSET or cell.window_ms is UNSET:
        return ""
    return f"{amount(cell.measure, cell.in_window)} in {span(cell.window_ms)}"


def _named(cell: CellView) -> str:
    return f"{cell.name} (in shadow mode)" if cell.shadow else cell.name


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def hold_lines(holds: list[HoldView], terminal: Terminal) -> Iterator[str]:
    """The open holds: what each took, and when it is due."""
    yield terminal.paint("open holds", "bold")
    for hold in holds[:MOST]:
        due = f"lapsed {shown(hold.due_ms)}" if hold.lapsed else f"due {shown(hold.due_ms)}"
        yield f"{visible(hold.id)}  {terminal.paint(due, 'mild' if hold.lapsed else 'dim')}"
        for took in hold.took:
            yield from row("took", visible(_took(took)), terminal)
    if len(holds) > MOST:
        yield "  … and more: give a prefix, or see `--json`"


def _took(took: TookView) -> str:
    # A permit is of whatever its counter is of: a probe, a lock, a slot.
    number = (
        f"{took.amount:,}" if UNITS[took.measure] is Unit.ONE else amount(took.measure, took.amount)
    )
    whose = "" if took.tenant in ("default", FLEET) else f" (tenant {took.tenant})"
    return (
        f"{number} of {took.name}{whose}, "
        f"{'charged until settled' if took.keeps else 'given back when due'}"
    )
