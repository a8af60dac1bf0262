"""Measuring what honest work is spared: recorded runs under the `default` pack and the `loops` guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from stanchion.lab.measuring.figure import Figure, Report
from stanchion.lab.measuring.rows import rows
from stanchion.lab.measuring.traces import play, steps_of
from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield

FILE: Final = "benign_traces.jsonl"

POLICY: Final[dict[str, Any]] = {"name": "benign", "extends": "default", "guards": [{"use": "loops"}]}

NOTES: Final = (
    "stopped: a step did not go ahead, or its result was withheld",
    "lists of gold actions have no results: none is reported",
    "dialogues have no calls: their words and results are judged",
)


def measure(folder: Path) -> Report:
    """Play every trace of `benign_traces.jsonl` to a whole shield."""
    shield = Shield(load_policy(POLICY), safe_mode=False)
    stopped: list[str] = []
    warned: list[str] = []
    count = 0
    for row in rows(folder, FILE):
        steps = steps_of(row)
        if steps is None:
            continue
        count += 1
        heard = list(play(shield.run(task=row.id), steps))
        said = [f"{row.id} ({row.label}): {one.decision.code} at step {one.at}" for one in heard]
        stops = [line for line, one in zip(said, heard, strict=True) if not one.decision.proceeds]
        stopped += stops[:1]
        warned += [line for line in said if line not in stops][:1]
    return Report(
        "Benign: runs of honest work",
        (
            Figure("runs stopped", len(stopped), count, "0", tuple(stopped)),
            Figure("runs warned", len(warned), count, "few", tuple(warned)),
        ),
        NOTES,
    )
