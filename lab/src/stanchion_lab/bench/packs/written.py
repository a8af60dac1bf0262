"""What a decision leaves on the disk: how many rows of which bytes, and how long a record, so that
a floor does too."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

CALLS: Final = 12
"""After so many calls the history of a run is as long as it gets."""
COMMAND: Final = "grep -c total src/part_{}.py"

Cells = dict[str, bytes]


class Written(msgspec.Struct, frozen=True):
    """What one decision writes: the bodies of the rows it changes, its answer, and how long its
    record is without the content."""

    bodies: tuple[bytes, ...]
    reply: bytes
    record: int


class Left(msgspec.Struct, frozen=True):
    """What a call leaves, and what its result does."""

    call: Written
    result: Written


def left_by(source: str | dict[str, Any], folder: Path) -> Left:
    """Make calls under a policy with its state in a folder, and look what the last of them and its
    result wrote."""
    place = folder / "state.db"
    with Shield.load(source, store=str(place), journal=str(folder / "trail")) as shield:
        run = shield.run("ann", "work")
        run.prompt("count the lines with `total` in each part of src")
        for number in range(CALLS - 1):
            _made(run, number, lambda: None)
        with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as db:
            states = [_rows(db)]
            call, result = _made(run, CALLS, lambda: states.append(_rows(db)))
            states.append(_rows(db))
    lengths = _records(folder / "trail")
    return Left(
        _written(states[0], states[1], lengths[call] - len(COMMAND.format(CALLS))),
        _written(states[1], states[2], lengths[result] - len(str(CALLS))),
    )


def _made(run: Run, number: int, between: Callable[[], None]) -> tuple[str, str]:
    """Make a call and report its result; gives the ids of both decisions."""
    args = {"command": COMMAND.format(number)}
    decision = run.check("bash", args)
    between()
    after = run.result("bash", args, str(number), call=decision.id)
    if not decision.proceeds or not after.proceeds:
        raise AssertionError(decision.message if not decision.proceeds else after.message)
    return decision.id, after.id


def _rows(db: sqlite3.Connection) -> tuple[Cells, dict[str, bytes]]:
    cells = dict(db.execute("SELECT owner, cells FROM kept").fetchall())
    return cells, dict(db.execute("SELECT id, reply FROM batch").fetchall())


def _written(
    before: tuple[Cells, dict[str, bytes]], after: tuple[Cells, dict[str, bytes]], record: int
) -> Written:
    changed = [body for owner, body in after[0].items() if before[0].get(owner) != body]
    replies = [reply for key, reply in after[1].items() if key not in before[1]]
    return Written(tuple(changed), b"".join(replies), record)


def _records(trail: Path) -> dict[str, int]:
    """How long each record's line is, by the decision it tells of."""
    lengths = {}
    for file in trail.rglob("*.jsonl"):
        for line in file.read_bytes().splitlines():
            told = msgspec.json.decode(line)["body"].get("id")
            if told is not None:
                lengths[told] = len(line) + 1
    return lengths
