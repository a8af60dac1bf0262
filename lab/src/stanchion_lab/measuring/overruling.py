"""Rows whose public label the severity table overrules: each with its reason, counted apart and
listed one by one.

Public lists contradict each other: `git stash` is dangerous in one and everyday in another. What
Stanchion holds dangerous follows from what is lost, as the severity table has it; where that says
otherwise than a label, the row counts for neither side.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final, Literal, Protocol, TypeVar

import msgspec

from stanchion import typed
from stanchion_lab.measuring.figure import Figure
from stanchion_lab.measuring.rows import Row

FILE: Final = "overruled.yaml"


class Overruled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row by its id, the label that it is taken out of, what the table says instead, and why."""

    id: str
    label: str
    table: Literal["goes ahead", "told", "asked", "refused"]
    reason: str


class JudgedRow(Protocol):
    """Something that was judged: it knows its row, and whether anything was said and whether it was
    stopped."""

    @property
    def row(self) -> Row: ...

    @property
    def found(self) -> bool: ...

    @property
    def stopped(self) -> bool: ...


T = TypeVar("T", bound=JudgedRow)


@cache
def overruled() -> dict[str, Overruled]:
    """All rows that are overruled, by id."""
    text = files("stanchion_lab.measuring").joinpath(FILE).read_bytes()
    every = typed.convert(msgspec.yaml.decode(text), list[Overruled])
    found = {one.id: one for one in every}
    if len(found) != len(every):
        raise ValueError(f"`{FILE}` names a row twice")
    return found


def is_overruled(row: Row) -> bool:
    """Whether the table says otherwise than a row's label."""
    entry = overruled().get(row.id)
    return entry is not None and entry.label == row.label


def apart(
    judged: Iterable[T], known: dict[str, Overruled] | None = None
) -> tuple[list[T], tuple[Figure, ...]]:
    """What counts, and a figure of what does not: how many overruled rows are judged as the table
    says."""
    table = overruled() if known is None else known
    counts: list[T] = []
    right = of = 0
    listed: list[str] = []
    for one in judged:
        entry = table.get(one.row.id)
        if entry is None or entry.label != one.row.label:
            counts.append(one)
            continue
        of += 1
        right += agrees(one, entry)
        said = "stopped" if one.stopped else "told" if one.found else "goes ahead"
        listed.append(
            f"{entry.id} (labelled {entry.label}; by the table {entry.table}; {said}): "
            f"{entry.reason}"
        )
    figure = Figure(
        "labels overruled by the severity table: judged as it says",
        right,
        of,
        "",
        tuple(listed),
        aim="more",
    )
    return counts, (figure,) if of else ()


def agrees(one: JudgedRow, entry: Overruled) -> bool:
    """Whether a row was judged as the table says."""
    match entry.table:
        case "goes ahead":
            return not one.found
        case "told":
            return one.found and not one.stopped
        case "asked" | "refused":
            return one.stopped
