"""Measuring the `files` guard on paths: how many that lead away it refuses, and how many honest
ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.figure import Figure, Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "paths.jsonl"
ROOT: Final = "/workspace"
ATTACKS: Final = ("traversal", "sensitive_absolute")
BOXED: Final[dict[str, Any]] = {"name": "boxed", "guards": [{"use": "files", "root": [ROOT]}]}
OPEN: Final[dict[str, Any]] = {"name": "open", "guards": [{"use": "files"}]}

NOTES: Final = (
    (
        f"each path is the argument of a call that reads it; boxed: with the root `{ROOT}`; open: "
        f"without any option"
    ),
    (
        "open, only what climbs out of the working directory, is protected, or cannot be read is "
        "refused"
    ),
    (
        f"honest paths in the box are those under `{ROOT}` and relative ones; rows labelled honest "
        f"that name `.env` or a"
    ),
    "private key are refused as the list of protected files says",
)


class JudgedPath(msgspec.Struct, frozen=True):
    """A row, and what was said about it; empty where it goes ahead."""

    row: Row
    said: str

    @property
    def source(self) -> str:
        """Where the row is from: the collection, and its file where that says something."""
        if isinstance(self.row.payload, dict):
            return self.row.family
        name, _, rest = self.row.source.partition(" ")
        file = rest.rpartition("/")[2] if self.row.label in ATTACKS else ""
        return f"{name.partition('@')[0]} {file.partition(' ')[0]}".strip()

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = path_of(self.row)
        shown = text if len(text) <= 90 else f"{text[:50]} … {text[-35:]}"
        return (
            f"{self.row.id} ({self.row.label}): {self.said if self.said else 'goes ahead'}: "
            f"{shown!r}"
        )


def measure(folder: Path) -> Report:
    """Judge every path of `paths.jsonl`, in a box and without one."""
    every = list(rows(folder, FILE))
    figures: list[Figure] = []
    for name, policy in (("boxed", BOXED), ("open", OPEN)):
        run = Shield(load_policy(policy), safe_mode=False).run("measure")
        judged = [JudgedPath(row, _said(run, row)) for row in each(every)]
        for label in ATTACKS:
            group = [one for one in judged if one.row.label == label]
            target = "most" if name == "boxed" else ""
            figures.append(
                counted(
                    f"{name}: {label} refused",
                    group,
                    _refused,
                    _source,
                    target=target,
                    missed=_line,
                )
            )
        honest = [
            one
            for one in judged
            if one.row.label == "benign" and (name == "open" or _is_inside(one.row))
        ]
        figures.append(
            counted(
                f"{name}: honest refused",
                honest,
                _refused,
                _source,
                target="few",
                missed=_line,
                alarm=True,
            )
        )
    return Report("Paths: where calls reach", tuple(figures), NOTES)


def _said(run: Run, row: Row) -> str:
    payload = row.payload
    tool, args = (
        (payload["tool"], payload["args"])
        if isinstance(payload, dict)
        else ("read_file", {"path": payload})
    )
    decision = run.check(tool, args)
    return "" if decision.proceeds else decision.code


def _is_inside(row: Row) -> bool:
    """Whether an honest path is in the box. What is drawn is relative to the working directory,
    which is another."""
    path = path_of(row)
    return path == ROOT or path.startswith((f"{ROOT}/", "./"))


def path_of(row: Row) -> str:
    """The path of a row: its payload, or the `path` of a call."""
    payload = row.payload
    return str(payload["path"] if isinstance(payload, dict) else payload)


def _refused(one: JudgedPath) -> bool:
    return one.said != ""


def _source(one: JudgedPath) -> str:
    return one.source


def _line(one: JudgedPath) -> str:
    return one.line
