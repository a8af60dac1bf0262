"""The cases that stand beside policies: found, played, and compared with what they expect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Final

import msgspec
import yaml

from stanchion.kernel.actions import NAMES
from stanchion.kernel.decision import Decision
from stanchion.policy.load import load_policy
from stanchion.testing import run_case
from stanchion.testing.table_file import Case, PolicySource, read_table

ENDINGS: Final = (".yaml", ".yml")
INHERITED: Final = "pack "
"""How the place of an entry begins that a shipped pack brought."""


class NoTables(Exception):
    """There is nothing to play, or it cannot be read."""


class PlayedCase(msgspec.Struct, frozen=True):
    """What came of a case: what was not as expected, what it reached, and how long it took."""

    table: str
    name: str
    complaints: tuple[str, ...]
    cells: tuple[tuple[str, str], ...]
    """Of each event its action and its stage."""
    heard: tuple[str, ...]
    """The guards that found anything."""
    took_s: float


class CaseTable(msgspec.Struct, frozen=True):
    """The cases of one file."""

    file: str
    cases: tuple[Case, ...]


def tables(places: Iterable[str]) -> list[CaseTable]:
    """The tables in files and below folders. A file below a folder counts where it has `cases`;
    `NoTables` where none has, or where one cannot be read."""
    found = [one for place in places for one in _of(Path(place))]
    if not found:
        where = ", ".join(f"`{place}`" for place in places)
        raise NoTables(
            f"no table of cases is in {where}: write a YAML file with `policy` and `cases`"
        )
    return found


def _of(place: Path) -> Iterator[CaseTable]:
    if place.is_dir():
        for file in sorted(place.rglob("*")):
            if file.suffix in ENDINGS and file.is_file() and _has_cases(file):
                yield _read(file)
    elif place.is_file():
        yield _read(place)
    else:
        raise NoTables(f"`{place}` does not exist: name a file or a folder")


def _has_cases(file: Path) -> bool:
    text = file.read_text("utf-8", "replace")
    return any(line.startswith("cases:") for line in text.splitlines())


def _read(file: Path) -> CaseTable:
    try:
        return CaseTable(str(file), read_table(file).cases)
    except (ValueError, yaml.YAMLError, OSError) as error:
        raise NoTables(f"`{file}` cannot be read: {error}") from None


def play(table: CaseTable) -> Iterator[PlayedCase]:
    """Play every case of a table, each on a store of its own."""
    for case in table.cases:
        yield played(case, table.file)


def played(case: Case, file: str = "") -> PlayedCase:
    """Play one case."""
    began = perf_counter()
    ran = run_case(case)
    took = perf_counter() - began
    cells, heard = [], []
    for step, outcome in zip(_each(case), ran.outcomes, strict=False):
        if isinstance(outcome, Decision):
            cells.append((NAMES[outcome.action], step))
            heard += [finding.guard for finding in (*outcome.findings, *outcome.shadow)]
    return PlayedCase(file, case.name, ran.complaints, tuple(cells), tuple(heard), took)


def _each(case: Case) -> Iterator[str]:
    """The stage of every event, as often as it happens."""
    for step in case.steps():
        yield from [step.stage] * step.times


class PolicyReach(msgspec.Struct, frozen=True):
    """What cases reach of a policy: how often each guard found something, and each cell of action
    and stage."""

    policy: str
    cases: int
    guards: dict[str, int]
    cells: dict[tuple[str, str], int]

    @property
    def unheard(self) -> tuple[str, ...]:
        """The guards that no case has ever heard."""
        return tuple([name for name, count in self.guards.items() if not count])


def reach(cases: Iterable[tuple[Case, PlayedCase]], inherited: bool = True) -> list[PolicyReach]:
    """What cases reach, policy by policy; of what a policy has from packs only if `inherited`."""
    found = []
    for source, each in by_policy(cases):
        policy = load_policy(source)
        heard = Counter([name for _, came in each for name in came.heard])
        cells = Counter([cell for _, came in each for cell in came.cells])
        kept = [one for one in policy.seats if inherited or not one.place.startswith(INHERITED)]
        guards = {seat.placed.whole: heard[seat.placed.whole] for seat in kept}
        found.append(PolicyReach(policy.file.name, len(each), guards, dict(cells)))
    return found


def by_policy(
    cases: Iterable[tuple[Case, PlayedCase]],
) -> Iterator[tuple[PolicySource, list[tuple[Case, PlayedCase]]]]:
    """Each policy with the cases that are for it; those that want it refused are for none."""
    found: dict[bytes, list[tuple[Case, PlayedCase]]] = {}
    for case, came in cases:
        if case.refused is None:
            found.setdefault(msgspec.json.encode(case.policy), []).append((case, came))
    for each in found.values():
        source = each[0][0].policy
        assert source is not None  # `read_table` gives every case its policy
        yield source, each
