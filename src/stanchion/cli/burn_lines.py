"""The burn-down of a run's budgets as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.audit.runs import RunStory
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal
from stanchion.cli.times import span
from stanchion.guards.budget import phrase, shown
from stanchion.kernel.units import Unit
from stanchion.lab.burn_down import Burned, ends

LEVELS: Final = " ▁▂▃▄▅▆▇█"
BURN: Final = "over time"
SHORT: Final = 0.2
"""The share left from which on a budget is near its end."""

Totals = dict[str, int]
"""What the store has of counters now."""


def burn_lines(burned: list[Burned], story: RunStory, now: Totals, terminal: Terminal, bars: bool) -> Iterator[str]:
    """A line for each budget: its limit, what is left, and what was left after each part of the run. `bars` draws that
    as well."""
    if not burned:
        return
    yield ""
    known = [one for one in burned if one.limit is not None]
    after = f"% {{}} after each tenth of {span(story.lasted_ms)}"
    if known:
        yield terminal.paint("budgets", "bold")
        columns = ["budget", "per", "limit", *[BURN] * bars, "left", *["now"] * bool(now), after.format("left")]
        rows = [_row(one, now, bars) for one in known]
    else:
        yield f"{terminal.paint('spent', 'bold')}; the limits are not known, because {_why(story)}"
        columns = ["used", *[BURN] * bars, after.format("of that")]
        rows = [_used(one, bars) for one in burned]
    styles = [{"left": _style(one)} for one in known]
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 2)
    yield from (f"  {line}" for line in table(columns, rows, ("left", "now", "used"), room, styles))


def burn_data(burned: list[Burned], story: RunStory, now: Totals) -> dict[str, Any]:
    """The same for programs."""
    budgets = [
        {
            "budget": one.budget,
            "per": one.per,
            "measure": one.measure.name.lower(),
            "limit": one.limit,
            "window_s": one.window_s,
            "used": one.used,
            "now": now.get(one.key),
        }
        for one in burned
    ]
    return {"budgets": budgets, "tenths_ms": ends(story) if burned else ()}


def _why(story: RunStory) -> str:
    return (
        "its policy has changed since, or is not its file alone" if story.source else "the policy was handed in as data"
    )


def _row(one: Burned, now: Totals, bars: bool) -> list[str]:
    assert one.limit is not None
    last = one.used[-1]
    window = "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"
    shares = [None if used is None else _share(one.limit - used, one.limit) for used in one.used]
    row = [one.budget, one.per, f"{phrase(one.measure, one.limit)}{window}", *([_bar(shares)] if bars else [])]
    row.append("-" if last is None else _left(one.measure, one.limit, last))
    if now:
        row.append(_left(one.measure, one.limit, now[one.key]) if one.key in now else "-")
    return [*row, _percents(shares)]


def _used(one: Burned, bars: bool) -> list[str]:
    last = one.used[-1]
    assert last is not None
    shares = [None if used is None else _share(used, last) for used in one.used]
    return [phrase(one.measure, last), *([_bar(shares)] if bars else []), _percents(shares)]


def _left(unit: Unit, limit: int, used: int) -> str:
    return shown(unit, limit - used) if used <= limit else f"{shown(unit, used - limit)} over"


def _share(part: int, whole: int) -> float:
    return max(0.0, min(1.0, part / whole)) if whole else 0.0


def _percents(shares: list[float | None]) -> str:
    return " ".join(f"{'-' if share is None else int(share * 100):>3}" for share in shares)


def _bar(shares: list[float | None]) -> str:
    """A column for each part; something is left as long as one can see it."""
    top = len(LEVELS) - 1
    return "".join("·" if share is None else LEVELS[-int(-share * top // 1)] for share in shares)


def _style(one: Burned) -> str:
    last = one.used[-1]
    if last is None or one.limit is None:
        return "dim"
    share = _share(one.limit - last, one.limit)
    return "good" if share > SHORT else "mild" if share > 0 else "bad"
