"""What a store holds, put in order for people: by tenant, shield state first, then runs, counters, records, holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from stanchion.kernel.gates import Ending, Standing
from stanchion.kernel.state import STANDING
from stanchion.stores.seen import Hold, Seen

MOST: Final = 50
"""How many cells of a kind are shown for each tenant."""

SHIELD, RUN, COUNTER, RECORD = "shield", "run", "counter", "record"

_KEY: Final = re.compile(r"(~?)\{([^{}]*)\}([^{}]*)")
_WINDOW: Final = re.compile(r"(.*)/(\d+)", re.DOTALL)


class Name(msgspec.Struct, frozen=True):
    """A key taken apart. `shadow`: it belongs to a guard in shadow mode."""

    tenant: str
    parts: tuple[str, ...]
    window_ms: int = 0
    shadow: bool = False

    @property
    def text(self) -> str:
        """The parts in one line, those that say nothing left out."""
        return " / ".join(part for part in self.parts if part)


class Cell(msgspec.Struct, frozen=True):
    """A cell, and what it is: shield state, the end of a run, a counter, or a record of a guard."""

    name: Name
    kind: str
    seen: Seen
    standing: Standing | None = None
    ending: Ending | None = None


def name_of(key: str, windowed: bool = False) -> Name:
    """A key as people read it; one that is none of Stanchion's own is left as it is."""
    taken = _KEY.fullmatch(key)
    if taken is None:
        return Name("", (key,))
    rest, window = taken[3], 0
    wide = _WINDOW.fullmatch(rest) if windowed else None
    if wide is not None:
        rest, window = wide[1], int(wide[2])
    return Name(unquote(taken[2]), tuple(unquote(part) for part in rest.split(":")), window, bool(taken[1]))


def cell_of(seen: Seen) -> Cell:
    """What a cell is."""
    name = name_of(seen.key, seen.live is not None)
    if seen.value is None:
        return Cell(name, COUNTER, seen)
    try:
        if seen.key.endswith(STANDING):
            return Cell(name, SHIELD, seen, standing=msgspec.convert(seen.value, Standing))
        if name.parts[0] == "run" and len(name.parts) == 2:
            return Cell(name, RUN, seen, ending=msgspec.convert(seen.value, Ending))
    except msgspec.ValidationError:
        pass
    return Cell(name, RECORD, seen)


class Tenant:
    """The cells of one tenant, by kind: at most so many, and how many more there are."""

    def __init__(self) -> None:
        self.cells: dict[str, list[Cell]] = {}
        self.more: dict[str, int] = {}

    def add(self, cell: Cell) -> None:
        """Take a cell in."""
        known = self.cells.setdefault(cell.kind, [])
        if len(known) < MOST:
            known.append(cell)
        else:
            self.more[cell.kind] = self.more.get(cell.kind, 0) + 1


def by_tenant(cells: Iterable[Cell]) -> dict[str, Tenant]:
    """Cells in order, tenant by tenant."""
    found: dict[str, Tenant] = {}
    for cell in cells:
        found.setdefault(cell.name.tenant, Tenant()).add(cell)
    return found


def data_of(cell: Cell) -> dict[str, Any]:
    """A cell as data for programs."""
    seen, name = cell.seen, cell.name
    data: dict[str, Any] = {"kind": cell.kind, "key": seen.key, "tenant": name.tenant, "parts": name.parts}
    data |= {"shadow": name.shadow, "touched_ms": seen.touched_ms}
    if cell.kind == COUNTER:
        data |= {"total": seen.number}
        return data if seen.live is None else {**data, "window_ms": name.window_ms, "in_window": seen.live}
    return {**data, "version": seen.number, "value": seen.value}


def hold_data(hold: Hold) -> dict[str, Any]:
    """A hold as data for programs."""
    return {"kind": "hold", **msgspec.to_builtins(hold)}
