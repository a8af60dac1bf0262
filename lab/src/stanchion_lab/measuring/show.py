"""Showing a report: a table of its figures, and beneath it what was missed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanchion_lab.measuring.figure import Beside, Family, Figure, Report

Cells = tuple[str, str, str, str, str]


def lines(report: Report, misses: int) -> Iterator[str]:
    """The report for people, with at most so many misses of each figure."""
    yield report.title
    table = [
        ("", "rows", "share", "95 % interval", "target"),
        *[row for figure in report.figures for row in _rows(figure)],
    ]
    widths = [max(len(row[at]) for row in table) for at in range(5)]
    for name, of, share, interval, target in table:
        cells = (
            name.ljust(widths[0]),
            of.rjust(widths[1]),
            share.rjust(widths[2]),
            interval.rjust(widths[3]),
            target,
        )
        yield f"  {'  '.join(cells)}".rstrip()
    for note in report.notes:
        yield f"  {note}"
    if report.beside:
        yield from _beside(report.beside)
    for figure in report.figures if report.listed else ():
        yield from _missed(figure, misses)


def plain(report: Report) -> dict[str, Any]:
    """The report as data, all misses included."""
    figures = [
        {
            **_counts(figure),
            "target": figure.target,
            "misses": list(figure.misses),
            "mean": _mean(figure),
            "families": [_counts(family) for family in figure.families],
        }
        for figure in report.figures
    ]
    shown = {"title": report.title, "figures": figures, "notes": list(report.notes)}
    return {**shown, "beside": [_seeds(one) for one in report.beside]} if report.beside else shown


def _counts(one: Figure | Family) -> dict[str, Any]:
    low, high = one.interval
    shares = {"share": round(one.share, 6), "low": round(low, 6), "high": round(high, 6)}
    return {"name": one.name, "hits": one.hits, "of": one.of, **shares}


def _mean(figure: Figure) -> dict[str, Any] | None:
    if figure.mean is None:
        return None
    share, (low, high), families = figure.mean
    return {
        "share": round(share, 6),
        "low": round(low, 6),
        "high": round(high, 6),
        "families": families,
    }


def _rows(figure: Figure) -> Iterator[Cells]:
    """A figure over all its rows; beneath it the mean over its families, and each of them."""
    yield _cells(figure, figure.name, figure.target)
    if figure.mean is None:
        return
    share, (low, high), families = figure.mean
    yield (f"  mean over {families} families", "", f"{share:.1%}", f"{low:.1%} to {high:.1%}", "")
    for family in figure.families:
        yield _cells(family, f"    {family.name}", "")


def _cells(one: Figure | Family, name: str, target: str) -> Cells:
    low, high = one.interval
    if not one.of:
        return (name, "0/0", "", "", target)
    return (name, f"{one.hits}/{one.of}", f"{one.share:.1%}", f"{low:.1%} to {high:.1%}", target)


def _beside(beside: tuple[Beside, ...]) -> Iterator[str]:
    """A table of shares: on rows, on what each seed draws, and how many points these are apart."""
    seeds = [seed for seed, _ in beside[0].seeds]
    table = [
        ("", "rows", *[f"seed {seed}" for seed in seeds], "points apart"),
        *[_shares(one) for one in beside],
    ]
    widths = [max([len(row[at]) for row in table]) for at in range(len(table[0]))]
    yield ""
    yield "Fresh rows beside the others:"
    for name, *cells in table:
        shown = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield f"  {'  '.join([name.ljust(widths[0]), *shown])}".rstrip()


def _shares(one: Beside) -> tuple[str, ...]:
    rows = f"{one.rows.share:.1%}" if one.rows is not None and one.rows.of else ""
    apart = f"{100 * one.apart:+.1f}" if one.apart is not None else ""
    return (one.name, rows, *[f"{figure.share:.1%}" for _, figure in one.seeds], apart)


def _seeds(one: Beside) -> dict[str, Any]:
    apart = None if one.apart is None else round(one.apart, 6)
    rows = None if one.rows is None else _counts(one.rows)
    return {
        "name": one.name,
        "rows": rows,
        "seeds": {str(s): _counts(f) for s, f in one.seeds},
        "apart": apart,
    }


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
