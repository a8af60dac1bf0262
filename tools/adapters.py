"""Test each adapter in environments of its own, with the newest and the oldest version of its
framework as pinned, and write down what was found, how long it took and what it takes on the disk.

Run from the repository root: `python -m tools.adapters [NAME ...]`. Environments are kept under
`.venv-adapters`, and made anew where the pins or Stanchion's own dependencies have changed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any
from xml.etree import ElementTree

from stanchion.testing.host_suite import BEHAVIOURS
from tests.hosts.results import HERE, ROOT, Cell, Result, keep, pins, source_of
from tools.docs import write
from tools.pages import Page, adapters as page

PLACE = ".venv-adapters"
EXTRAS = ".[testing,signing]"
DECLARED = """
import json
from importlib.metadata import version
from tests.hosts.{name}.driver import DRIVER as driver
versions = {{name: version(name) for name in {names}}}
said = {{"pause": driver.host.pause, "stream": driver.host.stream, "beyond": dict(driver.beyond), "versions": versions}}
print(json.dumps(said))
"""  # noqa: E501


def environment(name: str, pinned: Sequence[str], root: Path = ROOT) -> Path:
    """The interpreter of an environment, which is made where there is none of this name for these
    pins."""
    place = root / PLACE / name
    stamp, wanted = place / ".pins", _digest(pinned, root)
    python = place / "bin" / "python"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        began = monotonic()
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        quiet = ["-qq", "--disable-pip-version-check", "--no-input"]
        subprocess.run(
            [python, "-m", "pip", "install", *quiet, "-e", EXTRAS, *pinned], cwd=root, check=True
        )
        stamp.write_text(wanted, encoding="utf-8")
        size = sum([one.lstat().st_size for one in place.rglob("*")])
        print(f"{name}: made in {monotonic() - began:.0f} s, {size / 1e6:.0f} MB")
    return python


def _digest(pinned: Sequence[str], root: Path) -> str:
    declared = (
        (root / "pyproject.toml")
        .read_text(encoding="utf-8")
        .partition("[project.optional-dependencies]")[0]
    )
    return sha256(json.dumps([sys.version, declared, list(pinned)]).encode()).hexdigest()


def cells_of(junit: Path, beyond: Mapping[str, str]) -> dict[str, Cell]:
    """What tests have shown of each behaviour, from pytest's report of them; what they have not is
    left out."""
    cases = list(ElementTree.parse(junit).iter("testcase"))
    passed = {case.get("name", "") for case in cases if not list(case)}
    found: dict[str, Cell] = {}
    for behaviour in BEHAVIOURS:
        ways = tuple(
            [way for way in ("async", "sync") if f"test_behaviour[{behaviour}-{way}]" in passed]
        )
        if behaviour in beyond:
            if beyond[behaviour] in passed:
                found[behaviour] = Cell(probe=beyond[behaviour])
        elif ways:
            found[behaviour] = Cell(ways)
    return found


def complaints_about(result: Result) -> list[str]:
    """Say what is missing from an adapter's results, and whether they are of another source than
    its own."""
    name, found = result.adapter, []
    if result.source != source_of(name):
        found.append(
            f"the source of `{name}` has changed since its results were found: run `make "
            f"test-adapters`"
        )
    for behaviour in BEHAVIOURS:
        cell = result.cells.get(behaviour, Cell())
        if not cell.ways and not cell.probe:
            found.append(
                f"`{name}` has neither shown `{behaviour}` nor a probe that it is out of reach"
            )
    return found


def tested(name: str, newest: Sequence[str], oldest: Sequence[str]) -> bool:
    """Test one adapter, keep what was found with the newest versions, and say whether all of its
    tests passed with both."""
    passed, declared, cells = _played(name, name, newest)
    since: dict[str, Any] = {"versions": {}}
    if passed:
        _run(environment(name, newest), ["-m", "tests.hosts.traffic", name])
    if oldest:
        old, since, _ = _played(f"{name}-oldest", name, oldest)
        passed = passed and old
    result = Result(
        name,
        declared["versions"],
        source_of(name),
        declared["pause"],
        declared["stream"],
        cells,
        since["versions"] if passed else {},
    )
    keep(result)
    for line in complaints_about(result):
        print(line)
    return passed


def _played(
    place: str, name: str, pinned: Sequence[str]
) -> tuple[bool, dict[str, Any], dict[str, Cell]]:
    """Whether an adapter's tests pass in an environment, what its driver says there, and what they
    have shown."""
    python = environment(place, pinned)
    names = [pin.partition("==")[0].partition("[")[0] for pin in pinned]
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder) / "found.xml"
        began = monotonic()
        page_tests = [
            "tests/docs/test_snippets.py",
            "-k",
            f"{name} or use-with-{name.replace('_', '-')}",
        ]
        shared = ["tests/hosts/test_canaries.py"]
        quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::UserWarning"]  # frameworks' own
        command = ["-m", "pytest", "-q", *quiet, f"--junitxml={junit}"]
        done = _run(python, [*command, str(HERE / name), *shared, *page_tests], check=False)
        declared: dict[str, Any] = json.loads(
            _run(python, ["-c", DECLARED.format(name=name, names=names)]).stdout
        )
        cells = cells_of(junit, declared["beyond"])
    print(done.stdout if done.returncode else f"{place}: passed in {monotonic() - began:.0f} s")
    return done.returncode == 0, declared, cells


def _run(
    python: Path, arguments: Sequence[str], check: bool = True
) -> subprocess.CompletedProcess[str]:
    sources = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    return subprocess.run(
        [python, *arguments],
        cwd=ROOT,
        env=sources,
        check=check,
        text=True,
        stdout=subprocess.PIPE,
        stderr=None,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Test the adapters that are named, or all; the exit status is 1 where a test failed."""
    known = pins()
    parser = argparse.ArgumentParser(
        prog="python -m tools.adapters", description="Test adapters with their frameworks."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}")
    named = parser.parse_args(argv).names
    for name in [name for name in named if name not in known]:
        parser.error(f"`{name}` has no pins in `{HERE / 'pins.toml'}`")
    oldest = pins("oldest")
    passed = [
        tested(name, known[name], oldest.get(name, ())) for name in (named if named else known)
    ]
    for path in write([Page(page.PATH, page.render)], ROOT):
        print(f"wrote {path}")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
