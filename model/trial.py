"""Try every property on the package that is imported: which of them notice that something is wrong,
and how soon."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

import stanchion.kernel
from model.directed import CASES as DIRECTED
from model.drawn.case import EVERYTHING, Case, Feature
from model.properties import check_batches, check_decisions, check_interleaved, check_spans


class Outcome(NamedTuple):
    """What one kind of test made of it: after how many cases it noticed, 0 where it did not, and
    how many it had."""

    test: str
    noticed: int
    cases: int
    how: str


Check = Callable[[], None]


def drawn_cases(count: int, moments: tuple[int, int]) -> Iterator[Case]:
    """A fixed sample of cases of any shape."""
    for seed in range(count):
        drawn = random.Random(seed)
        features = Feature(drawn.randrange(EVERYTHING + 1))
        yield Case(seed, drawn.randint(1, 8), drawn.randint(*moments), features)


def tests(count: int) -> dict[str, Iterator[Check]]:
    """Every kind of test, as the cases it is made of."""
    return {
        "decisions": (partial(check_decisions, case) for case in drawn_cases(count, (1, 12))),
        "interleaved": (partial(check_interleaved, case) for case in drawn_cases(count, (8, 12))),
        "batches": (partial(check_batches, case) for case in drawn_cases(count, (1, 30))),
        "spans": (partial(check_spans, case) for case in drawn_cases(count, (1, 7))),
        "directed": iter(DIRECTED),
    }


def attempt(name: str, checks: Iterator[Check]) -> Outcome:
    """Run the cases of one kind of test until one fails."""
    count = 0
    for count, check in enumerate(checks, start=1):
        try:
            check()
        except Exception as error:  # noqa: BLE001 - a broken engine may raise anything
            return Outcome(name, count, count, type(error).__name__)
    return Outcome(name, 0, count, "")


def run(count: int, until_noticed: bool) -> list[Outcome]:
    """Run every kind of test; with `until_noticed`, only until one of them notices."""
    made: list[Outcome] = []
    for name, checks in tests(count).items():
        made.append(attempt(name, checks))
        if until_noticed and made[-1].noticed:
            break
    return made


def main(source: str, count: str, until_noticed: str) -> None:
    """Print the outcomes as JSON; `source` is where the package must have come from."""
    found = Path(stanchion.kernel.__file__).absolute()  # links lead out of the copy
    if Path(source).absolute() not in found.parents:
        raise SystemExit(f"the package came from `{found}`, not from `{source}`: nothing was tried")
    outcomes = run(int(count), until_noticed == "first")
    sys.stdout.buffer.write(msgspec.json.encode(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
