"""Measuring what honest work is spared: recorded runs under the `default` pack and the `loops`
guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.figure import Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.traces import Step, play, steps_of
from stanchion_lab.measuring.watching import each

FILE: Final = "benign_traces.jsonl"

POLICY: Final[dict[str, Any]] = {
    "name": "benign",
    "extends": "default",
    "guards": [{"use": "loops"}],
}

NOTES: Final = (
    "stopped: a step did not go ahead, or its result was withheld",
    "lists of gold actions have no results: none is reported",
    "dialogues have no calls: their words and results are judged",
)


class PlayedTrace(msgspec.Struct, frozen=True):
    """A run: what stopped it first, and what else was said first; empty where nothing was."""

    row: Row
    stopped: str
    warned: str


def measure(folder: Path) -> Report:
    """Play every trace of `benign_traces.jsonl` to a whole shield."""
    shield = Shield(load_policy(POLICY), safe_mode=False)
    every = list(rows(folder, FILE))
    played = [
        _played(shield, row, steps) for row in each(every) if (steps := steps_of(row)) is not None
    ]
    return Report(
        "Benign: runs of honest work",
        (
            counted(
                "runs stopped",
                played,
                lambda one: one.stopped != "",
                _family,
                target="0",
                missed=lambda one: one.stopped,
                alarm=True,
            ),
            counted(
                "runs warned",
                played,
                lambda one: one.warned != "",
                _family,
                target="few",
                missed=lambda one: one.warned,
                alarm=True,
            ),
        ),
        NOTES,
    )


def _played(shield: Shield, row: Row, steps: list[Step]) -> PlayedTrace:
    stopped = warned = ""
    for heard in play(shield.run(task=row.id), steps):
        said = f"{row.id} ({row.label}): {heard.decision.code} at step {heard.at}"
        if heard.decision.proceeds:
            warned = warned if warned else said
        else:
            stopped = stopped if stopped else said
    return PlayedTrace(row, stopped, warned)


def _family(one: PlayedTrace) -> str:
    return one.row.family
