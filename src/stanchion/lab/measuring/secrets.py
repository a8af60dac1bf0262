"""Measuring the `secrets` guard: how many credentials of each kind it takes out, and how much else."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Final

import msgspec

from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.index import indexed
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.lab.measuring.figure import Figure, Interval, Report, Z
from stanchion.lab.measuring.rows import Row, rows
from stanchion.readings import read

FILE: Final = "secrets.jsonl"
HONEST: Final = {
    "benign_traces.jsonl": (),
    "shell.jsonl": ("benign", "safe_hard_negative"),
    "injection_text.jsonl": ("benign",),
    "sql.jsonl": (),
}
"""Files of honest work, and the labels of their rows that are; all of them where none are named."""

NOTES: Final = (
    "each row is the result of a tool; found: the guard takes something out of it, of whatever kind",
    "a row labelled `rule_negative` is no credential of its one rule: only a finding of that rule, or of its family",
    "where Stanchion has no rule of that name, is a false alarm there; others may be right",
    "honest work may have credentials in it that are some: what was found is listed by kind",
)


class Judged(msgspec.Struct, frozen=True):
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
        return self.row.source.partition("@")[0]

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
    judged = [_judged(guard, row) for row in rows(folder, FILE)]
    secret = [one for one in judged if one.row.label == "secret"]
    others = [one for one in judged if one.row.label in ("not_secret", "rule_negative")]
    shares = kind_shares(secret)
    part = tuple([f"{rule}: {share:.0%} of its rows" for rule, share in sorted(shares.items()) if share < 1])
    mean, (low, high) = macro(list(shares.values()))
    told = f"mean over {len(shares)} kinds: {mean:.1%} (95 % interval {low:.1%} to {high:.1%}), target ≥ 98 %"
    return Report(
        "Secrets: credentials that are taken out",
        (
            Figure("credentials: found", *_counts(secret), "", tuple([one.line for one in secret if not one.kinds])),
            *_by_source(secret),
            Figure("kinds: all rows found", len(shares) - len(part), len(shares), "", part),
            _alarms("no credentials: false alarms", others, "≤ 3 %"),
            *_alarms_by_source(others),
            *_honest(guard, folder),
        ),
        (told, *NOTES),
    )


def kind_shares(judged: list[Judged]) -> dict[str, float]:
    """The share of rows in which something was found, by the rule that they are examples of."""
    by_rule: dict[str, list[bool]] = {}
    for one in judged:
        by_rule.setdefault(one.rule, []).append(bool(one.kinds))
    return {rule: sum(found) / len(found) for rule, found in by_rule.items()}


def macro(shares: list[float]) -> tuple[float, Interval]:
    """The mean of shares, each counted once, and the interval in which it lies with 95 % confidence."""
    if not shares:
        return 0.0, Interval(0.0, 1.0)
    mean = sum(shares) / len(shares)
    spread = sqrt(sum([(share - mean) ** 2 for share in shares]) / max(1, len(shares) - 1) / len(shares))
    return mean, Interval(max(0.0, mean - Z * spread), min(1.0, mean + Z * spread))


def _judged(guard: Secrets, row: Row) -> Judged:
    finding = guard.judge(read(ToolResult(id=row.id, at=0, run=RunInfo("measure"), tool="read", result=row.payload)))
    kinds = [patch.kind for patch in finding.patches] if finding is not None else []
    return Judged(row, tuple(dict.fromkeys(kinds)))


def _counts(judged: list[Judged]) -> tuple[int, int]:
    return sum([bool(one.kinds) for one in judged]), len(judged)


def _by_source(judged: list[Judged]) -> list[Figure]:
    sources = dict.fromkeys([one.source for one in judged])
    return [Figure(f"  {name}", *_counts([one for one in judged if one.source == name])) for name in sources]


def _alarms(name: str, judged: list[Judged], target: str = "") -> Figure:
    wrong = tuple([one.line for one in judged if one.alarm])
    return Figure(name, len(wrong), len(judged), target, wrong)


def _alarms_by_source(judged: list[Judged]) -> list[Figure]:
    figures = []
    for label in dict.fromkeys([one.row.label for one in judged]):
        for name in dict.fromkeys([one.source for one in judged]):
            own = [one for one in judged if one.source == name and one.row.label == label]
            figures += [Figure(f"  {name}, {label}", sum([one.alarm for one in own]), len(own))] if own else []
    return figures


def _honest(guard: Secrets, folder: Path) -> list[Figure]:
    """What is found in honest work, for each file of it that is there."""
    figures = []
    for file, labels in HONEST.items():
        if (folder / file).is_file():
            own = [_judged(guard, row) for row in rows(folder, file) if not labels or row.label in labels]
            found = tuple([one.line for one in own if one.kinds])
            figures.append(Figure(f"honest work, {file}: found", len(found), len(own), "few", found))
    return figures
