"""One run as people read it: who and when, what was decided, what has no outcome, and what it
produced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from stanchion.cli.record_line import ACTION, NUMBER, told
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.verdict import row, style_of
from stanchion.kernel.actions import NAMES, Action
from stanchion.views.records import RecordView
from stanchion.views.runs import RunDetailView
from stanchion.views.times import clock, shown, span

PRODUCED: Final = 5
"""How much of what a run produced is shown, newest last."""
LONGEST: Final = 200
"""How much of one thing it produced is shown."""

STYLES: Final = {
    "open": "good",
    "idle": "",
    "ended": "",
    "halted": "bad",
    "cancelled": "mild",
    "lost": "asks",
}


def run_lines(
    run: RunDetailView, terminal: Terminal, digits: int, budgets: Iterable[str] = ()
) -> Iterator[str]:
    """A run in full; `digits` are as many as tell chains apart, `budgets` the lines that tell of
    its budgets."""
    style = STYLES[run.state]
    state = terminal.paint(run.state, style) if style else run.state
    yield f"{terminal.paint(visible(run.id), 'bold')}  {state}"
    yield ""
    ended = "" if run.ended_ms is None else f", ended {shown(run.ended_ms)}"
    policy = f"{run.source if run.source else '(handed in as data)'}, hash {run.policy[:12]}"
    rows = [
        ("agent", f"{run.agent}{f' ({run.role})' if run.role else ''}"),
        ("task", run.task),
        ("tenant", run.tenant if run.tenant != "default" else ""),
        ("parents", ", ".join(run.parents)),
        ("began", f"{shown(run.began_ms)}{ended}, {span(run.lasted_ms)}"),
        ("why", f"{run.why} ({run.code})" if run.code else ""),
        ("policy", f"{policy}{f', environment {run.env}' if run.env is not None else ''}"),
        ("flagged", f"by {', '.join(run.flagged)}" if run.flagged else ""),
        ("strikes", ", ".join(f"{count:,} by {guard}" for guard, count in run.strikes.items())),
        (
            "decided",
            ", ".join(f"{number:,} {name}" for name, number in _counts(run.decided)) or "nothing",
        ),
    ]
    for label, words in rows:
        if words:
            yield from row(label, visible(words), terminal)
    yield from budgets
    yield from _unfinished(run, terminal, digits)
    if run.newest:
        yield ""
        yield terminal.paint("last decisions", "bold")
        for record in reversed(run.newest):
            yield _decision(record, terminal, digits)
    yield from _produced(run, terminal)


def _counts(decided: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, decided[name]) for name in NAMES if name in decided]


def _unfinished(run: RunDetailView, terminal: Terminal, digits: int) -> Iterator[str]:
    if not run.unfinished:
        return
    yield ""
    known = "not known yet" if run.state == "open" else "OUTCOME UNKNOWN"
    yield terminal.paint(f"{known}: {run.unfinished:,} started, and its outcome is unknown", "asks")
    for record in reversed(run.open):
        yield _decision(record, terminal, digits)
    if run.unfinished > len(run.open):
        yield f"  … and {run.unfinished - len(run.open):,} before"


def _decision(record: RecordView, terminal: Terminal, digits: int) -> str:
    start = f"  {clock(record.at_ms)}  {record.place(digits):<{digits + NUMBER}}  "
    decision = record.decision
    if decision is None:
        return f"{start}{visible(record.says)}"
    painted = terminal.paint(f"{decision.action:<{ACTION}}", style_of(Action[decision.action]))
    return f"{start}{painted}  {told(decision, True, by=False)}".rstrip()


def _produced(run: RunDetailView, terminal: Terminal) -> Iterator[str]:
    if not run.produced and not run.left_out:
        return
    yield ""
    yield terminal.paint(f"produced, {len(run.produced):,} kept", "bold")
    before = len(run.produced) - PRODUCED + run.left_out
    if before > 0:
        yield f"  … {before:,} more before: `--json` shows all that is kept"
    for one in run.produced[-PRODUCED:]:
        text = one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        yield f"  {visible(text)}"
