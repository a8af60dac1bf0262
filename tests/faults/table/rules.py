"""What has to hold in every cell, what is excepted for good, and what does not hold yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from tests.faults.table.cells import ACCEPTED, AFTER, RESTART, RUN_BY_US, WATCHES, Cell, Outcome

STARTS: Final = "Nothing starts that cannot be recorded or counted."
TRUTH: Final = "Nothing that happened is reported as refused."
OUTCOMES: Final = "Whatever was started has a record of what came of it, sooner or later."
RECOVERS: Final = "The next ordinary call goes ahead when the fault is over."
STANDS: Final = (
    "No error of a store, a journal or a guard gets out, and no fault ends or stops the process."
)
RULES: Final = (STARTS, TRUTH, OUTCOMES, RECOVERS, STANDS)

UNCOUNTED: Final = frozenset(
    {
        "the store is lost before a batch",
        "the store is lost after a batch was carried out",
        "the store is locked by another program",
    }
)
ENDED: Final = frozenset(
    {
        "the process gets SIGTERM while the action is at work",
        "the process gets SIGKILL while the action is at work",
    }
)
FORGOTTEN: Final = frozenset(
    {
        "the store is wiped under the live process",
        "the store is restored from a backup of ten minutes ago",
        "an old state.db is copied over the one in use",
        "the state folder is deleted, trail included",
    }
)


class Words(msgspec.Struct, frozen=True):
    """Where a rule does not hold, and why: under which faults, at which stages and under which
    packs unless that is all of them, and how it has to recover all the same."""

    rule: str
    faults: frozenset[str]
    why: str
    stages: frozenset[str] = frozenset()
    packs: frozenset[str] = frozenset()
    recovered: str = ""

    def covers(self, rule: str, cell: Cell, outcome: Outcome) -> bool:
        """Whether they are about a cell."""
        return (
            rule == self.rule
            and cell.fault in self.faults
            and (not self.stages or cell.stage in self.stages)
            and (not self.packs or cell.pack in self.packs)
            and (not self.recovered or outcome.recovered == self.recovered)
        )


def broken(cell: Cell, outcome: Outcome) -> list[str]:
    """The rules that do not hold in a cell."""
    refused = outcome.proceeded in ("refused", "withheld")
    started = outcome.ran and cell.stage not in AFTER
    raw = outcome.proceeded.startswith(("raised", "hangs")) or (
        outcome.proceeded.startswith("the process ends") and cell.fault not in ENDED
    )
    holds = {
        STARTS: not started or (outcome.recorded == "yes" and cell.fault not in UNCOUNTED),
        TRUTH: not (outcome.ran and refused) or outcome.admitted,
        OUTCOMES: not (outcome.ran and cell.stage in RUN_BY_US) or outcome.outcome != "no",
        RECOVERS: outcome.recovered == "yes",
        STANDS: not raw,
    }
    return [rule for rule in RULES if not holds[rule]]


def words_for(rule: str, cell: Cell, outcome: Outcome, of: Iterable[Words]) -> Words | None:
    """What is said of a rule that does not hold in a cell."""
    return next((words for words in of if words.covers(rule, cell, outcome)), None)


EXCEPTED: Final = (
    Words(
        STARTS,
        frozenset(
            {
                *UNCOUNTED,
                "the disk is full when a record is written",
                "a record does not get to the disk",
            }
        ),
        "a policy with `mode: shadow` only watches: it refuses nothing, not even what it cannot "
        "count or record",
        packs=frozenset({WATCHES}),
    ),
    Words(
        OUTCOMES,
        ENDED,
        "nobody is left to write it. Its start is recorded, and a call that happens once is "
        "refused until a person says what came of it",
    ),
    Words(RECOVERS, ENDED, "the process has ended, and the next one goes on", recovered=RESTART),
    Words(
        RECOVERS,
        FORGOTTEN,
        "a store that has lost what it held may have lost a halt: an operator has to accept it, "
        "with `stanchion state accept`",
        recovered=ACCEPTED,
    ),
)
"""Where a rule is not meant to hold."""
