"""The table of faults is as it is kept, and the rules hold in every cell but where it is said why
not.

`python -m tools.faults` measures it anew. Here each fault is made to happen once; with
`STANCHION_SOAK` in every cell.
"""

from __future__ import annotations

import os
from typing import Final

import msgspec
import pytest

from tests.faults.table.cells import Cell, Outcome
from tests.faults.table.found import kept
from tests.faults.table.measuring import CELLS, FAULTS, measured
from tests.faults.table.rules import (
    EXCEPTED,
    OUTCOMES,
    RECOVERS,
    STANDS,
    STARTS,
    TRUTH,
    Words,
    broken,
    words_for,
)

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
PACKS: Final = ("default", "strict", "shadow-start")
ONCE: Final = [
    Cell(fault.name, fault.stages[number % len(fault.stages)], PACKS[number % len(PACKS)])
    for number, fault in enumerate(FAULTS.values())
]
"""Each fault at one stage: another one for the next fault."""


@pytest.mark.parametrize("cell", CELLS if SOAK else ONCE, ids=lambda cell: cell.name)
def test_what_comes_of_a_fault_is_as_it_is_kept(cell: Cell) -> None:
    assert measured(cell) == kept()[cell], "run `python -m tools.faults` where that is meant"


def test_every_cell_is_kept() -> None:
    assert set(kept()) == set(CELLS), "run `python -m tools.faults`"


def test_the_rules_hold_in_every_cell() -> None:
    new = [
        f"{cell.name}: {rule} {outcome}"
        for cell, outcome in kept().items()
        for rule in broken(cell, outcome)
        if words_for(rule, cell, outcome, EXCEPTED) is None
    ]
    assert not new, "\n".join(new)


@pytest.mark.parametrize("words", EXCEPTED, ids=lambda words: f"{words.rule} {words.why}")
def test_whatever_is_said_not_to_hold_does_not(words: Words) -> None:
    found = [
        cell
        for cell, outcome in kept().items()
        if any(words_for(rule, cell, outcome, [words]) for rule in broken(cell, outcome))
    ]
    assert found, "it holds now: take these words out"


GOOD: Final = Outcome("yes", True, "yes", "yes", "yes")
LOST: Final = "the store is lost before a batch"


@pytest.mark.parametrize(
    ("fault", "stage", "changes", "rule"),
    [
        ("a guard raises", "tool_call", {"recorded": "no"}, STARTS),
        ("a guard raises", "prompt", {"recorded": "later"}, STARTS),
        (LOST, "model_call", {}, STARTS),
        ("a guard raises", "tool_result", {"proceeded": "withheld", "admitted": False}, TRUTH),
        ("a guard raises", "tool_call", {"proceeded": "refused", "admitted": False}, TRUTH),
        ("a guard raises", "error", {"outcome": "no"}, OUTCOMES),
        ("a guard raises", "egress", {"recovered": "at the second call"}, RECOVERS),
        ("a guard raises", "handoff", {"recovered": "no"}, RECOVERS),
        (LOST, "tool_result", {"proceeded": "raised StoreLost"}, STANDS),
        (LOST, "tool_result", {"proceeded": "hangs"}, STANDS),
        (LOST, "tool_result", {"proceeded": "the process ends by SIGSEGV"}, STANDS),
    ],
)
def test_a_rule_that_is_broken_is_found(
    fault: str, stage: str, changes: dict[str, str], rule: str
) -> None:
    cell = Cell(fault, stage, "strict")
    assert broken(cell, msgspec.structs.replace(GOOD, **changes)) == [rule]
    assert broken(Cell("a guard raises", stage, "strict"), GOOD) == []
