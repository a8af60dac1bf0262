"""Run the tests on every Python that `pyproject.toml` claims and that is here: `python -m
tools.pythons [PATH ...]`.

Each has an environment of its own under `.venv-pythons`, with the versions of `constraints.txt`.
Without paths all tests run. A Python that is not here is named and left out; `--need-all` makes
that a failure.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".venv-pythons"
INSTALLED = ("-e", ".[dev]", "-e", "./lab[agentdojo]")
MADE_OF = ("pyproject.toml", "lab/pyproject.toml", "constraints.txt")
CLAIM = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def claimed(root: Path = ROOT) -> list[str]:
    """The versions of Python that the project claims to run on."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return [found[1] for one in project["classifiers"] if (found := CLAIM.fullmatch(one))]


def interpreter(version: str, path: str, pyenv: Path) -> Path | None:
    """The interpreter of a version: that of pyenv, the newest of several, or else the one on the
    path."""
    made = [one for one in pyenv.glob(f"versions/{version}.*/bin/python{version}") if one.is_file()]
    if made:
        return max(
            made, key=lambda one: [int(part) for part in re.findall(r"\d+", one.parents[1].name)]
        )
    found = shutil.which(f"python{version}", path=path)
    return None if found is None else Path(found)


def environment(version: str, python: Path, place: Path = PLACE, root: Path = ROOT) -> Path:
    """The interpreter of a version's environment, which is made where there is none of these
    packages."""
    folder = place / version
    stamp = folder / ".made"
    wanted = sha256(b"\0".join([(root / name).read_bytes() for name in MADE_OF])).hexdigest()
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        print(f"installing stanchion and its development tools for Python {version}", flush=True)
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        pip = [
            str(folder / "bin/python"),
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--no-input",
        ]
        subprocess.run([*pip, "--constraint", "constraints.txt", *INSTALLED], cwd=root, check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return folder / "bin/python"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tests; the exit status is 1 where some failed, or where no Python was found."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pythons", description="Run the tests on every Python."
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files or folders of tests; all where none is named",
    )
    parser.add_argument("--workers", default="2", help="how many processes share the tests")
    parser.add_argument(
        "--need-all", action="store_true", help="fail where one of the Pythons is not here"
    )
    asked = parser.parse_args(argv)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    outcomes: dict[str, str] = {}
    for version in claimed():
        python = interpreter(version, os.environ.get("PATH", ""), pyenv)
        if python is None:
            outcomes[version] = "not on this machine"
            continue
        own = environment(version, python)
        tests = [
            str(own),
            "-m",
            "pytest",
            "--workers",
            asked.workers,
            "-p",
            "no:cacheprovider",
            *asked.paths,
        ]
        done = subprocess.run(tests, cwd=ROOT, check=False)
        outcomes[version] = (
            "passed" if done.returncode == 0 else f"failed, exit status {done.returncode}"
        )
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    bad = [
        one
        for one in outcomes.values()
        if one.startswith("failed") or (asked.need_all and one != "passed")
    ]
    return 1 if bad or "passed" not in outcomes.values() else 0


if __name__ == "__main__":
    sys.exit(main())
