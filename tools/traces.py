"""Regenerate the golden traces under every Python that can be found, in several surroundings each,
and compare them byte for byte with those that are kept.

`make test-traces` calls it. Each Python has an environment with what `pip install stanchion-guard`
brings and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.pythons import claimed, interpreter

ROOT: Final = Path(__file__).resolve().parents[1]
ENVIRONMENTS: Final = ROOT / ".venv-traces"
GOLDEN: Final = ROOT / "tests" / "tutor" / "golden"
AROUND: Final[tuple[dict[str, str], ...]] = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
    {
        "PYTHONHASHSEED": "4294967295",
        "LC_ALL": "de_DE.ISO-8859-1",
        "TZ": "America/St_Johns",
        "PYTHONUTF8": "0",
    },
)
"""Hash seeds, locales and time zones; the number of words in the command sets the clock."""


def found(version: str) -> str | None:
    """The program of a version of Python, if it is here."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    program = interpreter(version, os.environ.get("PATH", ""), pyenv)
    return None if program is None else str(program)


def prepared(program: str, version: str) -> Path:
    """The program of an environment of a version, with the core installed."""
    folder = ENVIRONMENTS / version
    python, stamp = folder / "bin" / "python", folder / ".made"
    project = ROOT / "pyproject.toml"
    if not stamp.exists() or stamp.stat().st_mtime < project.stat().st_mtime:
        print(f"installing the core for Python {version}", flush=True)
        subprocess.run([program, "-m", "venv", folder], check=True)
        quiet = ["-qq", "--disable-pip-version-check", "--no-input"]
        subprocess.run([python, "-m", "pip", "install", *quiet, "-e", ROOT], check=True)
        stamp.touch()
    return python


def differing(python: str | Path, kept: dict[str, str]) -> Iterator[str]:
    """In which surroundings a Python makes other traces than those that are kept, and which."""
    for number, around in enumerate(AROUND):
        env = {
            **os.environ,
            **around,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        command = [python, "-m", "tests.tutor.golden_games", *map(str, range(number))]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True)
        if done.returncode:
            yield f"{around}: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}"
            continue
        made = json.loads(done.stdout)
        yield from (
            f"{around}: `{name}` is another one" for name in kept if made.get(name) != kept[name]
        )


def main() -> int:
    """Compare under every version that is here; says which are not."""
    kept = {file.stem: file.read_bytes().decode() for file in sorted(GOLDEN.glob("*.jsonl"))}
    versions = claimed()
    programs = {version: found(version) for version in versions}
    here = {version: program for version, program in programs.items() if program is not None}
    if len(here) < 2:
        print(
            f"skipped: there is no second Python here: install one of {', '.join(versions)}, by "
            f"pyenv or on the path"
        )
        return 0
    wrong = 0
    for version, program in here.items():
        told = [*differing(prepared(program, version), kept)]
        wrong += len(told)
        print(
            f"Python {version}: "
            + (f"{len(kept)} traces in {len(AROUND)} surroundings, the same" if not told else "")
        )
        for line in told:
            print(f"  {line}")
    missing = [version for version in versions if version not in here]
    if missing:
        print(f"not here: Python {', '.join(missing)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
