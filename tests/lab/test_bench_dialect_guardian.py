"""GuardianLayer's words are measured beside Stanchion's own, in memory and in SQLite."""

from stanchion_lab.bench.sections import sections, titles
from stanchion_lab.bench.table import Effort


def test_each_has_a_row_and_its_ratio() -> None:
    assert titles("dialect guardian") == ["dialect guardian"]
    (section,) = sections(Effort(1, 2, 1), "dialect guardian")
    names = [row.name for row in section.rows]
    assert names == [
        f"{what}, {store}: {whose}"
        for store in ("memory", "SQLite")
        for what in ("check", "check and report")
        for whose in ("Shield", "GuardianLayer")
    ]
    assert [row.ratio is not None for row in section.rows] == [False, True] * 4
