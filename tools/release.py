"""Check that what `make wheel` built can be released: `python -m tools.release`.

Each check prints one line. Every wheel and source distribution is read by `twine check`; each is
installed into an empty environment of every Python that is claimed and here; there the demo runs,
and the README's Python and its `stanchion check` are played. The size of the core installation and
the licences of what comes with it have bounds. The exit status is 1 where a check failed.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.docs.markdown import Block, scan
from tools import sbom
from tools.pythons import claimed, interpreter

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MOST_MB = 45
"""How much the core may take on disk, with all that comes with it and without pip."""
LICENCES = re.compile(
    r"(?i)\b(?:apache|bsd|mit|isc|psf|python software foundation|mpl|unlicense)\b"
)
"""Licences of which whoever installs the core need ask nobody."""
CHECK = re.compile(r"^\$ (stanchion check .*)$\n\$ echo \$\?\n(\d+)$", re.MULTILINE)


class Failed(Exception):
    """A check that failed, and why."""


def run(*command: str | Path, where: Path | None = None) -> str:
    """What a command prints; `Failed` with its last lines where it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [*map(str, command)], cwd=where, env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode:
        told = (done.stdout + done.stderr).strip().splitlines()[-6:]
        raise Failed(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {told}")
    return done.stdout


def versions() -> str:
    """That all places name one version, and the changelog has a heading for it."""
    said = {
        file: tomllib.loads((ROOT / file).read_text("utf-8"))["project"]["version"]
        for file in ("pyproject.toml", "lab/pyproject.toml")
    }
    (version,) = set(said.values()) if len(set(said.values())) == 1 else ("",)
    if not version:
        raise Failed(f"versions differ: {said}")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## \[?{re.escape(version)}\b", changes, re.MULTILINE):
        raise Failed(f"CHANGELOG.md has no heading for {version}")
    return version


def built() -> list[Path]:
    """Both wheels and both source distributions."""
    found = sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])
    if len(found) != 4:
        raise Failed(f"four files are expected in `dist`, not {len(found)}: run `make wheel`")
    return found


def licences(wheel: Path) -> str:
    """That everything the core installs has a licence that asks for nothing more."""
    with tempfile.TemporaryDirectory() as folder:
        packages, _ = sbom.installed(wheel, ROOT / "constraints.txt", Path(folder))
    told = {name: str(sbom.licences(one)) for name, one in packages.items()}
    others = {name: text for name, text in told.items() if not LICENCES.search(text)}
    if others:
        raise Failed(f"read these licences, and name them if they are fine: {others}")
    return f"{len(told)} packages"


def installs(wheel: Path, python: Path, folder: Path) -> str:
    """That a distribution installs into an empty environment, within bounds, and the demo runs."""
    run(python, "-m", "venv", folder)
    inside = folder / "bin"
    pip = (inside / "python", "-m", "pip")
    site = next(folder.glob("lib/python*/site-packages"))
    before = size_mb(site)
    run(*pip, "install", "-qq", "--disable-pip-version-check", "--no-input", wheel)
    taken = size_mb(site) - before
    if taken > MOST_MB:
        raise Failed(f"the core takes {taken:.0f} MB: {MOST_MB} are allowed")
    run(inside / "stanchion", "demo", where=folder)
    readme(inside, folder)
    return f"{taken:.0f} MB"


def size_mb(folder: Path) -> float:
    """How much the files below a folder take, compiled Python apart."""
    files = [one for one in folder.rglob("*") if one.is_file() and one.suffix != ".pyc"]
    return sum([one.stat().st_size for one in files]) / 1e6


def readme(inside: Path, folder: Path) -> None:
    """That the README's Python runs, its policy loads, and its check ends as it says."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = [one for one in scan(text) if isinstance(one, Block)]
    for block in blocks:
        if block.language == "python" and not block.marker.startswith(("skip", "needs")):
            run(inside / "python", "-c", block.text, where=folder)
    (policy,) = [block.text for block in blocks if block.marker.startswith("policy")]
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    for command, status in CHECK.findall(text):
        line = f"{inside}/{command}; test $? = {status}"
        run("sh", "-c", line, where=folder)


def checks() -> Iterator[tuple[str, str]]:
    """Every check with what came of it, one after another."""
    yield "one version, and its heading in the changelog", versions()
    files = built()
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    yield "twine check", f"{len(files)} files"
    source, wheel = [one for one in files if one.name.startswith("stanchion_guard-")]
    yield "licences", licences(wheel)
    path = os.environ.get("PATH", "")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in claimed():
        python = interpreter(version, path, pyenv)
        if python is None:
            yield f"Python {version}", "not here: left out"
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield f"Python {version}, wheel", installs(wheel, python, Path(folder) / "env")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "env"
        yield "source distribution", installs(source, Path(sys.executable), place)


def main(argv: Sequence[str] | None = None) -> int:
    """Play every check; the exit status is 1 where one failed."""
    try:
        for name, came in checks():
            print(f"ok    {name}: {came}", flush=True)
    except Failed as failed:
        print(f"fails {failed}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
