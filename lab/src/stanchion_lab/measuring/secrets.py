"""Measuring the `secrets` guard: how many credentials of each kind it takes out, and how much
else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.index import indexed
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.readings import read
from stanchion_lab.measuring.figure import Figure, Report, counted, mean_over
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "secrets.jsonl"
HONEST: Final = {
    "benign_traces.jsonl": (),
    "shell.jsonl": ("benign", "safe_hard_negative"),
    "injection_text.jsonl": ("benign",),
    "sql.jsonl": (),
}
"""Files of honest work, and the labels of their rows that are; all of them where none are named."""

NOTES: Final = (
    (
        "each row is the result of a tool; found: the guard takes something out of it, of whatever "
        "kind"
    ),
    (
        "a row labelled `rule_negative` is no credential of its one rule: only a finding of that "
        "rule, or of its family"
    ),
    "where Stanchion has no rule of that name, is a false alarm there; others may be right",
    "honest work may have credentials in it that are some: what was found is listed by kind",
)


class JudgedSecret(msgspec.Struct, frozen=True):
    """A row, and the kinds of what was found in it."""

    row: Row
    kinds: tuple[str, ...]

    @property
    def rule(self) -> str:
        """The rule that the row is an example of."""
        return str(self.row.rest.get("rule", self.row.kind))

    @property
    def source(self) -> str:
        """The collection that the row is from."""
        return self.row.family

    @property
    def alarm(self) -> bool:
        """Whether what was found in a row without a credential is wrong."""
        if self.row.label != "rule_negative":
            return bool(self.kinds)
        rule = self.rule.replace("_", "-")
        if rule in {known.kind for known, _ in indexed()}:
            return rule in self.kinds
        return any(kind.partition("-")[0] == rule.partition("-")[0] for kind in self.kinds)

    @property
    def line(self) -> str:
        """The row in a list of misses; never what it holds."""
        said = f": {', '.join(self.kinds)}" if self.kinds else ""
        return f"{self.row.id} ({self.rule}, {self.source}){said}"


def measure(folder: Path) -> Report:
    """Look for secrets in every row of `secrets.jsonl`, and in honest work."""
    guard = Secrets()
    judged = [_judged(guard, row) for row in each(list(rows(folder, FILE)))]
    secret = [one for one in judged if one.row.label == "secret"]
    others = [one for one in judged if one.row.label in ("not_secret", "rule_negative")]
    kinds = counted("", secret, _found, _rule).families
    part = tuple(
        [f"{kind.name}: {kind.share:.0%} of its rows" for kind in kinds if kind.hits < kind.of]
    )
    mean, (low, high), _ = mean_over(kinds)
    told = (
        f"mean over {len(kinds)} kinds: {mean:.1%} (95 % interval {low:.1%} to {high:.1%}), "
        f"target ≥ 98 %"
    )
    return Report(
        "Secrets: credentials that are taken out",
        (
            counted(
                "credentials: found",
                secret,
                _found,
                _source,
                target="≥ 98 % as the mean over families",
                missed=_line,
            ),
            Figure(
                "kinds: all rows found", len(kinds) - len(part), len(kinds), "", part, aim="more"
            ),
            counted(
                "no credentials: false alarms",
                others,
                lambda one: one.alarm,
                lambda one: f"{one.source}, {one.row.label}",
                target="≤ 3 %",
                missed=_line,
                alarm=True,
            ),
            *_honest(guard, folder),
        ),
        (told, *NOTES),
    )


def _found(one: JudgedSecret) -> bool:
    return bool(one.kinds)


def _rule(one: JudgedSecret) -> str:
    return one.rule


def _source(one: JudgedSecret) -> str:
    return one.source


def _line(one: JudgedSecret) -> str:
    return one.line


def _judged(guard: Secrets, row: Row) -> JudgedSecret:
    finding = guard.judge(
        read(ToolResult(id=row.id, at=0, run=RunInfo("measure"), tool="read", result=row.payload))
    )
    kinds = [patch.kind for patch in finding.patches] if finding is not None else []
    return JudgedSecret(row, tuple(dict.fromkeys(kinds)))


def _honest(guard: Secrets, folder: Path) -> list[Figure]:
    """What is found in honest work, for each file of it that is there."""
    figures = []
    for file, labels in HONEST.items():
        if (folder / file).is_file():
            own = [row for row in rows(folder, file) if not labels or row.label in labels]
            judged = [_judged(guard, row) for row in each(own)]
            name = f"honest work, {file}: found"
            figures.append(
                counted(
                    name,
                    judged,
                    _found,
                    lambda one: one.row.family,
                    target="few",
                    missed=_line,
                    alarm=True,
                )
            )
    return figures
