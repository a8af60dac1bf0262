"""Try whether extras can be installed together: `python -m tools.extras UV` asks uv for versions
that suit all of them.

`pyproject.toml` names the extras that exclude each other, under `tool.uv`. All others have to go
together; each of those named has to go with every extra that it does not exclude; and what is said
to exclude each other has to do so, or the entry is old. Nothing is installed.
"""

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "3.11"
"""The oldest Python; uv finds versions for it and for all that are newer."""

Tried = Callable[[tuple[str, ...]], str]
"""Says why some extras do not go together; nothing where they do."""


class Extras(NamedTuple):
    """The names of all extras, and the pairs that exclude each other."""

    names: tuple[str, ...]
    conflicts: tuple[frozenset[str], ...]

    def beside(self, name: str) -> tuple[str, ...]:
        """An extra with those that neither exclude it nor any other of these."""
        kept: list[str] = [name]
        for other in (*self.peaceful, *self.names):
            if other not in kept and not any(
                frozenset({other, one}) in self.conflicts for one in kept
            ):
                kept.append(other)
        return tuple([one for one in self.names if one in kept])

    @property
    def peaceful(self) -> tuple[str, ...]:
        """The extras that exclude no other."""
        return tuple(
            [name for name in self.names if not any(name in pair for pair in self.conflicts)]
        )


def declared(project: dict[str, Any]) -> Extras:
    """The extras of a project, and which of them exclude each other."""
    names = tuple(project["project"]["optional-dependencies"])
    said = project.get("tool", {}).get("uv", {}).get("conflicts", [])
    pairs = tuple([frozenset(one["extra"] for one in pair) for pair in said])
    for pair in pairs:
        for name in pair - {*names}:
            raise ValueError(
                f"`{name}` is said to exclude another extra, and is none: correct "
                f"`tool.uv.conflicts`"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{sorted(pair)} is no pair: name two extras for each entry of `tool.uv.conflicts`"
            )
    return Extras(names, pairs)


def complaints(extras: Extras, tried: Tried) -> list[str]:
    """What does not go together although it should, and what does although it is said not to."""
    groups = dict.fromkeys([extras.peaceful, *[extras.beside(name) for name in extras.names]])
    found = []
    for group in groups:
        why = tried(group)
        if why:
            found.append(f"{', '.join(group)} do not go together: {why}")
    for pair in extras.conflicts:
        if not tried(tuple(sorted(pair))):
            found.append(
                f"{' and '.join(sorted(pair))} go together: remove them from `tool.uv.conflicts`"
            )
    return found


def by_uv(uv: str, lab: str) -> Tried:
    """Ask uv whether there are versions for some extras, on every Python and machine."""

    def tried(group: tuple[str, ...]) -> str:
        asked = f"-e .[{','.join(group)}]\n-e ./lab[{lab}]\n"
        command = [uv, "pip", "compile", "--universal", "--python-version", PYTHON, "--quiet", "-"]
        done = subprocess.run(
            command, input=asked, cwd=ROOT, text=True, capture_output=True, check=False
        )
        said = done.stderr.strip()
        print(
            f"{'no ' if done.returncode else 'yes'}  {len(group):2}  {', '.join(group)}", flush=True
        )
        return "" if done.returncode == 0 else said if said else "uv does not say why"

    return tried


def main(argv: Sequence[str] | None = None) -> int:
    """Try them; the exit status is 1 where something is not as it is said."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.extras", description="Try extras together."
    )
    parser.add_argument("uv", help="the program uv")
    asked = parser.parse_args(argv)
    project, lab = [
        tomllib.loads((ROOT / name).read_text("utf-8"))
        for name in ("pyproject.toml", "lab/pyproject.toml")
    ]
    more = ",".join(lab["project"]["optional-dependencies"])
    found = complaints(declared(project), by_uv(asked.uv, more))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
