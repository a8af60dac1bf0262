"""Every layer of the pack `guardian` is measured beside what its specification states."""

from stanchion_lab.bench.layers import STATED_US, layers
from stanchion_lab.bench.table import Effort


def test_every_stated_latency_has_a_row() -> None:
    section = layers(Effort(2, 3, 1))
    assert [row.name.partition(" (stated")[0] for row in section.rows] == [*STATED_US]
    assert all(row.cost is not None and row.ratio is not None for row in section.rows)
