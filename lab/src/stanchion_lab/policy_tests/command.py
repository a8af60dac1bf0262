"""`stanchion test`: play the cases that stand beside policies, and say what no case would
notice."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import PolicyError
from stanchion.cli.command import BadInput, DeclaredCommand, count, option
from stanchion.cli.printing import progress, put_json
from stanchion.cli.terminal import tell
from stanchion.policy.load import packs
from stanchion.testing.table_file import Case
from stanchion_lab.policy_tests.junit import junit
from stanchion_lab.policy_tests.mutation import Verdict, judge
from stanchion_lab.policy_tests.suite import (
    NoTables,
    PlayedCase,
    PolicyReach,
    by_policy,
    play,
    reach,
    tables,
)

FAILED: Final = 1
PACKS: Final = packs()


class TestReport(msgspec.Struct, frozen=True):
    """What became of all cases, what they reach, and which mutants nobody noticed."""

    played: tuple[PlayedCase, ...]
    reached: tuple[PolicyReach, ...] = ()
    verdicts: dict[str, tuple[Verdict, ...]] = {}

    @property
    def failed(self) -> tuple[PlayedCase, ...]:
        """The cases that came to something else than they expect."""
        return tuple([one for one in self.played if one.complaints])

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for one in self.failed:
            yield f"fails  {one.table}: {one.name}"
            yield from [f"       {line}" for line in one.complaints]
        for each in self.reached:
            yield f"reach  {each.policy}: {_share(each)}; {_cells(each)}"
            yield from [f"       `{name}` never finds anything" for name in each.unheard]
        for policy, found in self.verdicts.items():
            left = [one for one in found if one.survives]
            tried = [one for one in found if not one.broken]
            yield f"mutants  {policy}: {len(tried) - len(left)} of {len(tried)} are noticed"
            yield from [f"       {one.what} ({one.where}): no case notices" for one in left]
        yield f"{len(self.played) - len(self.failed)} passed, {len(self.failed)} failed"

    def plain(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "passed": len(self.played) - len(self.failed),
            "failed": [
                {"table": one.table, "case": one.name, "complaints": one.complaints}
                for one in self.failed
            ],
            "reach": [
                {
                    "policy": each.policy,
                    "guards": each.guards,
                    "cells": [[*cell, times] for cell, times in sorted(each.cells.items())],
                }
                for each in self.reached
            ],
            "mutants": {name: list(found) for name, found in self.verdicts.items()},
        }


def _share(each: PolicyReach) -> str:
    heard = len(each.guards) - len(each.unheard)
    return f"{each.cases} cases hear {heard} of {len(each.guards)} guards"


def _cells(each: PolicyReach) -> str:
    return ", ".join([f"{action} at {stage}" for action, stage in sorted(each.cells)])


def _test(args: argparse.Namespace) -> int:
    try:
        with _unlogged():
            report = _played(args)
    except NoTables as error:
        raise BadInput(str(error)) from None
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None
    if args.junit is not None:
        Path(args.junit).write_bytes(junit(report.played))
    if args.json:
        put_json(report.plain())
    else:
        for line in report.lines():
            tell(line)
    survive = any(one.survives for found in report.verdicts.values() for one in found)
    return FAILED if report.failed or survive else 0


@contextmanager
def _unlogged() -> Iterator[None]:
    """Log nothing meanwhile: what the shields of cases do is of no real ticket, run or person."""
    logger = logging.getLogger("stanchion")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _played(args: argparse.Namespace) -> TestReport:
    found = tables(args.places if args.places else ["."])
    total = sum([len(table.cases) for table in found])
    with progress("playing cases", str) as bar:
        each: list[tuple[Case, PlayedCase]] = []
        for table in found:
            for case, came in zip(table.cases, play(table), strict=True):
                each.append((case, came))
                if bar is not None:
                    bar(len(each), total)
    reached = tuple(reach(each, args.packs is not None)) if args.reach is not None else ()
    verdicts = _mutated(each, args.jobs, args.packs is not None) if args.mutate is not None else {}
    return TestReport(tuple([came for _, came in each]), reached, verdicts)


def _mutated(
    each: list[tuple[Case, PlayedCase]], jobs: int | None, with_packs: bool
) -> dict[str, tuple[Verdict, ...]]:
    processes = (os.cpu_count() or 1) if jobs is None else jobs
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    for source, those in by_policy(each):
        cases = [case for case, _ in those]
        name = source if isinstance(source, str) else str(source.get("name", "policy"))
        with progress(f"mutants of {name}", str) as bar:
            own = isinstance(source, dict) or source not in PACKS
            done = judge(source, cases, processes, bar, inherited=with_packs or not own)
        verdicts[name] = (*verdicts.get(name, ()), *done)
    return verdicts


TEST_COMMAND: Final = DeclaredCommand(
    usage="""stanchion test [FILE|FOLDER …] [--reach] [--mutate] [--packs] [--jobs N] [--junit FILE]
                      [--json]""",
    description="""\
Play the cases that stand beside policies: YAML files with `policy` and `cases`. Each case is
played on a store of its own and a clock of its own; nothing is executed and nothing is kept.
Where something else comes out than is expected, both are shown, with the code and the guard
that determined it.""",
    epilog="""\
examples:
  stanchion test
  stanchion test policies/ --reach
  stanchion test careful.yaml --mutate
  stanchion test --junit build/policies.xml

With --mutate each entry of a policy is taken away, put into shadow or made milder, one at a
time, and the cases are played again. What no case notices is not tested: add a case, or let
the entry go. What packs bring is for their makers to test, and counts with --packs only.
`docs/how-to/test-your-policy.md` has the form of tables.

exit status:
  0  everything came as expected, and every mutant is noticed
  1  a case failed, or a mutant survives
  2  there is no table, or one cannot be read""",
    options=(
        option("places FILE", "tables, or folders that have some (default: this one)", nargs="*"),
        option("--reach", "say what of each policy the cases reach", default=None),
        option("--mutate", "look for entries that could go unnoticed", default=None),
        option("--packs", "what packs bring counts, too", default=None),
        option("--jobs N", "how many processes (default: one for each core)", type=count),
        option("--junit FILE", "write a report in JUnit's XML, too"),
        option("--json", "answer with one line of JSON"),
    ),
    work=_test,
)
