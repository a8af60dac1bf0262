"""Records in one line each, and a run in full: who and when, what was decided, and how its budgets
were used up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.cli.printing import labelled, shortened, style_of, table
from stanchion.cli.terminal import Terminal, visible
from stanchion.kernel.actions import NAMES, Action
from stanchion.ops.views.amounts import amount, clock, day, in_json, shown, span
from stanchion.ops.views.records import DecisionView, RecordView
from stanchion.ops.views.runs import BurnView, RunDetailView

NUMBER: Final = 7
ACTION: Final = 10
STAGE: Final = 11
ABOUT: Final = 16
ROOMY: Final = 110
"""From this width on what a decision was about stands in columns."""


class Lines:
    """Records as lines, one after the other. On a terminal a day is told once, and every line fits
    the width."""

    def __init__(self, terminal: Terminal, digits: int) -> None:
        self._terminal = terminal
        self._digits = digits
        self._roomy = terminal.width is None or terminal.width >= ROOMY
        self._day = ""

    def of(self, record: RecordView) -> list[str]:
        """The lines that show a record."""
        lines = []
        at = record.at_ms
        if self._terminal.width is None:
            time = shown(at)
        else:
            time = clock(at)
            if day(at) != self._day:
                self._day = day(at)
                lines.append(self._terminal.paint(self._day, "bold"))
        start = f"{time}  {record.place(self._digits):<{self._digits + NUMBER}}  "
        decision = record.decision
        if decision is not None:
            painted = self._terminal.paint(
                f"{decision.action:<{ACTION}}", style_of(Action[decision.action])
            )
            about = self._cut(f"  {told(decision, self._roomy)}", len(start) + ACTION)
            return [*lines, f"{start}{painted}{about}".rstrip()]
        rest = self._cut(f"{visible(record.kind):<{ACTION}}  {visible(record.says)}", len(start))
        return [*lines, self._terminal.paint(f"{start}{rest}".rstrip(), "dim")]

    def _cut(self, text: str, before: int) -> str:
        width = self._terminal.width
        if width is None or before + len(text) <= width:
            return text
        return f"{text[: max(0, width - before - 1)]}…"


def told(decision: DecisionView, roomy: bool, by: bool = True) -> str:
    """What a decision was about, which guard determined it and why, and who was at work; in columns
    where there is room."""
    about = decision.about
    if roomy:
        event = f"{decision.stage:<{STAGE}}  {about:<{ABOUT}}"
    else:
        event = f"{decision.stage} {about}" if about else decision.stage
    who = f"by {decision.agent}" if by and decision.agent else ""
    words = [event, decision.does, decision.reason, who, decision.why]
    return visible("  ".join(word for word in words if word))


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


def run_lines(digits: int, run: RunDetailView, terminal: Terminal) -> Iterator[str]:
    """A run in full; `digits` are as many as tell chains apart."""
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
    yield from labelled([(label, visible(words)) for label, words in rows], terminal)
    yield from burn_lines(run, terminal)
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
        text = one if isinstance(one, str) else in_json(one)
        yield f"  {visible(shortened(text, LONGEST))}"


SHORT: Final = 20
"""The percentage left from which on a budget is near its end."""


def burn_lines(run: RunDetailView, terminal: Terminal) -> Iterator[str]:
    """A line for each budget: its limit, what is left, and what was left after each part of the
    run."""
    if not run.budgets:
        return
    yield ""
    known = [one for one in run.budgets if one.limit is not None]
    if known:
        yield terminal.paint("budgets", "bold")
        asked = any(one.now is not None for one in known)
        columns = ["budget", "per", "limit", "left", *["now"] * asked, "% left after"]
        cells = [
            [one.budget, one.per, _limit(one), _left(one, one.used[-1])]
            + [_left(one, one.now)] * asked
            for one in known
        ]
    else:
        why = (
            "its policy has changed since, or was not only the file"
            if run.source
            else "the policy was handed in as data"
        )
        yield f"{terminal.paint('spent', 'bold')}; the limits are not known, because {why}"
        columns = ["used", "% of that after"]
        cells = [[amount(one.measure, one.used[-1] or 0)] for one in run.budgets]
    columns[-1] += f" each tenth of {span(run.lasted_ms)}"
    shares = [[_percent(one, used) for used in one.used] for one in known or run.budgets]
    for line, each in zip(cells, shares, strict=True):
        line.append(" ".join([f"{'-' if share is None else share:>3}" for share in each]))
    styles = [{"left": _style(each[-1])} for each in shares] if known else ()
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 2)
    lines = table(columns, cells, ("left", "now", "used"), room, styles)
    yield from [f"  {each}" for each in lines]


def _limit(one: BurnView) -> str:
    window = "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"
    return f"{amount(one.measure, one.limit or 0)}{window}"


def _left(one: BurnView, used: int | None) -> str:
    if used is None or one.limit is None:
        return "-"
    over = used > one.limit
    return amount(one.measure, abs(one.limit - used)) + (" over" if over else "")


def _percent(one: BurnView, used: int | None) -> int | None:
    """How much of a limit is left; where there is none, how much of all that was used is used."""
    if used is None:
        return None
    whole, part = (one.used[-1], used) if one.limit is None else (one.limit, one.limit - used)
    return int(max(0.0, min(1.0, part / whole)) * 100) if whole else 0


def _style(left: int | None) -> str:
    if left is None:
        return "dim"
    return "good" if left > SHORT else "mild" if left > 0 else "bad"
