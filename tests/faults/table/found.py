"""What was found, as it is kept beside the tests: a line for each stage of a fault and each
outcome, with its packs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from tests.faults.table.cells import PACKS, Cell, Outcome

FILE: Final = Path(__file__).with_name("found.jsonl")


class Line(msgspec.Struct, frozen=True):
    """The packs under which a fault at a stage has the same outcome."""

    group: str
    fault: str
    stage: str
    packs: tuple[str, ...]
    outcome: Outcome


def lines(found: Mapping[Cell, Outcome], group_of: Mapping[str, str]) -> list[Line]:
    """All that was found, in the order of the cells."""
    made: list[Line] = []
    for fault, stage in dict.fromkeys((cell.fault, cell.stage) for cell in found):
        alike: dict[Outcome, list[str]] = {}
        for pack in PACKS:
            cell = Cell(fault, stage, pack)
            if cell in found:
                alike.setdefault(found[cell], []).append(pack)
        made += [
            Line(group_of[fault], fault, stage, tuple(packs), outcome)
            for outcome, packs in alike.items()
        ]
    return made


def kept() -> dict[Cell, Outcome]:
    """What is kept, by cell."""
    return {
        Cell(line.fault, line.stage, pack): line.outcome for line in _read() for pack in line.packs
    }


def groups() -> dict[str, list[str]]:
    """The faults that are kept, in their groups."""
    found: dict[str, list[str]] = {}
    for line in _read():
        of = found.setdefault(line.group, [])
        if line.fault not in of:
            of.append(line.fault)
    return found


def keep(found: Mapping[Cell, Outcome], group_of: Mapping[str, str]) -> None:
    """Keep what was found in place of what is kept."""
    FILE.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines(found, group_of)))


def _read() -> list[Line]:
    return [msgspec.json.decode(line, type=Line) for line in FILE.read_bytes().splitlines()]
