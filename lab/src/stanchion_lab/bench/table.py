"""Tables of figures: sections of rows that ran side by side, and how they are printed."""

from __future__ import annotations

import sys

import msgspec

from stanchion_lab.bench.measure import Cost


class Row(msgspec.Struct, frozen=True):
    """One line of the table: what a call costs, or an amount of something else. `ratio` is to the
    row it is measured against; `cpu_us` is the mean of what a call takes of the processor, in all
    threads, and `cpu_ratio` to that row."""

    name: str
    cost: Cost | None = None
    ratio: float | None = None
    amount: float | None = None
    unit: str = ""
    cpu_us: float | None = None
    cpu_ratio: float | None = None


class Section(msgspec.Struct, frozen=True):
    """Rows under a heading, with what they mean."""

    title: str
    note: str
    rows: list[Row]


class Effort(msgspec.Struct, frozen=True):
    """How long to measure: rounds of calls, and how many decisions make a long history."""

    rounds: int
    calls: int
    history: int


def rows_of(costs: dict[str, Cost], against: str | None = None) -> list[Row]:
    """A row for each contender, with the ratio of its median to that of one of them."""
    base = costs[against].p50_us if against is not None else None
    return [
        Row(name, cost, None if base is None or name == against else round(cost.p50_us / base, 2))
        for name, cost in costs.items()
    ]


def show(section: Section) -> None:
    """Print one section as a table."""
    print(f"\n{section.title}: {section.note}")
    width = max(len(row.name) for row in section.rows)
    if any(row.cost is not None for row in section.rows):
        cpu = (
            f"  {'CPU':>9}  {'ratio':>6}"
            if any(row.cpu_us is not None for row in section.rows)
            else ""
        )
        print(f"  {'':{width}}  {'p50':>9}  {'p99':>9}  {'ratio':>6}{cpu}")
    for row in section.rows:
        ratio, cpu_ratio = [
            "" if one is None else f"{one:.2f}" for one in (row.ratio, row.cpu_ratio)
        ]
        if row.cost is not None:
            cpu = "" if row.cpu_us is None else f"  {row.cpu_us:9.1f}  {cpu_ratio:>6}"
            print(
                f"  {row.name:{width}}  {row.cost.p50_us:9.1f}  {row.cost.p99_us:9.1f}  "
                f"{ratio:>6}{cpu}"
            )
        else:
            print(f"  {row.name:{width}}  {f'{row.amount:,.0f} {row.unit}':>20}  {ratio:>6}")
    sys.stdout.flush()
