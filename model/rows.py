"""Is the feature table true? Breaks what each done row says, and shows that the tests the row cites
notice it.

python -m model.rows                    every row; exit status 1 if a fault goes unnoticed
python -m model.rows guardian ragix-016 those with one of these words in their id

The faults are in `model/rows/<document>.yaml`: for each row a file of the package, which must be
one of the row's modules, a text that is there exactly once, and a text that breaks what the row
says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import msgspec.yaml

from model.mutations import Mutation
from model.seeding import PACKAGE, ROOT, copied
from tools.features import DOCUMENTS, Document, Done, read

FOLDER: Final = Path(__file__).with_name("rows")
TIMEOUT_S: Final = 600
"""A fault that makes a test run on is noticed, too."""
PREFIX: Final = "src/stanchion/"
ELSEWHERE: Final = "tests/dspy/"  # an environment of its own; pytest would play nothing at all
NO_TESTS: Final = 5
"""How pytest ends that has nothing to play: what a row cites may all be left to a soak."""
PYTEST: Final = ("-m", "pytest", "-q", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider")
SAID: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is changed: a file of the package, a text that is in it once, and what stands there
    instead."""

    file: str
    old: str
    new: str


class Mutant(NamedTuple):
    """A done row and the fault that its tests must notice."""

    row: Done
    fault: Fault

    @property
    def mutation(self) -> Mutation:
        """The fault by the name of its row."""
        return Mutation(self.row.id, self.fault.file, self.fault.old, self.fault.new)


class Seen(Enum):
    """What the cited tests made of a fault."""

    NOTICED = "noticed"
    SOAKED = "noticed by a soak"
    UNNOTICED = "UNNOTICED"
    BROKEN = "DOES NOT RUN"


class Verdict(NamedTuple):
    """What came of one row, and the test that failed first."""

    row: str
    seen: Seen
    by: str


def faults(name: str, folder: Path = FOLDER) -> dict[str, Fault]:
    """The faults of a document's rows; none where nobody has written any."""
    file = folder / f"{name}.yaml"
    if not file.exists():
        return {}
    try:
        return msgspec.yaml.decode(file.read_bytes(), type=dict[str, Fault])
    except msgspec.ValidationError as error:
        raise SystemExit(
            f"`{file.name}` does not list faults of rows: {error}; see `model/rows.py`"
        ) from error


def complaints(
    document: Document, known: Mapping[str, Fault], package: Path = PACKAGE
) -> Iterator[str]:
    """What is wrong with the faults of a document's rows."""
    done = {row.id: row for row in document.rows if isinstance(row, Done)}
    for missing in sorted(set(done) - set(known)):
        yield f"`{missing}` is done and has no mutant; write the fault that its tests notice"
    if list(known) != sorted(known):
        yield "mutants do not stand in the order of their ids; sort them"
    for name, fault in known.items():
        if name not in done:
            yield f"`{name}` has a mutant and is no done row; correct its id"
        elif PREFIX + fault.file not in done[name].modules:
            yield (
                f"`{name}` has its mutant in `{fault.file}`, which is no module of the row; take "
                f"one of them"
            )
        elif (count := (package / fault.file).read_text(encoding="utf-8").count(fault.old)) != 1:
            yield (
                f"`{name}`: its text is in `{fault.file}` {count} times, not once: "
                f"`{fault.old}`; write it anew"
            )
        elif fault.old == fault.new:
            yield f"`{name}` has a mutant that changes nothing; write what breaks the row"


def node(test: str) -> str:
    """How pytest knows a test that a row cites: a case of a table is played by the test of the
    tables."""
    path, _, name = test.partition("::")
    if not path.endswith(".yaml"):
        return test
    case = f"{Path(path).stem}: {name}".encode("unicode_escape").decode("ascii")
    return f"tests/test_tables.py::test_case[{case}]"


def nodes(rows: Iterable[Done]) -> list[str]:
    """All tests that rows cite, each once."""
    return list(dict.fromkeys(node(test) for row in rows for test in row.tests))


def run(
    tests: Sequence[str],
    mutation: Mutation | None,
    options: Sequence[str] = (),
    gate: bool = False,
) -> tuple[int, list[str]]:
    """Run tests on a copy of the package, as the gate does or all of their cases: how pytest ended,
    and what failed."""
    with copied(mutation) as (folder, env):
        env |= {"STANCHION_GATE": "1"} if gate else {}
        command = [sys.executable, *PYTEST, f"--basetemp={folder / 't'}", *options, *tests]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 1, ["no end"]
        return done.returncode, SAID.findall(done.stdout) or done.stderr.strip().splitlines()[-1:]


def attempt(mutant: Mutant) -> Verdict:
    """Whether the tests of a row notice its fault, in the gate or in a soak. A package that cannot
    be imported shows nothing about the row."""
    tests = nodes([mutant.row])
    noticed = Seen.NOTICED
    status, failed = run(tests, mutant.mutation, gate=True)
    if status in (0, NO_TESTS):
        noticed = Seen.SOAKED
        status, failed = run(tests, mutant.mutation)
    seen = {0: Seen.UNNOTICED, 1: noticed}.get(status, Seen.BROKEN)
    return Verdict(mutant.row.id, seen, failed[0] if failed else "")


def sound(rows: Sequence[Done]) -> list[str]:
    """Which of the cited tests fail without any fault; those of elsewhere are left out."""
    tests = [test for test in nodes(rows) if not test.startswith(ELSEWHERE)]
    status, failed = run(tests, None, ["--workers", str(os.cpu_count()), "--maxfail=1000"])
    return [] if status == 0 else failed


def select(words: Sequence[str]) -> list[Mutant]:
    """The mutants with one of the words in their row's id; with no words all of them."""
    found = []
    for name in DOCUMENTS:
        known = faults(name)
        rows = [row for row in read(name).rows if isinstance(row, Done) and row.id in known]
        found += [
            Mutant(row, known[row.id])
            for row in rows
            if not words or any(word in row.id for word in words)
        ]
    return found


def main(words: Sequence[str]) -> int:
    """Try the faults, print a line for each as it is known, and say how it went."""
    wrong = [
        one
        for name in DOCUMENTS
        if (known := faults(name))
        for one in complaints(read(name), known)
    ]
    if wrong:
        print(*wrong, sep="\n")
        return 1
    chosen = select(words)
    if not chosen:
        print(
            f"no done row has one of these words in its id: {' '.join(words)}; see "
            f"`docs/features/features.md`"
        )
        return 1
    if failing := sound([mutant.row for mutant in chosen]):
        print("cited tests fail without any fault:", *failing, sep="\n  ")
        return 1
    closed = 0
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for verdict in workers.map(attempt, chosen):
            closed += verdict.seen in (Seen.NOTICED, Seen.SOAKED)
            print(f"{verdict.row:14} {verdict.seen.value:17} {verdict.by}".rstrip(), flush=True)
    print(f"{closed} of {len(chosen)} rows closed: their tests pass, and fail with the fault")
    return 0 if closed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
