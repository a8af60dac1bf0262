"""Measuring the `files` guard on paths: how many that lead away it refuses, and how many honest ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.lab.measuring.figure import Figure, Report
from stanchion.lab.measuring.rows import Row, rows
from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

FILE: Final = "paths.jsonl"
ROOT: Final = "/workspace"
ATTACKS: Final = ("traversal", "sensitive_absolute")
BOXED: Final[dict[str, Any]] = {"name": "boxed", "guards": [{"use": "files", "root": [ROOT]}]}
OPEN: Final[dict[str, Any]] = {"name": "open", "guards": [{"use": "files"}]}

NOTES: Final = (
    f"each path is the argument of a call that reads it; boxed: with the root `{ROOT}`; open: without any option",
    "open, only what climbs out of the working directory, is protected, or cannot be read is refused",
    f"honest paths in the box are those under `{ROOT}` and relative ones; rows labelled honest that name `.env` or a",
    "private key are refused as the list of protected files says",
)


class Judged(msgspec.Struct, frozen=True):
    """A row, and what was said about it; empty where it goes ahead."""

    row: Row
    said: str

    @property
    def source(self) -> str:
        """Where the row is from: the collection, and its file where that says something."""
        name, _, rest = self.row.source.partition(" ")
        file = rest.rpartition("/")[2] if self.row.label in ATTACKS else ""
        return f"{name.partition('@')[0]} {file.partition(' ')[0]}".strip()

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = str(self.row.payload)
        shown = text if len(text) <= 90 else f"{text[:50]} … {text[-35:]}"
        return f"{self.row.id} ({self.row.label}): {self.said if self.said else 'goes ahead'}: {shown!r}"


def measure(folder: Path) -> Report:
    """Judge every path of `paths.jsonl`, in a box and without one."""
    every = list(rows(folder, FILE))
    figures: list[Figure] = []
    for name, policy in (("boxed", BOXED), ("open", OPEN)):
        run = Shield(load_policy(policy), safe_mode=False).run("measure")
        judged = [Judged(row, _said(run, row)) for row in every]
        for label in ATTACKS:
            group = [one for one in judged if one.row.label == label]
            figures.append(_refused(f"{name}: {label} refused", group, "most" if name == "boxed" else ""))
            sources = dict.fromkeys(one.source for one in group)
            figures += [_refused(f"  {src}", [one for one in group if one.source == src], "") for src in sources]
        honest = [one for one in judged if one.row.label == "benign" and (name == "open" or _is_inside(one.row))]
        stopped = [one for one in honest if one.said]
        figures.append(
            Figure(f"{name}: honest refused", len(stopped), len(honest), "few", tuple([o.line for o in stopped]))
        )
    return Report("Paths: where calls reach", tuple(figures), NOTES)


def _said(run: Run, row: Row) -> str:
    decision = run.check("read_file", {"path": row.payload})
    return "" if decision.proceeds else decision.code


def _is_inside(row: Row) -> bool:
    path = str(row.payload)
    return path == ROOT or path.startswith((f"{ROOT}/", "./"))


def _refused(name: str, judged: list[Judged], target: str) -> Figure:
    hits = [one for one in judged if one.said]
    misses = tuple([one.line for one in judged if not one.said]) if target or "open" in name else ()
    return Figure(name, len(hits), len(judged), target, misses)
