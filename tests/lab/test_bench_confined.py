"""The section of the bench about confined commands measures what it names."""

import shutil

from stanchion_lab.bench.confined import BARE, confined
from stanchion_lab.bench.sections import titles
from stanchion_lab.bench.table import Effort


def test_commands_are_measured_beside_bare_programs() -> None:
    section = confined(Effort(1, 1, 1))
    assert titles("confined") == [section.title]
    names = [row.name for row in section.rows]
    for name, words in BARE.items():
        assert (f"{name}, after a pause" in names) is (shutil.which(words[0]) is not None)
    assert "namespaces, after a pause" in names
    assert "namespaces, in a row" in names
    assert all(row.cost is not None and row.cost.p50_us > 0 for row in section.rows)
    assert "times unshare" in section.note
