"""Measuring the `loops` guard: how many looping runs it finds, and how many others it disturbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.figure import Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.traces import Call, Step, play, steps_of
from stanchion_lab.measuring.watching import each

FILE: Final = "loops.jsonl"
POLICY: Final[dict[str, Any]] = {"name": "loops", "guards": [{"use": "loops"}]}
LOOPS: Final = ("loop", "loop_mechanical")
"""Labels of runs that loop: as people saw it, and by counting equal calls in a row or in
circles."""

NOTES: Final = (
    "found: warned or refused; a refused run is a found one that was kept from going on",
    (
        "`repeat` rows have some call three times, whatever came of it and of the calls in "
        "between: "
        "many are honest work"
    ),
)


class Played(msgspec.Struct, frozen=True):
    """What became of one row: how many calls it has, whether some call is there twice; what was
    found first, and what refused first; empty where nothing was."""

    row: Row
    calls: int
    repeats: bool
    found: str
    refused: str

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        said = [self.found, self.refused if self.refused != self.found else ""]
        return (
            f"{self.row.id} ({self.calls} calls): "
            f"{', then '.join([one for one in said if one]) or 'not found'}"
        )


def measure(folder: Path) -> Report:
    """Play every trace of `loops.jsonl` to a shield that has nothing but the `loops` guard."""
    shield = Shield(load_policy(POLICY), safe_mode=False)
    played = [
        one for row in each(list(rows(folder, FILE))) if (one := _played(shield, row)) is not None
    ]
    loop = [one for one in played if one.row.label in LOOPS]
    honest = [one for one in played if one.row.label == "no_loop"]
    repeat = [one for one in played if one.row.label == "repeat"]
    return Report(
        "Loops: runs in which agents repeat themselves",
        (
            counted("loops found", loop, _found, _family, target="most", missed=_line),
            counted(
                "loops with repeated calls found",
                [one for one in loop if one.repeats],
                _found,
                _family,
                target="≥ 80 %",
                missed=_line,
            ),
            counted("loops refused", loop, _refused, _family, missed=_line),
            counted(
                "honest runs warned",
                honest,
                _found,
                _family,
                target="≤ 1 %",
                missed=_line,
                alarm=True,
            ),
            counted(
                "honest runs refused",
                honest,
                _refused,
                _family,
                target="0",
                missed=_line,
                alarm=True,
            ),
            counted("`repeat` rows found", repeat, _found, _family, missed=_line),
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
    calls = _calls(steps)
    return Played(row, len(calls), len(set(calls)) < len(calls), found, refused)


def _calls(steps: list[Step]) -> list[str]:
    """The calls of a trace, each as one text."""
    calls = [step for step in steps if isinstance(step, Call)]
    return [msgspec.json.encode([call.tool, call.args], order="sorted").decode() for call in calls]


def _found(one: Played) -> bool:
    return one.found != ""


def _refused(one: Played) -> bool:
    return one.refused != ""


def _family(one: Played) -> str:
    return f"{one.row.family}, {one.row.label}"


def _line(one: Played) -> str:
    return one.line
