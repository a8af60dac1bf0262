"""Seed a fault into a copy of the package, for tests that are to notice it."""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from model.mutations import Mutation

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "src" / "stanchion"


def seeded(source: str, mutation: Mutation) -> str:
    """A source with the fault in it; a text that is not there exactly once is an error."""
    count = source.count(mutation.old)
    if count != 1:
        raise SystemExit(
            f"mutant `{mutation.name}`: its text is in `{mutation.file}` {count} times, not once: "
            f"`{mutation.old}`; "
            "write it anew where the mutants are listed, in model"
        )
    return source.replace(mutation.old, mutation.new)


def check_place(mutation: Mutation) -> None:
    """Raise what `seeded` raises, before anything is tried; a fault with which a file is no Python
    shows nothing."""
    made = seeded((PACKAGE / mutation.file).read_text(encoding="utf-8"), mutation)
    try:
        ast.parse(made)
    except SyntaxError as error:
        raise SystemExit(
            f"mutant `{mutation.name}`: with it `{mutation.file}` is no Python at line "
            f"{error.lineno}; "
            "write it anew where the mutants are listed, in model"
        ) from error


@contextmanager
def copied(mutation: Mutation | None) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the package and one fault in it, or none, and the environment in which Python
    imports it."""
    with tempfile.TemporaryDirectory() as folder:
        _copy(Path(folder) / "stanchion", mutation)
        path = os.pathsep.join([folder, str(ROOT / "lab" / "src"), str(ROOT)])
        yield Path(folder), {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _copy(package: Path, mutation: Mutation | None) -> None:
    """The package with a fault in it: the folders that lead to the fault are made anew, all else in
    them is a link."""
    if mutation is None:
        package.symlink_to(PACKAGE)
        return
    file = Path(mutation.file)
    for folder in reversed(file.parents):
        (package / folder).mkdir()
        made = {package / mutation.file, *[package / parent for parent in file.parents]}
        for each in (PACKAGE / folder).iterdir():
            there = package / folder / each.name
            if each.name == "__pycache__":
                # What is compiled belongs to its source by the time of its last change, which a
                # link does not change.
                shutil.copytree(each, there, ignore=shutil.ignore_patterns(f"{file.stem}.*"))
            elif there not in made:
                there.symlink_to(each)
    source = (PACKAGE / file).read_text(encoding="utf-8")
    (package / file).write_text(seeded(source, mutation), encoding="utf-8")
