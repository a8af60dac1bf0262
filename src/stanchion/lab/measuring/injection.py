"""Measuring the `injection` guard: texts that instruct an agent, everyday texts, and texts that only sound like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.lab.measuring.figure import Figure, Report
from stanchion.lab.measuring.rows import Row, rows
from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

FILE: Final = "injection_text.jsonl"
POLICY: Final[dict[str, Any]] = {"name": "injection", "guards": [{"use": "injection"}]}
HARD: Final = "notinject"
"""The kind of rows that are full of words which attacks use, and are none."""

NOTES: Final = (
    "every text is judged as what a tool brought; those of the `direct` channel also as words of the user, which must",
    "never be stopped. Flagged: warned about, redacted or stopped. `attack_goal_text` rows are bare goals, without the",
    "words around them by which attacks are known.",
)


class Judged(msgspec.Struct, frozen=True):
    """A row, and what was done about it as a result, and as words of the user where it is of that channel."""

    row: Row
    read: Action
    said: Action = Action.ALLOW
    code: str = ""

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = " ".join(str(self.row.payload).split())
        shown = text if len(text) <= 100 else f"{text[:97]} …"
        done = self.code if self.code else "not flagged"
        return f"{self.row.id} ({self.row.kind}): {done}: {shown}"


def measure(folder: Path, source: dict[str, Any] | None = None) -> Report:
    """Judge every text of `injection_text.jsonl` by the `injection` guard alone, or by another policy."""
    shield = Shield(load_policy(POLICY if source is None else source), safe_mode=False)
    judged = [_judged(shield.run(task=row.id, tenant=row.id), row) for row in rows(folder, FILE)]
    attacks = [one for one in judged if one.row.label == "attack"]
    benign = [one for one in judged if one.row.label == "benign"]
    hard = [one for one in benign if one.row.kind == HARD]
    direct = [one for one in benign if _is_direct(one.row)]
    return Report(
        "Injection: texts that instruct an agent",
        (
            _figure("attacks flagged", attacks, _flagged, "most", _unflagged),
            *_apart(attacks),
            *_by_kind(attacks),
            _figure("everyday texts flagged", benign, _flagged, "few", _flagged),
            *_apart(benign),
            *_by_kind(benign),
            _figure("everyday texts stopped", benign, _stopped, "0", _stopped),
            _figure("NotInject stopped", hard, _stopped, "0", _stopped),
            _figure("user's words stopped", direct, lambda one: not _goes_on(one.said), "0"),
            _figure("bare goals flagged", [one for one in judged if one.row.label == "attack_goal_text"], _flagged),
        ),
        NOTES,
    )


def _judged(run: Run, row: Row) -> Judged:
    text = str(row.payload)
    read = run.result("read", {}, text)
    said = run.prompt(text).action if _is_direct(row) else Action.ALLOW
    return Judged(row, read.action, said, read.code)


def _is_direct(row: Row) -> bool:
    return row.rest.get("channel") == "direct"


def _goes_on(action: Action) -> bool:
    return action <= PROCEEDS


def _flagged(one: Judged) -> bool:
    return one.read > Action.ALLOW


def _unflagged(one: Judged) -> bool:
    return not _flagged(one)


def _stopped(one: Judged) -> bool:
    return not _goes_on(one.read)


def _apart(judged: list[Judged]) -> list[Figure]:
    warned = _figure("  warned", judged, lambda one: one.read is Action.WARN)
    return [
        warned,
        _figure("  redacted", judged, lambda one: one.read is Action.REDACT),
        _figure("  stopped", judged, _stopped),
    ]


def _by_kind(judged: list[Judged]) -> list[Figure]:
    kinds = list(dict.fromkeys([one.row.kind for one in judged]))
    return [_figure(f"  {kind}", [one for one in judged if one.row.kind == kind], _flagged) for kind in kinds]


def _figure(
    name: str,
    judged: list[Judged],
    hit: Callable[[Judged], bool],
    target: str = "",
    missed: Callable[[Judged], bool] | None = None,
) -> Figure:
    misses = () if missed is None else tuple([one.line for one in judged if missed(one)])
    return Figure(name, sum([hit(one) for one in judged]), len(judged), target, misses)
