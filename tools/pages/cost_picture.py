"""The picture of what a decision costs: ratios of a bench run that is kept in
`docs/assets/bench.json`."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from stanchion_lab.bench.table import Section
from tools.drawings.svg import EDGE, INK, SOFT, picture, text

PATH = "docs/assets/cost.svg"
FIGURES = Path(__file__).resolve().parents[2] / "docs" / "assets" / "bench.json"

WIDTH, SIDE, WORDS, TOP, ROW = 1080.0, 20.0, 330.0, 66.0, 24.0
FLOOR, COST = "#9aa5b1", "#2b6cb0"
SHOWN = ("calls up to 80 characters", "all calls", "call and result")
"""How the rows begin that are drawn."""


class Bar(NamedTuple):
    """A bar: what was measured, how many times the floor that is, and whether it is the floor
    itself."""

    name: str
    times: float
    floor: bool


def render() -> str:
    """The picture as SVG."""
    return drawn(bars(msgspec.json.decode(FIGURES.read_bytes(), type=list[Section])))


def bars(sections: Sequence[Section]) -> list[list[Bar]]:
    """The rows that are drawn, in groups, each with its floor first."""
    groups: list[list[Bar]] = []
    for row in [row for section in sections for row in section.rows]:
        if row.ratio is None:
            groups.append([Bar(row.name, 1.0, True)])
        elif row.name.startswith(SHOWN) and groups:
            groups[-1].append(Bar(row.name, row.ratio, False))
    found = [group for group in groups if len(group) > 1]
    if not found:
        raise ValueError(
            f"`{FIGURES.name}` has no figures to draw: make it with `make bench-chart`"
        )
    return found


def drawn(groups: Sequence[Sequence[Bar]]) -> str:
    """The bars of each group below its floor, all to one scale."""
    most = max(bar.times for group in groups for bar in group)
    scale = (WIDTH - 2 * SIDE - WORDS - 60) / most
    pieces = [
        text(SIDE, 26, "What a decision costs", 16, INK, bold=True),
        text(
            SIDE, 44, "Medians of single calls, as multiples of the grey bar above them.", 11, SOFT
        ),
    ]
    y = TOP
    for group in groups:
        for bar in group:
            width = max(bar.times * scale, 2)
            fill, weight = (FLOOR, False) if bar.floor else (COST, True)
            pieces.append(text(SIDE, y + 14, bar.name, 11, SOFT))
            place = f'x="{SIDE + WORDS:g}" y="{y + 3:g}" width="{width:.1f}" height="{ROW - 8:g}"'
            pieces.append(f'<rect {place} rx="3" fill="{fill}"/>')
            pieces.append(
                text(SIDE + WORDS + width + 8, y + 15, f"{bar.times:.3g}", 11, INK, bold=weight)
            )
            y += ROW
        y += 14
        pieces.append(
            f'<path d="M{SIDE:g},{y - 7:g} H{WIDTH - SIDE:g}" stroke="{EDGE}" stroke-width="0.5"/>'
        )
    return picture(
        WIDTH, y, "What a decision costs, as multiples of the same checks written by hand", pieces
    )
