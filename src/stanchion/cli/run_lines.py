"""One run as people read it: who and when, what was decided, what has no outcome, and what it produced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from stanchion.audit.gathering import CANCELLED, ENDED, HALTED, LOST, OPEN
from stanchion.audit.runs import RunDetail, RunStory
from stanchion.audit.scanning import Found
from stanchion.cli.record_line import ACTION, NUMBER, UNREADABLE, decision_in, told
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.times import clock, shown, span
from stanchion.cli.trails import place_of
from stanchion.cli.verdict import row, style_of
from stanchion.kernel.actions import NAMES, Action

PRODUCED: Final = 5
"""How much of what a run produced is shown, newest last."""
LONGEST: Final = 200
"""How much of one thing it produced is shown."""

STYLES: Final = {OPEN: "good", ENDED: "", HALTED: "bad", CANCELLED: "mild", LOST: "asks"}


def run_lines(detail: RunDetail, terminal: Terminal, digits: int, budgets: Iterable[str] = ()) -> Iterator[str]:
    """A run in full; `digits` are as many as tell chains apart, `budgets` the lines that tell of its budgets."""
    story, run = detail.story, detail.story.run
    style = STYLES[story.state]
    state = terminal.paint(story.state, style) if style else story.state
    yield f"{terminal.paint(visible(run.id), 'bold')}  {state}"
    yield ""
    ended = "" if story.ended is None else f", ended {shown(story.ended)}"
    policy = f"{story.source if story.source else '(handed in as data)'}, hash {story.policy[:12]}"
    rows = [
        ("agent", f"{run.agent}{f' ({run.role})' if run.role else ''}"),
        ("task", run.task),
        ("tenant", run.tenant if run.tenant != "default" else ""),
        ("parents", ", ".join(run.parents)),
        ("began", f"{shown(story.began)}{ended}, {span(story.lasted_ms)}"),
        ("why", f"{story.why} ({story.code})" if story.code else ""),
        ("policy", f"{policy}{f', environment {story.env}' if story.env is not None else ''}"),
        ("decided", ", ".join(f"{number:,} {name}" for name, number in _counts(story.decided)) or "nothing"),
    ]
    for label, words in rows:
        if words:
            yield from row(label, visible(words), terminal)
    yield from budgets
    yield from _unfinished(detail, terminal, digits)
    if detail.newest:
        yield ""
        yield terminal.paint("last decisions", "bold")
        for found in reversed(detail.newest):
            yield _decision(found, terminal, digits)
    yield from _produced(story, terminal)


def _counts(decided: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, decided[name]) for name in NAMES if name in decided]


def _unfinished(detail: RunDetail, terminal: Terminal, digits: int) -> Iterator[str]:
    if not detail.unfinished_count:
        return
    yield ""
    known = "not known yet" if detail.story.state == OPEN else "OUTCOME UNKNOWN"
    yield terminal.paint(f"{known}: {detail.unfinished_count:,} started, and nothing says what came of it", "asks")
    for found in reversed(detail.unfinished):
        yield _decision(found, terminal, digits)
    if detail.unfinished_count > len(detail.unfinished):
        yield f"  … and {detail.unfinished_count - len(detail.unfinished):,} before"


def _decision(found: Found, terminal: Terminal, digits: int) -> str:
    start = f"  {clock(found.stub.at)}  {place_of(found, digits):<{digits + NUMBER}}  "
    entry = decision_in(found)
    if entry is None:
        return f"{start}{UNREADABLE}"
    painted = terminal.paint(f"{entry.action:<{ACTION}}", style_of(Action[entry.action]))
    return f"{start}{painted}  {told(entry, True, by=False)}".rstrip()


def _produced(story: RunStory, terminal: Terminal) -> Iterator[str]:
    if not story.produced and not story.left_out:
        return
    yield ""
    yield terminal.paint(f"produced, {len(story.produced):,} kept", "bold")
    before = len(story.produced) - PRODUCED + story.left_out
    if before > 0:
        yield f"  … {before:,} before: `--json` has all that is kept"
    for one in story.produced[-PRODUCED:]:
        text = one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        yield f"  {visible(text)}"
