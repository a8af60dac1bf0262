"""Measuring the `loops` guard: how many looping runs it finds, and how many others it disturbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.lab.measuring.figure import Figure, Report
from stanchion.lab.measuring.rows import Row, rows
from stanchion.lab.measuring.traces import Call, play, steps_of
from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield

FILE: Final = "loops.jsonl"
POLICY: Final[dict[str, Any]] = {"name": "loops", "guards": [{"use": "loops"}]}
LOOPS: Final = ("loop", "loop_mechanical")
"""Labels of runs that loop: as people saw it, and by counting equal calls in a row or in circles."""

NOTES: Final = (
    "found: warned or refused; a refused run is a found one that was kept from going on",
    "`repeat` rows have some call three times, whatever came of it and of the calls in between: many are honest work",
)


class Played(msgspec.Struct, frozen=True):
    """What became of one row: what was found first, and what refused first; empty where nothing was."""

    row: Row
    calls: int
    found: str
    refused: str

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        said = [self.found, self.refused if self.refused != self.found else ""]
        return f"{self.row.id} ({self.calls} calls): {', then '.join([one for one in said if one]) or 'not found'}"


def measure(folder: Path) -> Report:
    """Play every trace of `loops.jsonl` to a shield that has nothing but the `loops` guard."""
    shield = Shield(load_policy(POLICY), safe_mode=False)
    played = [one for row in rows(folder, FILE) if (one := _played(shield, row)) is not None]
    loop = [one for one in played if one.row.label in LOOPS]
    honest = [one for one in played if one.row.label == "no_loop"]
    repeat = [one for one in played if one.row.label == "repeat"]
    return Report(
        "Loops: runs in which agents repeat themselves",
        (
            _figure("loops found", loop, [one for one in loop if one.found], "most"),
            *[_found_of(label, loop) for label in LOOPS],
            _figure("loops refused", loop, [one for one in loop if one.refused]),
            Figure("honest runs warned", *_share(honest, "found"), "few", _lines(honest, "found")),
            Figure("honest runs refused", *_share(honest, "refused"), "0", _lines(honest, "refused")),
            _figure("`repeat` rows found", repeat, [one for one in repeat if one.found]),
        ),
        NOTES,
    )


def _played(shield: Shield, row: Row) -> Played | None:
    steps = steps_of(row)
    if steps is None:
        return None
    found = refused = ""
    for heard in play(shield.run(task=row.id), steps):
        said = f"{heard.decision.code} at step {heard.at}"
        found = found if found else said
        refused = refused if refused or heard.decision.proceeds else said
    return Played(row, sum([isinstance(step, Call) for step in steps]), found, refused)


def _figure(name: str, rows_: list[Played], hits: list[Played], target: str = "") -> Figure:
    misses = tuple([one.line for one in rows_ if one not in hits])
    return Figure(name, len(hits), len(rows_), target, misses)


def _found_of(label: str, loop: list[Played]) -> Figure:
    own = [one for one in loop if one.row.label == label]
    return Figure(f"  of `{label}`", len([one for one in own if one.found]), len(own))


def _share(rows_: list[Played], what: str) -> tuple[int, int]:
    return len([one for one in rows_ if getattr(one, what)]), len(rows_)


def _lines(rows_: list[Played], what: str) -> tuple[str, ...]:
    return tuple([one.line for one in rows_ if getattr(one, what)])
