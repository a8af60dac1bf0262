"""Rows that nobody has seen beside those that everybody has: the same measure on what seeds
draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from stanchion_lab.fresh import write
from stanchion_lab.measuring.figure import Beside, Family, Figure, Report

Measure = Callable[[Path], Report]


def beside(what: str, measure: Measure, folder: Path | None, seeds: tuple[int, ...]) -> Report:
    """Measure what each seed draws, beside the rows of a folder where there is one."""
    drawn = [(seed, _drawn(what, measure, seed)) for seed in seeds]
    rows = measure(folder) if folder is not None else None
    names = [figure.name for figure in drawn[0][1].figures if figure.of]
    by_seed = [(seed, {figure.name: figure for figure in report.figures}) for seed, report in drawn]
    known = {figure.name: figure for figure in rows.figures} if rows is not None else {}
    table = [
        Beside(
            name,
            known.get(name),
            tuple([(seed, found[name]) for seed, found in by_seed if name in found]),
        )
        for name in names
    ]
    said = (
        f"fresh rows are drawn by the seeds {', '.join(map(str, seeds))}: the same seed draws "
        f"the same rows"
    )
    first = drawn[0][1] if rows is None else rows
    pooled = [_pooled(one) for one in table]
    return replace(
        first,
        figures=(*(rows.figures if rows is not None else ()), *pooled),
        notes=(*first.notes, said),
        beside=tuple(table),
    )


def _drawn(what: str, measure: Measure, seed: int) -> Report:
    with TemporaryDirectory() as folder:
        write(what, seed, Path(folder))
        return measure(Path(folder))


def _pooled(one: Beside) -> Figure:
    """The figure over all seeds, by family."""
    figures = [figure for _, figure in one.seeds]
    names = sorted({family.name for figure in figures for family in figure.families})
    families = tuple([_joined(name, figures) for name in names])
    misses = tuple([miss for figure in figures for miss in figure.misses])
    hits, of = sum([figure.hits for figure in figures]), sum([figure.of for figure in figures])
    return Figure(
        f"fresh: {one.name}", hits, of, figures[0].target, misses, families, figures[0].aim
    )


def _joined(name: str, figures: list[Figure]) -> Family:
    found = [family for figure in figures for family in figure.families if family.name == name]
    return Family(name, sum([one.hits for one in found]), sum([one.of for one in found]))
