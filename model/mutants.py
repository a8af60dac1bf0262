"""Do the tests bite? Seeds each fault into a copy of the package and shows which tests notice it,
and how soon.

python -m model.mutants every fault; exit status 1 if one of them goes unnoticed python -m
model.mutants band stale those with one of these words in their name, or in the id of their row

The faults of the kernel come first, then those of the feature table (`model/rows.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

import msgspec

from model import rows
from model.mutations import MUTATIONS, Mutation
from model.seeding import ROOT, check_place, copied
from model.trial import Outcome

CASES: Final = 300
"""How many drawn cases each property gets."""
TIMEOUT_S: Final = 300
"""A fault that makes the engine run on is noticed, too."""


class Verdict(NamedTuple):
    """What the tests made of one fault."""

    name: str
    outcomes: list[Outcome]

    @property
    def noticed(self) -> bool:
        """Whether any test did."""
        return any(outcome.noticed for outcome in self.outcomes)


def attempt(mutation: Mutation | None, cases: int = CASES, first: bool = False) -> Verdict:
    """Run the trial on a copy of the package with one fault, or with none."""
    with copied(mutation) as (folder, env):
        command = [
            sys.executable,
            "-m",
            "model.trial",
            str(folder),
            str(cases),
            "first" if first else "all",
        ]
        name = mutation.name if mutation is not None else "no fault"
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return Verdict(name, [Outcome("timeout", 1, 1, "TimeoutExpired")])
        if done.returncode != 0:
            raise RuntimeError(
                f"mutant `{name}` does not run: {done.stderr.decode().strip().splitlines()[-1]}"
            )
        return Verdict(name, msgspec.json.decode(done.stdout, type=list[Outcome]))


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The table: for each fault and each kind of test after how many cases it was noticed."""
    names = list(
        dict.fromkeys(outcome.test for verdict in verdicts for outcome in verdict.outcomes)
    )
    width = max(len(verdict.name) for verdict in verdicts)
    yield f"{'mutant':{width}}  " + "".join(f"{name:>12}" for name in names)
    for verdict in verdicts:
        after = {outcome.test: outcome.noticed for outcome in verdict.outcomes}
        cells = "".join(f"{after.get(name, 0) or '·':>12}" for name in names)
        yield f"{verdict.name:{width}}  {cells}" + ("" if verdict.noticed else "   SURVIVED")


def kernel(chosen: Sequence[Mutation], cases: int) -> int:
    """Try faults of the kernel on so many cases each, print the table, and say how it went."""
    for mutation in chosen:
        check_place(mutation)
    sound = attempt(None, cases)
    if sound.noticed:
        print(
            "the tests fail without any fault:",
            *[o for o in sound.outcomes if o.noticed],
            sep="\n  ",
        )
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        verdicts = list(workers.map(partial(attempt, cases=cases), chosen))
    print(*table(verdicts), sep="\n")
    alive = [verdict.name for verdict in verdicts if not verdict.noticed]
    print(
        f"{len(verdicts) - len(alive)} of {len(verdicts)} faults noticed; cases until noticed, · "
        f"where not noticed"
    )
    return 1 if alive else 0


def main(words: Sequence[str], cases: int = CASES) -> int:
    """Try the faults of the kernel and those of the feature table that have one of the words in
    their name."""
    chosen = [m for m in MUTATIONS if not words or any(word in m.name for word in words)]
    told = kernel(chosen, cases) if chosen else 0
    return max(told, rows.main(words)) if rows.select(words) or not chosen else told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
