"""Do the tests bite? Seeds each fault into a copy of the package and shows which tests notice it, and how soon.

python -m model.mutants             every fault; exit status 1 if one of them goes unnoticed
python -m model.mutants band stale  those with one of these words in their name
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from model.mutations import MUTATIONS, Mutation
from model.trial import Outcome

ROOT: Final = Path(__file__).resolve().parents[1]
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


def seeded(source: str, mutation: Mutation) -> str:
    """A source with the fault in it; a text that is not there exactly once is an error."""
    count = source.count(mutation.old)
    if count != 1:
        raise SystemExit(
            f"mutant `{mutation.name}`: its text is in `{mutation.file}` {count} times, not once: `{mutation.old}`; "
            "write it anew in model/mutations.py"
        )
    return source.replace(mutation.old, mutation.new)


def attempt(mutation: Mutation | None, cases: int = CASES, first: bool = False) -> Verdict:
    """Run the trial on a copy of the package with one fault, or with none."""
    with tempfile.TemporaryDirectory() as folder:
        _copy(Path(folder) / "stanchion", mutation)
        command = [sys.executable, "-m", "model.trial", folder, str(cases), "first" if first else "all"]
        path = os.pathsep.join([folder, str(ROOT)])
        env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        name = mutation.name if mutation is not None else "no fault"
        try:
            done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return Verdict(name, [Outcome("timeout", 1, 1, "TimeoutExpired")])
        if done.returncode != 0:
            raise RuntimeError(f"mutant `{name}` does not run: {done.stderr.decode().strip().splitlines()[-1]}")
        return Verdict(name, msgspec.json.decode(done.stdout, type=list[Outcome]))


def _copy(package: Path, mutation: Mutation | None) -> None:
    """The package with a fault in it: the room of the fault is copied, links lead to all the others."""
    room = None if mutation is None else Path(mutation.file).parts[0]
    package.mkdir()
    for each in (ROOT / "src" / "stanchion").iterdir():
        if each.name != room:
            (package / each.name).symlink_to(each)
        elif each.is_dir():
            shutil.copytree(each, package / each.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(each, package / each.name)
    if mutation is not None:
        file = package / mutation.file
        file.write_text(seeded(file.read_text(encoding="utf-8"), mutation), encoding="utf-8")


def rows(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The table: for each fault and each kind of test after how many cases it was noticed."""
    names = list(dict.fromkeys(outcome.test for verdict in verdicts for outcome in verdict.outcomes))
    width = max(len(verdict.name) for verdict in verdicts)
    yield f"{'mutant':{width}}  " + "".join(f"{name:>12}" for name in names)
    for verdict in verdicts:
        after = {outcome.test: outcome.noticed for outcome in verdict.outcomes}
        cells = "".join(f"{after.get(name, 0) or '·':>12}" for name in names)
        yield f"{verdict.name:{width}}  {cells}" + ("" if verdict.noticed else "   SURVIVED")


def main(words: Sequence[str], cases: int = CASES) -> int:
    """Try the faults on so many cases each, print the table, and say how it went."""
    chosen = [m for m in MUTATIONS if not words or any(word in m.name for word in words)]
    for mutation in chosen:
        seeded((ROOT / "src" / "stanchion" / mutation.file).read_text(encoding="utf-8"), mutation)
    sound = attempt(None, cases)
    if sound.noticed:
        print("the tests fail without any fault:", *[o for o in sound.outcomes if o.noticed], sep="\n  ")
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        verdicts = list(workers.map(partial(attempt, cases=cases), chosen))
    print(*rows(verdicts), sep="\n")
    alive = [verdict.name for verdict in verdicts if not verdict.noticed]
    print(f"{len(verdicts) - len(alive)} of {len(verdicts)} faults noticed; cases until noticed, · where not noticed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
