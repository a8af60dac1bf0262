"""Cases from the tables of the tests: every one of them, as its table says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.testing import Case as Written, read_table
from stanchion.testing.table_file import RunSpec, Step
from tools.decisions.case import Case, Judge

FOLDER: Final = Path(__file__).resolve().parents[2] / "tests" / "tables"


def cases(folder: Path = FOLDER, pattern: str = "*.yaml") -> Iterator[Case]:
    """Every case of every table, or of those whose names match, in the order of their names."""
    for file in sorted(folder.glob(pattern)):
        for case in read_table(file).cases:
            yield _case(f"tables/{file.stem}: {case.name}", case)


def _case(name: str, case: Written) -> Case:
    assert case.policy is not None
    runs = {key: _run(key, spec) for key, spec in case.began().items()}
    steps = [each for step in case.steps() for each in _steps(step)]
    return Case(
        name,
        case.policy,
        tuple(steps),
        runs,
        safe_mode=case.safe_mode,
        lost=case.lost,
        addresses=case.addresses,
    )


def _run(name: str, spec: RunSpec) -> dict[str, Any]:
    return msgspec.structs.asdict(spec) | {
        "id": spec.id if spec.id else f"run-{name}" if name else "run"
    }


def _steps(step: Step) -> Iterator[Judge]:
    for time in range(step.times):
        yield Judge(step.stage, step.fields, step.run, 0 if time else step.advance_ms)
