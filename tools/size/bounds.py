"""What may only fall, and what is said where it did not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tools.size.areas import BOUNDED, CODE, DATA
from tools.size.table import Sheet

FRESH: Final = "python -m tools.size --write"
SLACK: Final = 100
"""A figure may be this part of itself below what is checked in."""


def find_changes(kept: Sheet, found: Sheet) -> tuple[list[str], list[str]]:
    """The bounded figures that rose, and those that fell so far that the table should say so, lest
    they rise again unnoticed; what is not in a table is none."""
    risen, fallen = [], []
    before, after = _bounded(kept), _bounded(found)
    for name in {**before, **after}:
        was, now = before.get(name, 0), after.get(name, 0)
        if now > was:
            risen.append(f"{name} {was:,} → {now:,}")
        elif (was - now) * SLACK > was:
            fallen.append(f"{name} {was:,} → {now:,}")
    return risen, fallen


def complain(kept: Sheet, found: Sheet) -> Iterator[str]:
    """Say which figures are not as they should be, what each was and is, and what to do."""
    risen, fallen = find_changes(kept, found)
    if risen:
        yield f"these rose: {'; '.join(risen)}"
        yield "take as much away, see `python -m tools.size --against main` and `--list`,"
        yield f'or take the budget that an issue names: `{FRESH} --budget "WHAT IT BUYS"`'
    if fallen:
        yield f"these fell: {'; '.join(fallen)}"
        yield f"run `{FRESH}`, so that what was won stays won"


def _bounded(sheet: Sheet) -> dict[str, int]:
    """The figures that may only fall: of the code the sums of an area, so that it may move between
    packages; of everything else each cell."""
    return {
        f"{table.title} {row} {column}": figure
        for table in sheet.tables
        for row, cells in table.rows.items()
        for column, figure in zip(table.columns, cells, strict=True)
        if table.title != CODE or (row in BOUNDED and column != DATA)
    }
