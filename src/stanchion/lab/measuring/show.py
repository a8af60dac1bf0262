"""Showing a report: a table of its figures, and beneath it what was missed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanchion.lab.measuring.figure import Figure, Report


def lines(report: Report, misses: int) -> Iterator[str]:
    """The report for people, with at most so many misses of each figure."""
    yield report.title
    table = [("", "rows", "share", "95 % interval", "target"), *map(_cells, report.figures)]
    widths = [max(len(row[at]) for row in table) for at in range(5)]
    for name, of, share, interval, target in table:
        cells = (name.ljust(widths[0]), of.rjust(widths[1]), share.rjust(widths[2]), interval.rjust(widths[3]), target)
        yield f"  {'  '.join(cells)}".rstrip()
    for note in report.notes:
        yield f"  {note}"
    for figure in report.figures:
        yield from _missed(figure, misses)


def plain(report: Report) -> dict[str, Any]:
    """The report as data, all misses included."""
    figures = [
        {
            "name": figure.name,
            "hits": figure.hits,
            "of": figure.of,
            "share": round(figure.share, 6),
            "low": round(figure.interval.low, 6),
            "high": round(figure.interval.high, 6),
            "target": figure.target,
            "misses": list(figure.misses),
        }
        for figure in report.figures
    ]
    return {"title": report.title, "figures": figures, "notes": list(report.notes)}


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    low, high = figure.interval
    if not figure.of:
        return (figure.name, "0/0", "", "", figure.target)
    return (
        figure.name,
        f"{figure.hits}/{figure.of}",
        f"{figure.share:.1%}",
        f"{low:.1%} to {high:.1%}",
        figure.target,
    )


def _missed(figure: Figure, most: int) -> Iterator[str]:
    if not figure.misses or not most:
        return
    left = len(figure.misses) - most
    yield ""
    yield f"{figure.name}, otherwise:"
    for miss in figure.misses[:most]:
        yield f"  {miss}"
    if left > 0:
        yield f"  and {left} more: see them with `--misses {len(figure.misses)}`"
