"""The burn-down of a run's budgets as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.cli.printing import table
from stanchion.cli.terminal import Terminal
from stanchion.views.amounts import amount
from stanchion.views.runs import BurnView, RunDetailView
from stanchion.views.times import span

LEVELS: Final = " ▁▂▃▄▅▆▇█"
BURN: Final = "over time"
SHORT: Final = 0.2
"""The share left from which on a budget is near its end."""


def burn_lines(run: RunDetailView, terminal: Terminal, bars: bool) -> Iterator[str]:
    """A line for each budget: its limit, what is left, and what was left after each part of the
    run. `bars` draws that as well."""
    if not run.budgets:
        return
    yield ""
    known = [one for one in run.budgets if one.limit is not None]
    after = f"% {{}} after each tenth of {span(run.lasted_ms)}"
    if known:
        yield terminal.paint("budgets", "bold")
        asked = any(one.now is not None for one in known)
        columns = [
            "budget",
            "per",
            "limit",
            *[BURN] * bars,
            "left",
            *["now"] * asked,
            after.format("left"),
        ]
        rows = [_row(one, asked, bars) for one in known]
    else:
        yield f"{terminal.paint('spent', 'bold')}; the limits are not known, because {_why(run)}"
        columns = ["used", *[BURN] * bars, after.format("of that")]
        rows = [_used(one, bars) for one in run.budgets]
    styles = [{"left": _style(one)} for one in known]
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 2)
    yield from (f"  {line}" for line in table(columns, rows, ("left", "now", "used"), room, styles))


def _why(run: RunDetailView) -> str:
    return (
        "its policy has changed since, or was not only the file"
        if run.source
        else "the policy was handed in as data"
    )


def _row(one: BurnView, asked: bool, bars: bool) -> list[str]:
    assert one.limit is not None
    last = one.used[-1]
    window = "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"
    shares = [None if used is None else _share(one.limit - used, one.limit) for used in one.used]
    row = [
        one.budget,
        one.per,
        f"{amount(one.measure, one.limit)}{window}",
        *([_bar(shares)] if bars else []),
    ]
    row.append("-" if last is None else _left(one.measure, one.limit, last))
    if asked:
        row.append("-" if one.now is None else _left(one.measure, one.limit, one.now))
    return [*row, _percents(shares)]


def _used(one: BurnView, bars: bool) -> list[str]:
    last = one.used[-1]
    assert last is not None
    shares = [None if used is None else _share(used, last) for used in one.used]
    return [amount(one.measure, last), *([_bar(shares)] if bars else []), _percents(shares)]


def _left(measure: str, limit: int, used: int) -> str:
    return (
        amount(measure, limit - used) if used <= limit else f"{amount(measure, used - limit)} over"
    )


def _share(part: int, whole: int) -> float:
    return max(0.0, min(1.0, part / whole)) if whole else 0.0


def _percents(shares: list[float | None]) -> str:
    return " ".join(f"{'-' if share is None else int(share * 100):>3}" for share in shares)


def _bar(shares: list[float | None]) -> str:
    """A column for each part; something is left as long as one can see it."""
    top = len(LEVELS) - 1
    return "".join("·" if share is None else LEVELS[-int(-share * top // 1)] for share in shares)


def _style(one: BurnView) -> str:
    last = one.used[-1]
    if last is None or one.limit is None:
        return "dim"
    share = _share(one.limit - last, one.limit)
    return "good" if share > SHORT else "mild" if share > 0 else "bad"
